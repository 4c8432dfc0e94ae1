//! A scenario for hours in short: rounds killed, interrupted and left alone in the middle, resumed, and every
//! cycle of the whole rounds counted once.

use crate::started::{Place, Running, Start, loop_cpu, wait_until};
use rustix::process::Signal;
use serde_json::Value;
use std::path::Path;
use wakepath_archive::Run;

wakepath_test_program::tests![
    rounds_that_were_killed_and_interrupted_go_on_and_count_every_cycle_of_the_whole_ones,
    what_rounds_can_not_be_is_refused_in_one_line_and_nothing_is_written,
];

const ROUNDS: u64 = 4;

/// Four rounds of two policies, which take three seconds each.
fn scenario(place: &Place) {
    let text = format!(
        "name = \"test\"\nrate = \"100 Hz\"\ncycles = 60\nwarm-up = \"50 ms\"\n\
         policies = [\"OTHER\", \"OTHER nice 5\"]\ncpu = {}\ncriterion = {{ miss-fraction = \"99.9999 %\" }}\n",
        loop_cpu()
    );
    std::fs::write(place.path().join("scenario.toml"), text).unwrap();
}

/// Waits until this number of rounds is in the history and the next one records.
fn in_the_round_after(running: &Running, directory: &Path, round: u32) {
    let what = format!("the round after {round}");
    wait_until(&what, || {
        let history = directory.join(format!("history-round-{round:06}.log"));
        let next = directory.join(format!("segments/round-{:06}", round + 1));
        let records = Run::open(&next).is_ok_and(|run| {
            let thread = run.manifest.thread(0, 0);
            thread.is_some_and(|thread| thread.recorded > 5)
        });
        assert!(!running.complaints().contains("panicked"));
        history.is_file() && records
    });
}

fn rounds_that_were_killed_and_interrupted_go_on_and_count_every_cycle_of_the_whole_ones() {
    let place = Place::new();
    scenario(&place);
    let words = [
        "run",
        "scenario.toml",
        "--for",
        "12s",
        "--round",
        "3s",
        "--no-tui",
    ];
    let start = Start::command_in(place, &words).with(&["--directory", "rounds"]);
    let running = start.start();
    let directory = running.directory().with_file_name("rounds");
    in_the_round_after(&running, &directory, 1);
    running.kill_all();
    let killed = running.finish();

    let go_on = ["run", "--resume", "--directory", "rounds", "--no-tui"];
    let running = Start::command_in(killed.place, &go_on)
        .in_its_own_group()
        .start();
    in_the_round_after(&running, &directory, 2);
    running.signal_group(Signal::INT);
    let interrupted = running.finish();
    interrupted.assert_code(1);
    let said = interrupted.said();
    assert!(
        said.contains("2 of 4 rounds are measured: resume with wakepath run --resume"),
        "{said}"
    );

    // Killed alone, the command takes its round with it, which ends in order; the next one waits for that.
    let running = Start::command_in(interrupted.place, &go_on).start();
    in_the_round_after(&running, &directory, 3);
    running.signal(Signal::KILL);
    let killed = running.finish();

    let ended = Start::command_in(killed.place, &go_on)
        .with(&["--json"])
        .finish();
    ended.assert_code(0);
    let found = ended.json();
    let service = &found["service"];
    assert_eq!(
        service["rounds"],
        serde_json::json!({"measured": ROUNDS, "of": ROUNDS})
    );
    assert_eq!(service["starts"], 4);
    // All rounds' samples are still there: the summary is computed from them.
    let runs: Vec<Run> = (1..=ROUNDS)
        .map(|round| Run::open(&directory.join(format!("segments/round-{round:06}"))).unwrap())
        .collect();
    for (number, name) in ["OTHER nice 0, idle", "OTHER nice 5, idle"]
        .iter()
        .enumerate()
    {
        let said = &service["loops"][name];
        let mut latencies = Vec::new();
        let mut due = 0;
        for run in &runs {
            let thread = run.manifest.thread(number as u32, 0).unwrap();
            due += thread.expected - thread.first_judged_cycle;
            let samples = run.samples(number as u32, 0).unwrap();
            let judged = samples
                .iter()
                .filter(|of| of.cycle >= thread.first_judged_cycle);
            latencies.extend(judged.map(|sample| sample.latency_ns()));
        }
        let count = |key: &str| said[key].as_u64().unwrap();
        assert_eq!(count("executed"), latencies.len() as u64, "{found:#}");
        assert_eq!((count("due"), count("lost")), (due, 0), "{found:#}");
        assert_eq!(count("executed") + count("skipped"), due);
        assert_eq!(
            said["latency_ns"]["max"].as_i64(),
            latencies.iter().copied().max()
        );
        assert_eq!(
            said["latency_ns"]["min"].as_i64(),
            latencies.iter().copied().min()
        );
        let worst = said["worst"].as_array().unwrap();
        assert_eq!(worst.len(), latencies.len().min(100), "each is kept once");
    }
    // Interrupted rounds are kept separately, and in no count.
    let aside: Vec<_> = std::fs::read_dir(directory.join("cut-short"))
        .unwrap()
        .collect();
    assert_eq!(aside.len(), 3, "{aside:?}");
    let again = Start::command_in(ended.place, &go_on)
        .with(&["--json"])
        .finish();
    assert_eq!(
        again.json()["service"]["loops"],
        found["service"]["loops"],
        "nothing is measured twice"
    );
    let shown = Start::command_in(again.place, &["show", "rounds"]).finish();
    let lines = shown.output.lines().count();
    assert!(
        lines <= 40 && shown.output.starts_with("verdict: PASSED: OTHER nice 0"),
        "{}",
        shown.said()
    );
    let wide = shown.output.lines().find(|line| line.chars().count() > 100);
    assert_eq!(wide, None);
}

fn what_rounds_can_not_be_is_refused_in_one_line_and_nothing_is_written() {
    let place = Place::new();
    scenario(&place);
    std::fs::create_dir(place.path().join("other")).unwrap();
    std::fs::write(place.path().join("other/file"), "mine").unwrap();
    let mut place = Some(place);
    let mut refused = |more: &[&str], parts: &[&str]| {
        let words = [&["run"][..], more].concat();
        let finished = Start::command_in(place.take().unwrap(), &words).finish();
        finished.assert_refused(1, parts);
        let there: Vec<Value> = std::fs::read_dir(finished.place.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap().into())
            .filter(|name: &Value| name != "stdout" && name != "stderr")
            .collect();
        assert_eq!(there.len(), 2, "{there:?}");
        place = Some(finished.place);
    };
    refused(&["scenario.toml", "--for", "10"], &["--for 10 ", "unit"]);
    refused(
        &["scenario.toml", "--for", "1ms"],
        &["--for 1ms: give a second or more"],
    );
    refused(
        &["scenario.toml", "--for", "1s", "--rate", "1Hz"],
        &["--for 1s, rounds of 1 s: ", "give --for 3s or longer"],
    );
    refused(
        &["scenario.toml", "--for", "1h", "--keep", "1KiB"],
        &["--keep 1KiB: give 16 MiB or more"],
    );
    refused(
        &["scenario.toml", "--for", "1h", "--directory", "other"],
        &["other: already contains files"],
    );
    refused(
        &["--resume", "--directory", "other"],
        &["other: no rounds to resume", "--for TIME"],
    );
    refused(&["--resume"], &["no rounds are below wakepath-runs"]);
}
