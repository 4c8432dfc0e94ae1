//! `wakepath schedulability`: a file's answer, its exit codes, and files that can't be answered. The
//! analyses have their tests where they are.

use crate::started::{Finished, Place, Start};
use std::path::{Path, PathBuf};
use std::process::Command;

wakepath_test_program::tests![
    a_published_set_has_its_published_response_times,
    the_answer_comes_first_and_says_what_was_not_put_in,
    what_misses_exits_with_2_and_what_can_t_be_shown_with_3,
    tasks_are_placed_and_the_file_written_holds,
    a_wrong_file_is_one_line_with_its_place,
    what_can_t_be_is_told_from_what_can_t_be_held,
    what_linux_would_stop_is_said,
    sched_deadline_has_three_verdicts_apart,
    reservations_beyond_a_cpu_are_not_admitted,
    a_recorded_run_is_a_task_set_and_says_what_was_guessed,
    what_was_promised_is_carried_out_and_held_against_what_is_observed,
    overheads_of_another_machine_are_refused_unless_said,
    what_caches_lose_is_measured_and_put_into_the_bounds,
];

const BURNS: &str = "\
policy = \"P-FP\"

[[tasks]]
name = \"imu\"
execution = \"3 ms\"
period = \"7 ms\"
priority = 3

[[tasks]]
name = \"control\"
execution = \"3 ms\"
period = \"12 ms\"
priority = 2

[[tasks]]
name = \"log\"
execution = \"5 ms\"
period = \"20 ms\"
priority = 1
";

fn answer(text: &str, more: &[&str]) -> Finished {
    let place = Place::new();
    std::fs::write(place.path().join("tasks.toml"), text).unwrap();
    let words = [&["schedulability", "tasks.toml"], more].concat();
    Start::command_in(place, &words).finish()
}

fn a_published_set_has_its_published_response_times() {
    let finished = answer(BURNS, &["--json"]);
    finished.assert_code(0);
    let found = finished.json();
    let of = |key: &str| -> Vec<&serde_json::Value> {
        found["tasks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|task| &task[key])
            .collect()
    };
    assert_eq!(of("response_ns"), [3_000_000, 6_000_000, 20_000_000]);
    assert_eq!(of("deadline_ns"), [7_000_000, 12_000_000, 20_000_000]);
    assert_eq!(of("schedulable"), [true; 3]);
    assert_eq!(found["outcome"], "schedulable");
    assert_eq!(found["overheads"]["unknown"].as_array().unwrap().len(), 9);
}

fn the_answer_comes_first_and_says_what_was_not_put_in() {
    let finished = answer(BURNS, &[]);
    finished.assert_code(0);
    let first = finished.output.lines().next().unwrap();
    assert!(
        first.starts_with("SCHEDULABLE under P-FP on 1 CPU"),
        "{first}"
    );
    for part in [
        "no overheads are put in",
        "log, the tightest: 20 ms = 5 ms of its own",
    ] {
        assert!(finished.output.contains(part), "{}", finished.output);
    }
}

fn what_misses_exits_with_2_and_what_can_t_be_shown_with_3() {
    let misses = answer(&BURNS.replace("\"5 ms\"", "\"6 ms\""), &[]);
    misses.assert_code(2);
    assert!(
        misses.output.contains("log misses its deadline"),
        "{}",
        misses.output
    );
    let costly = format!("{BURNS}\n[overheads]\nswitch = \"100 us\"\n");
    let open = answer(&costly, &[]);
    open.assert_code(3);
    assert!(open.output.starts_with("NOT PROVABLE"), "{}", open.output);
}

fn tasks_are_placed_and_the_file_written_holds() {
    let text = "policy = \"P-FP\"\ncpus = 2\n[[tasks]]\nname = \"a\"\nexecution = \"6 ms\"\nperiod = \"10 ms\"\n\
                [[tasks]]\nname = \"b\"\nexecution = \"6 ms\"\nperiod = \"10 ms\"\n";
    let placed = answer(text, &["--assign", "worst", "--output", "placed.toml"]);
    placed.assert_code(0);
    let written = std::fs::read_to_string(placed.place.path().join("placed.toml")).unwrap();
    answer(&written, &[]).assert_code(0);
    let full = answer(
        &text.replace("cpus = 2", "cpus = 1"),
        &["--assign", "first"],
    );
    full.assert_code(1);
    assert!(
        full.complaints.contains("fits on no CPU"),
        "{}",
        full.said()
    );
}

fn a_wrong_file_is_one_line_with_its_place() {
    for (from, to, expected) in [
        (
            "priority = 3",
            "priority = 2",
            "tasks.toml:13:12: tasks[1].priority = 2 is the priority of imu too",
        ),
        (
            "\"7 ms\"",
            "\"2 ms\"",
            "tasks.toml:5:13: tasks[0].execution = \"3 ms\" is longer than the deadline",
        ),
        (
            "P-FP",
            "RM",
            "tasks.toml:1:10: policy = \"RM\" is no policy that can be analysed",
        ),
    ] {
        let finished = answer(&BURNS.replacen(from, to, 1), &[]);
        finished.assert_refused(1, &[expected]);
    }
    let missing = answer(BURNS, &["--overheads", "nowhere"]);
    missing.assert_code(1);
    assert!(missing.complaints.contains("nowhere"), "{}", missing.said());
}

fn what_can_t_be_is_told_from_what_can_t_be_held() {
    // More than a CPU has is an answer, not a fault of the file.
    let full = answer(&BURNS.replace("\"12 ms\"", "\"4 ms\""), &[]);
    full.assert_code(2);
    assert!(
        full.output
            .contains("the tasks need more CPU time than there is"),
        "{}",
        full.said()
    );
    let last = "priority = 1\n";
    for (from, to, expected) in [
        (
            last,
            "jitter = \"-1 ms\"\npriority = 1\n",
            "tasks.toml:19:10: tasks[2].jitter = \"-1 ms\" is negative",
        ),
        (
            last,
            "priority = -1\n",
            "tasks.toml:19:12: tasks[2].priority = -1 is less than 1",
        ),
        (
            "\"20 ms\"",
            "\"99999999999999 h\"",
            "tasks.toml:18:10: tasks[2].period = \"99999999999999 h\" is longer than 292 years",
        ),
        (
            "\"20 ms\"",
            "\"0 ms\"",
            "tasks.toml:18:10: tasks[2].period = \"0 ms\"",
        ),
        (
            "period = \"20 ms\"",
            "after = \"log\"",
            "tasks.toml:18:9: tasks[2].after = \"log\"",
        ),
        (
            last,
            "priority = 1\n[[chains]]\nname = \"x\"\ntasks = [\"imu\", \"imu\"]\n",
            "stands in its chain twice",
        ),
        (
            last,
            "priority = 1\ndeadline = \"4 ms\"\n",
            "tasks.toml:17:13: tasks[2].execution = \"5 ms\" is longer than the deadline",
        ),
        (
            "name = \"log\"",
            "name = \"imu\"",
            "tasks.toml:16:8: tasks[2].name = \"imu\" is the name of an earlier task",
        ),
    ] {
        let place = Place::new();
        std::fs::write(place.path().join("tasks.toml"), BURNS.replacen(from, to, 1)).unwrap();
        let words = ["schedulability", "tasks.toml", "--output", "out.toml"];
        let finished = Start::command_in(place, &words).finish();
        finished.assert_code(1);
        assert!(
            finished.complaints.contains(expected),
            "{expected}: {}",
            finished.said()
        );
        assert!(
            finished.complaints.contains("; "),
            "a remedy: {}",
            finished.said()
        );
        assert!(finished.output.is_empty(), "{}", finished.said());
        assert!(
            !finished.place.path().join("out.toml").exists(),
            "{expected}"
        );
    }
    let phase = answer(BURNS, &["--overheads-phase", "idle"]);
    phase.assert_code(1);
    assert!(
        phase.complaints.contains("give one with --overheads"),
        "{}",
        phase.said()
    );
}

fn what_linux_would_stop_is_said() {
    let all = "policy = \"P-FP\"\n[[tasks]]\nname = \"a\"\nexecution = \"10 ms\"\nperiod = \"10 ms\"\npriority = 1\n";
    let finished = answer(all, &[]);
    finished.assert_code(0);
    assert!(
        finished.output.contains("can take 100.0 % of CPU 0"),
        "{}",
        finished.said()
    );
    let unlimited = format!("{all}[admission]\nruntime = \"1 s\"\n");
    let finished = answer(&unlimited, &[]);
    assert!(!finished.output.contains("can take"), "{}", finished.said());
}

fn sched_deadline_has_three_verdicts_apart() {
    // The kernel's documentation: admitted with a utilization of 0.6, and 60 ms due within 50.
    let set = "policy = \"SCHED_DEADLINE\"\n[[tasks]]\nname = \"a\"\nexecution = \"50 ms\"\n\
               deadline = \"50 ms\"\nperiod = \"100 ms\"\n[[tasks]]\nname = \"b\"\n\
               execution = \"10 ms\"\ndeadline = \"50 ms\"\nperiod = \"100 ms\"\n";
    let finished = answer(set, &["--json"]);
    finished.assert_code(2);
    let verdicts = &finished.json()["sched_deadline"];
    assert_eq!(verdicts["admitted"], true);
    assert_eq!(verdicts["proved_hard"], false);
    assert_eq!(verdicts["bounded_tardiness"], true);
    assert_eq!(finished.json()["tasks"][0]["tardiness_ns"], 10_000_000);
    // Proved on two CPUs of a root domain each, and not admitted by a kernel that keeps half.
    let apart = set
        .replacen(
            "[[tasks]]",
            "cpus = 2\ncluster = 1\n[admission]\nruntime = \"400 ms\"\n[[tasks]]",
            1,
        )
        .replacen("name = \"a\"", "name = \"a\"\ncpu = 0", 1)
        .replacen("name = \"b\"", "name = \"b\"\ncpu = 1", 1);
    let finished = answer(&apart, &["--json"]);
    finished.assert_code(2);
    let verdicts = &finished.json()["sched_deadline"];
    assert_eq!(verdicts["admitted"], false);
    assert_eq!(verdicts["proved_hard"], true);
    assert_eq!(verdicts["root_domains"][1]["admitted"], true);
}

fn reservations_beyond_a_cpu_are_not_admitted() {
    let mut set = "policy = \"SCHED_DEADLINE\"\n".to_owned();
    for name in ["a", "b"] {
        set += &format!(
            "[[tasks]]\nname = \"{name}\"\nexecution = \"1 ms\"\nperiod = \"40 ms\"\n\
             priority = 1\nreservation = \"of {name}\"\n[[reservations]]\nname = \"of {name}\"\n\
             budget = \"6 ms\"\nperiod = \"10 ms\"\nserver = \"constant-bandwidth\"\n"
        );
    }
    let finished = answer(&set, &["--json"]);
    finished.assert_code(2);
    let verdicts = &finished.json()["sched_deadline"];
    assert_eq!(verdicts["admitted"], false);
    let bandwidth = verdicts["root_domains"][0]["bandwidth"].as_f64().unwrap();
    assert!((bandwidth - 1.2).abs() < 1e-5, "{bandwidth}");
}

/// A run of another machine than any that tests run on.
fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/format-1")
}

fn a_recorded_run_is_a_task_set_and_says_what_was_guessed() {
    let fixture = fixture();
    let from = fixture.to_str().unwrap();
    let place = Place::new();
    let words = ["schedulability", "--from", from, "--output", "set.toml"];
    let finished = Start::command_in(place, &words).finish();
    finished.assert_code(0);
    for part in [
        "execution 1.211 µs, the largest of 523 observed",
        "loop: FIFO 50, one of 2 policies that the run compared: a guess",
        "loop: the deadline is the period: a guess",
    ] {
        assert!(finished.output.contains(part), "{}", finished.output);
    }
    let written = std::fs::read_to_string(finished.place.path().join("set.toml")).unwrap();
    assert!(written.starts_with("# taken from "), "{written}");
    answer(&written, &[]).assert_code(0);
    let words = [
        "schedulability",
        "--from",
        from,
        "--execution-quantile",
        "0.9999",
    ];
    let few = Start::command_in(Place::new(), &words).finish();
    few.assert_code(1);
    assert!(
        few.complaints.contains("523 cycles are too few"),
        "{}",
        few.said()
    );
}

const PROMISED: &str = "\
name = \"promised\"
cycles = 50
warm-up = \"10 ms\"
policies = [\"OTHER\"]

[criterion]
deadline = \"1 s\"

[[tasks]]
name = \"imu\"
period = \"2 ms\"
work = { kind = \"busy\", time = \"100 us\" }
response-bound = \"99 us\"

[[tasks]]
name = \"log\"
period = \"4 ms\"
response-bound = \"1 h\"
";

fn what_was_promised_is_carried_out_and_held_against_what_is_observed() {
    let text = BURNS.replacen("\"3 ms\"", "\"1 ms\"", 1);
    let words = [
        "--scenario",
        "placed.toml",
        "--units",
        "units",
        "--report",
        "answer.html",
    ];
    let carried = answer(&text, &words);
    carried.assert_code(0);
    let read = |name: &str| std::fs::read_to_string(carried.place.path().join(name)).unwrap();
    let placed = read("placed.toml");
    for line in [
        "response-bound = \"1 ms\"",
        "policy = \"FIFO 3\"",
        "time = \"980 us\"",
    ] {
        assert!(placed.lines().any(|found| found == line), "{placed}");
    }
    assert!(read("units/imu.service.d/wakepath.conf").contains("CPUSchedulingPriority=3"));
    assert!(read("answer.html").contains("log: the window of its worst job"));
    for sum in [
        "imu: 1 ms = 1 ms of its own",
        "control: 4 ms = 3 ms of its own + 1 ms of imu",
    ] {
        assert!(read("answer.html").contains(sum), "{sum}");
    }
    // A bound below the work itself can't hold: it is said first, and the run fails.
    let place = Place::new();
    std::fs::write(place.path().join("promised.toml"), PROMISED).unwrap();
    let run = [
        "run",
        "promised.toml",
        "--directory",
        "run",
        "--no-tui",
        "--json",
    ];
    let finished = Start::command_in(place, &run).finish();
    finished.assert_code(2);
    let found = finished.json();
    let bounds = found["bounds"].as_array().unwrap();
    let contradicted: Vec<_> = bounds.iter().map(|held| &held["contradicted"]).collect();
    assert_eq!(contradicted, [true, false]);
    let remark = found["remarks"][0].as_str().unwrap();
    assert!(
        remark.starts_with("BOUND CONTRADICTED: imu took "),
        "{remark}"
    );
}

/// The fixture's manifest, sealed anew, with a kernel that no machine has, this one least of all.
fn with_no_machines_kernel() -> String {
    const SEAL: &str = ",\n  \"sha256\": \"";
    let manifest = std::fs::read_to_string(fixture().join("manifest.json")).unwrap();
    let (content, _) = manifest.rsplit_once(SEAL).unwrap();
    let parsed: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let release = parsed.pointer("/facts/0/facts/fixed/kernel/release/value");
    let content = content.replace(release.unwrap().as_str().unwrap(), "0.0.1-another");
    let place = Place::new();
    let file = place.path().join("content");
    std::fs::write(&file, &content).unwrap();
    let digest = Command::new("sha256sum").arg(file).output().unwrap().stdout;
    let digest = String::from_utf8(digest).unwrap();
    format!("{content}{SEAL}{}\"\n}}\n", &digest[..64])
}

fn overheads_of_another_machine_are_refused_unless_said() {
    let place = Place::new();
    std::fs::write(place.path().join("promised.toml"), PROMISED).unwrap();
    std::fs::write(place.path().join("tasks.toml"), BURNS).unwrap();
    let run = ["run", "promised.toml", "--directory", "run", "--no-tui"];
    let finished = Start::command_in(place, &run).finish();
    let other = finished.place.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let samples = "samples.parquet";
    std::fs::copy(fixture().join(samples), other.join(samples)).unwrap();
    std::fs::write(other.join("manifest.json"), with_no_machines_kernel()).unwrap();
    let words = ["schedulability", "--from", "other", "--machine", "run"];
    let refused = Start::command_in(finished.place, &words).finish();
    refused.assert_code(1);
    assert!(
        refused
            .complaints
            .contains("was measured on another machine"),
        "{}",
        refused.said()
    );
    let said = [&words[..], &["--other-machine"]].concat();
    let taken = Start::command_in(refused.place, &said).finish();
    taken.assert_code(0);
    assert!(taken.output.contains("machine: "), "{}", taken.output);
}

/// 256 KiB and nothing, under an ordinary policy, so that no right is needed; and half of that beside a thread that
/// touches a line, and so takes nothing away.
const CACHE_DELAY: &str = "\
name = \"caches\"
rate = \"10 Hz\"
duration = \"1 s\"
warm-up = \"200 ms\"
policies = [\"OTHER nice 0\"]

[[phases]]
name = \"nothing\"
work = { kind = \"cache-delay\", bytes = \"0 B\", preempted-by = \"16 MiB\" }

[[phases]]
name = \"256 KiB\"
work = { kind = \"cache-delay\", bytes = \"256 KiB\", preempted-by = \"16 MiB\" }

[[phases]]
name = \"128 KiB, left alone\"
work = { kind = \"cache-delay\", bytes = \"128 KiB\", preempted-by = \"64 B\" }
";

fn what_caches_lose_is_measured_and_put_into_the_bounds() {
    let place = Place::new();
    std::fs::write(place.path().join("caches.toml"), CACHE_DELAY).unwrap();
    let run = place.path().join("caches");
    let measured = Start::command(&["run"])
        .with(&[place.path().join("caches.toml")])
        .with(&["--no-tui", "--directory"])
        .with(&[&run])
        .finish();
    measured.assert_code(0);
    let told = "lost to a preemption, median to largest of ";
    assert!(measured.output.contains(told), "{}", measured.output);
    // How late its threads wake up is nothing that anybody asked for.
    for latency in ["latency, µs", "largest latency"] {
        assert!(!measured.output.contains(latency), "{}", measured.output);
    }
    let details = Start::command(&["show", "--details"])
        .with(&[&run])
        .finish();
    let row = details
        .output
        .lines()
        .find(|line| line.trim_start().starts_with("256 KiB"));
    assert!(row.is_some(), "{}", details.output);
    // What it measures is the caches: a line costs most of its fetching where another thread took it away, and not
    // where it was left.
    let shown = Start::command(&["show", "--json"]).with(&[&run]).finish();
    let per_line = |bytes: u64| {
        let found = shown.json()["cache_delays"].clone();
        let of = found.as_array().unwrap().iter();
        let mut of = of.filter(|one| one["working_set_bytes"] == bytes);
        let median_ns = of.next().unwrap()["preempted"]["median_ns"].as_u64();
        median_ns.unwrap() as f64 / (bytes / 64) as f64
    };
    let (taken_ns, left_ns) = (per_line(256 << 10), per_line(128 << 10));
    assert!(
        left_ns < taken_ns / 2.0,
        "a line costs {taken_ns} ns when it was taken away and {left_ns} ns when it was left"
    );

    let other = "[[tasks]]\nname = \"a\"\nexecution = \"1 ms\"\nperiod = \"10 ms\"\npriority = 2\n";
    let own = "[[tasks]]\nname = \"b\"\nexecution = \"1 ms\"\nperiod = \"20 ms\"\npriority = 1\n";
    let bounded = |working_set: &str| {
        let set = format!("policy = \"P-FP\"\n{other}{own}working-set = \"{working_set}\"\n");
        let place = Place::new();
        std::fs::write(place.path().join("tasks.toml"), set).unwrap();
        let words = [
            "schedulability",
            "tasks.toml",
            "--taken",
            "median",
            "--json",
            "--overheads",
        ];
        let asked = Start::command_in(place, &words).with(&[&run]).finish();
        asked.assert_code(0);
        asked.json()
    };
    // A job of a is charged with what b loses to it: 4096 lines, a nanosecond each at least.
    let (small, large) = (bounded("64 B"), bounded("256 KiB"));
    let response = |of: &serde_json::Value| of["tasks"][0]["response_ns"].as_u64().unwrap();
    assert!(
        response(&large) > response(&small) + 4096,
        "{small} {large}"
    );
    let unknown = large["overheads"]["unknown"].as_array().unwrap();
    assert_eq!(unknown.len(), 8, "{unknown:?}");
    assert!(!unknown.contains(&"cache-related delay".into()));
    let delays = large["overheads"]["cache_delays"].as_array().unwrap();
    assert_eq!(delays.len(), 3, "{delays:?}");
    let note = large["notes"][0].as_str().unwrap();
    assert!(note.starts_with("a: no working-set is given"), "{note}");
    let note = bounded("1 MiB")["notes"][1].as_str().unwrap().to_owned();
    assert!(
        note.starts_with("b: the working set is beyond 256 KiB"),
        "{note}"
    );
    // It was not traced: of a phase it tells nothing.
    std::fs::write(place.path().join("tasks.toml"), BURNS).unwrap();
    let words = [
        "schedulability",
        "tasks.toml",
        "--overheads-phase",
        "nothing",
        "--overheads",
    ];
    let refused = Start::command_in(place, &words).with(&[&run]).finish();
    refused.assert_code(1);
    assert!(
        refused.complaints.contains("holds no overheads"),
        "{}",
        refused.said()
    );
}
