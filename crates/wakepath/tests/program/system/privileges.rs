//! A user without any privilege: all that is possible is measured, the rest is reported with its fix.

use crate::started::{Start, is_root, not_run};

wakepath_test_program::tests![
    without_privileges_the_ordinary_policies_are_measured_and_the_others_explained,
];

const NOBODY: u32 = 65_534;

fn without_privileges_the_ordinary_policies_are_measured_and_the_others_explained() {
    let what = "a run as an unprivileged user";
    if !is_root() {
        not_run(what, "only root may become another user");
    }
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
    let priority = limits
        .lines()
        .find(|line| line.starts_with("Max realtime priority"))
        .unwrap();
    if !priority.split_whitespace().any(|word| word == "0") {
        not_run(
            what,
            "RLIMIT_RTPRIO is not 0 here, so that nobody may use FIFO",
        );
    }
    let words = [
        "check",
        "--quick",
        "--policy",
        "OTHER nice 0",
        "--policy",
        "FIFO 50",
    ];
    let finished = Start::command(&words)
        .with(&["--json", "--directory", "run"])
        .by_user(NOBODY)
        .finish();
    assert!(
        matches!(finished.code(), Some(0 | 2 | 3)),
        "{}",
        finished.said()
    );
    finished.assert_archive_is_complete();
    finished.assert_nobody_is_left();
    let json = finished.json();
    let conditions = json["conditions"].as_array().unwrap();
    assert_eq!(conditions.len(), 2, "OTHER idle and under load: {json:#}");
    for condition in conditions {
        assert_eq!(condition["name"]["policy"]["policy"], "other");
        assert!(condition["cycles"]["executed"].as_u64().unwrap() > 100);
        assert_ne!(condition["outcome"], "invalid", "{condition:#}");
    }
    let not_measured = json["not_measured"].as_array().unwrap();
    assert_eq!(
        not_measured.len(),
        2,
        "FIFO 50 idle and under load: {not_measured:#?}"
    );
    for missing in not_measured {
        assert_eq!(missing["condition"], "FIFO 50");
        let reason = missing["reason"].as_str().unwrap();
        assert!(
            reason.contains("privilege") && reason.contains("CAP_SYS_NICE"),
            "{reason}"
        );
    }
    // Whether memory was locked depends on this user's limit; the notes must report what the record has.
    let run = finished.run();
    let threads = run
        .manifest
        .segments
        .iter()
        .flat_map(|segment| &segment.threads);
    let locked: Vec<_> = threads
        .filter_map(|thread| thread.effective.details["memory_locked"].as_bool())
        .collect();
    let said = json["run"]["notes"]
        .to_string()
        .contains("memory is not locked");
    assert_eq!(said, locked.contains(&false), "{:#}", json["run"]["notes"]);
}
