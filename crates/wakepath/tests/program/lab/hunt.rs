//! Hunts: the same branch twice, crashes, a corpus that survives a kill, and nothing else left.

use super::{Place, emulators_of, lacking, text};
use crate::started::binary;
use serde_json::Value;
use std::process::Command;
use std::time::{Duration, Instant};

wakepath_test_program::tests![
    a_hunt_without_emulator_or_with_two_cpus_is_refused_in_one_line;
    a_crash_is_named_and_kept_with_its_program,
    a_killed_hunt_leaves_its_corpus_and_nothing_else_and_resumes,
];

const KERNEL: [&str; 4] = ["--kernel", "debian:stock preempt=full", "--jobs", "1"];

fn a_hunt_without_emulator_or_with_two_cpus_is_refused_in_one_line() {
    let place = Place::new("hunt-refused");
    let said = |arguments: &[&str]| {
        let output = place.wakepath(&[&["lab", "hunt"], arguments].concat());
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        text(&output.stderr)
    };
    std::fs::write(place.0.join("calls.txt"), "0 read(nothing)\n").unwrap();
    let kernel = ["--kernel", "scenario.toml"];
    let refusals = [
        (
            &["--cpus", "2"][..],
            "a hunt has one kernel on one x86-64 CPU: --cpus 2",
        ),
        (
            &["--variant", "threadirqs"],
            "give its parameters after its name",
        ),
        (
            &["--calls", "calls.txt"],
            "calls.txt, line 1: \"0 read(nothing)\" is neither",
        ),
        (
            &["--emulator", "no-such-emulator"],
            "no-such-emulator is not installed",
        ),
        (&["--for", "2"], "--for 2: "),
    ];
    for (arguments, wanted) in refusals {
        let line = said(&[&kernel[..], arguments].concat());
        assert!(line.contains(wanted), "{line}");
        assert_eq!(line.lines().count(), 1, "{line}");
    }
}

fn a_crash_is_named_and_kept_with_its_program() {
    let place = Place::new("hunt-crash");
    let calls = "Trigger is File\n257 Trigger = openat(-100, \"/proc/sysrq-trigger\", 1, 0)\n\
                 1 write(Trigger, \"c\", 1)\n";
    std::fs::write(place.0.join("calls.txt"), calls).unwrap();
    let program = "r0 = openat(-100, \"/proc/sysrq-trigger\", 1, 0)\nr1 = write(r0, \"c\", 1)\n";
    std::fs::write(place.0.join("crash.txt"), program).unwrap();
    let hunt = ["lab", "hunt", "--directory", "hunt", "--as-root", "--json"];
    let hunt = [&hunt[..], &KERNEL, &["--calls", "calls.txt"]].concat();

    let output = place.wakepath(&[&hunt[..], &["--repeat", "crash.txt"]].concat());
    if let Some(why) = lacking(&output) {
        wakepath_test_program::not_run(why);
    }
    assert!(output.status.success(), "{}", text(&output.stderr));
    let repeated: Value = serde_json::from_slice(&output.stdout).unwrap();
    let name = "Kernel panic - not syncing: sysrq triggered crash";
    assert_eq!(repeated["crash"], name);

    // Among 64 programs, one in two of which triggers it, the first ends the branch.
    let output = place.wakepath(&[&hunt[..], &["--for", "1s", "--findings", "0"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let end: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(end["crashes"][0]["name"], name, "{end}");
    let kept = place
        .0
        .join("hunt/crash-kernel-panic-not-syncing-sysrq-triggered-crash.txt");
    let kept = std::fs::read_to_string(kept).unwrap();
    assert!(
        kept.starts_with("r0 = ") && kept.contains("write("),
        "{kept}"
    );
    assert!(
        kept.contains(name) && kept.contains("Call Trace:"),
        "{kept}"
    );
}

fn files(place: &Place) -> Vec<String> {
    let entries = std::fs::read_dir(place.0.join("hunt")).unwrap().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn a_killed_hunt_leaves_its_corpus_and_nothing_else_and_resumes() {
    let place = Place::new("hunt-killed");
    let hunt = ["lab", "hunt", "--directory", "hunt", "--programs", "8"];
    let mut command = Command::new(binary());
    command.current_dir(&place.0).args(hunt).args(KERNEL);
    let mut killed = command.args(["--for", "1h"]).spawn().unwrap();
    let corpus = place.0.join("hunt/corpus.jsonl");
    let began = Instant::now();
    let has_branch = || {
        let text = std::fs::read_to_string(&corpus).unwrap_or_default();
        text.lines().any(|line| line.starts_with("{\"Effort\""))
    };
    while !has_branch() {
        if let Some(status) = killed.try_wait().unwrap() {
            assert!(!status.success());
            let why = place.wakepath(&[&hunt[..], &KERNEL, &["--for", "1s"]].concat());
            wakepath_test_program::not_run(lacking(&why).unwrap_or(text(&why.stderr)));
        }
        assert!(
            began.elapsed() < Duration::from_secs(1200),
            "no branch ended"
        );
        std::thread::sleep(Duration::from_millis(100));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while !emulators_of(&place.0).is_empty() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(emulators_of(&place.0), Vec::<i32>::new());
    assert_eq!(files(&place), ["corpus.jsonl"]);

    let more = ["--for", "1s", "--findings", "1", "--json"];
    let output = place.wakepath(&[&hunt[..], &KERNEL, &more].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let end: Value = serde_json::from_slice(&output.stdout).unwrap();
    let number = |name: &str| end[name].as_u64().unwrap();
    assert!(number("all_programs") > number("programs"), "{end}");
    assert!(number("covered") > 20, "{end}");
    let finding = &end["findings"][0];
    assert!(finding["length_ns"].as_u64().unwrap() > 1_000, "{finding}");

    // WAKEPATH_BRANCHES=200 for the whole campaign.
    let branches = std::env::var("WAKEPATH_BRANCHES").unwrap_or("10".into());
    let repeat = [
        "--repeat",
        "hunt/finding-1.txt",
        "--json",
        "--branches",
        &branches,
    ];
    let output = place.wakepath(&[&hunt[..], &KERNEL, &repeat].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let repeated: Value = serde_json::from_slice(&output.stdout).unwrap();
    // Another may be longer this time, after another boot; and without the programs before it, one that they contributed
    // to is not there.
    let sections = repeated["sections"].as_array().unwrap();
    let mut began = sections.iter().map(|section| &section["began"]);
    let is_there = began.any(|of| *of == finding["began"]);
    let is_alone = finding["alone"].as_bool().unwrap();
    assert!(is_there || !is_alone, "{finding} {repeated}");
    assert_eq!(repeated["branches"].to_string(), branches);
}
