//! `wakepath watch` by the USDT probes of a program in C that notes when it passed them.

use crate::started::{Finished, Place, Start, ask, needs_tracing, not_run};
use std::path::Path;
use std::process::Command;
use wakepath_archive::SegmentTold;

wakepath_test_program::tests![
    cycles_and_sections_of_a_program_in_c_are_those_that_it_noted,
    a_killed_watch_of_probes_leaves_no_uprobe_and_is_recovered_with_its_sections,
    a_probe_that_is_not_there_is_answered_with_those_that_are,
];

/// The kernel's list of uprobes takes no blank.
const PILOT: &str = "./in flight/pilot";
const CYCLE: &str = "pilot:cycle_begin,pilot:cycle_end";
const CYCLES: usize = 700;
/// The kernel's whole tracer, wherever it is mounted.
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// The pilot built in a place.
fn pilot() -> Place {
    let place = Place::new();
    std::fs::create_dir(place.path().join("in flight")).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/system/pilot.c");
    let built = Command::new("cc")
        .args(["-O2", "-o"])
        .arg(place.path().join(PILOT))
        .arg(source)
        .output();
    match built {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(error) => not_run("watching USDT probes", &format!("cc: {error}")),
    }
    place
}

fn watch(more: &[&str]) -> Finished {
    needs_tracing("watching USDT probes");
    let finished = Start::command_in(pilot(), &["watch", "--directory", "run"])
        .with(more)
        .finish();
    finished.skip_unless_probed("watching USDT probes");
    finished
}

/// The kernel's list of uprobes, if this process can see it.
fn uprobes() -> Option<String> {
    let mut lists = PLACES
        .iter()
        .map(|place| Path::new(place).join("uprobe_events"));
    lists.find_map(|list| std::fs::read_to_string(list).ok())
}

/// The list is the whole machine's: it rightly includes uprobes of other watches in progress. Each is named
/// after the process that made it.
fn assert_no_uprobe_of_the_dead() {
    let list = uprobes().unwrap_or_default();
    let ours = list
        .lines()
        .filter_map(|line| line.split_once(":wakepath_"));
    let mut makers = ours.filter_map(|(_, rest)| rest.split('_').next());
    let is_dead = |process: &str| !Path::new("/proc").join(process).exists();
    assert!(!makers.any(is_dead), "{list}");
}

fn cycles_and_sections_of_a_program_in_c_are_those_that_it_noted() {
    let count = CYCLES.to_string();
    let finished = watch(&[
        "--cycle",
        CYCLE,
        "--section",
        "pilot:sensor_begin,pilot:sensor_end",
        "--section",
        "pilot:control_begin,pilot:control_end",
        "--json",
        "--",
        PILOT,
        &count,
        "notes",
    ]);
    finished.assert_code(0);
    let notes = std::fs::read_to_string(finished.place.path().join("notes")).unwrap();
    let noted: Vec<u64> = notes.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(noted.len(), CYCLES);
    // The kernel raised the semaphore of those that ask for it.
    let guarded = format!("{CYCLES} guarded");
    assert!(
        finished.complaints.contains(&guarded),
        "{}",
        finished.said()
    );
    // The program's output is no part of the JSON.
    assert!(finished.complaints.contains("taking off"));
    let json = finished.json();
    let seen = &json["threads"][0];
    assert_eq!(
        (
            &seen["name"],
            &seen["marked"],
            &seen["exact"],
            &seen["period_ns"]
        ),
        (
            &"pilot".into(),
            &true.into(),
            &true.into(),
            &2_000_000.into()
        ),
        "{}",
        finished.said()
    );
    let run = finished.run();
    assert_eq!(run.check().unwrap(), [], "{}", finished.said());
    // By hand: the cycle's wait for its sensor is within it, and so is 150 µs + 200 µs at least.
    let samples = run.samples(0, 0).unwrap();
    assert!(samples.iter().all(|of| of.execution_ns() >= 350_000));
    if json["events_lost"] != 0 {
        not_run("watching USDT probes", "events were lost");
    }
    assert_eq!(samples.len(), CYCLES, "{}", finished.said());
    let told = SegmentTold::read(&finished.directory, 0).unwrap().unwrap();
    let of = &told.threads[&0];
    assert_eq!(of.names, ["sensor", "control"]);
    let runs = |section: u8| of.spans.iter().filter(move |span| span.section == section);
    for (section, least_ns) in [(0, 150_000), (1, 200_000)] {
        assert_eq!(runs(section).count(), CYCLES);
        assert!(runs(section).all(|span| span.to_ns - span.from_ns >= least_ns));
    }
    // The first section begins directly after the note, in the cycle of that number.
    let mut apart: Vec<u64> = runs(0)
        .zip(&noted)
        .map(|(span, noted)| span.from_ns.checked_sub(*noted).unwrap())
        .collect();
    apart.sort_unstable();
    assert!(apart[CYCLES / 2] < 100_000, "{} ns", apart[CYCLES / 2]);
    let shown = Start::command(&["show", "--details"])
        .with(&[&finished.directory])
        .finish();
    for word in ["sensor", "control"] {
        assert!(shown.output.contains(word), "{}", shown.said());
    }
    let timeline = finished.place.path().join("timeline");
    ask_ok(
        &["explain", "--perfetto", timeline.to_str().unwrap()],
        &finished,
    );
    ask_ok(&["report"], &finished);
    let timeline = std::fs::read(timeline).unwrap();
    let page = std::fs::read_to_string(finished.directory.join("report.html")).unwrap();
    for word in ["sensor", "control"] {
        let mut bytes = timeline.windows(word.len());
        assert!(bytes.any(|at| at == word.as_bytes()), "{word}: no slice");
        assert!(page.contains(word), "{word}: not on the page");
    }
    assert_no_uprobe_of_the_dead();
}

fn ask_ok(words: &[&str], of: &Finished) {
    let asked = Start::command(words).with(&[&of.directory]).finish();
    assert!(asked.code() != Some(1), "{}", asked.said());
}

/// Bytes of a trace in which the program has flown for some seconds: its system calls are recorded too.
const ENOUGH: u64 = 200_000;

fn a_killed_watch_of_probes_leaves_no_uprobe_and_is_recovered_with_its_sections() {
    needs_tracing("killing a watch of USDT probes");
    let section = "pilot:control_begin,pilot:control_end";
    let words = [
        "watch",
        "--directory",
        "run",
        "--cycle",
        CYCLE,
        "--section",
        section,
    ];
    let running = Start::command_in(pilot(), &words)
        .with(&["--", PILOT, "4000"])
        .start();
    let trace = running.directory().join("segment-0.events");
    let begun = std::time::Instant::now();
    let written = || std::fs::metadata(&trace).map_or(0, |of| of.len());
    while written() < ENOUGH && begun.elapsed().as_secs() < 20 {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let enough = written() >= ENOUGH;
    running.kill_all();
    let finished = running.finish();
    if !enough {
        not_run("killing a watch of USDT probes", finished.complaints.trim());
    }
    finished.wait_until_nobody_is_left();
    let recovered = ask("recover", &finished.directory);
    recovered.assert_code(0);
    let told = SegmentTold::read(&finished.directory, 0).unwrap().unwrap();
    assert!(told.threads[&0].spans.len() > 10);
    assert_no_uprobe_of_the_dead();
}

fn a_probe_that_is_not_there_is_answered_with_those_that_are() {
    let refused = |more: &[&str]| {
        let finished = Start::command_in(pilot(), &["watch", "--directory", "run"])
            .with(more)
            .with(&["--", PILOT])
            .finish();
        finished.assert_code(1);
        assert!(!finished.directory.exists(), "{}", finished.said());
        assert_eq!(
            finished.complaints.lines().count(),
            1,
            "{}",
            finished.said()
        );
        finished.complaints.clone()
    };
    let said = refused(&["--cycle", "pilot:begin,pilot:cycle_end"]);
    if said.contains("in this container") {
        not_run("refusing probes that are not there", said.trim());
    }
    assert!(
        said.contains("pilot:begin") && said.contains("pilot:cycle_begin, pilot:cycle_end"),
        "{said}"
    );
    let said = refused(&["--cycle", "/bin/true:pilot:begin"]);
    assert!(said.contains("it has none"), "{said}");
    let said = refused(&["--section", "/etc/passwd:pilot:begin,pilot:end"]);
    assert!(said.contains("not an ELF program"), "{said}");
    let said = refused(&["--section", "pilot:begin"]);
    assert!(said.contains("expected BEGIN,END"), "{said}");
}
