//! A trial that is ended in the middle, politely and not: the machine's settings are as before.

use crate::started::{Running, Start, is_root, loop_cpu, not_run};
use rustix::process::Signal;
use std::path::Path;
use std::time::{Duration, Instant};

wakepath_test_program::tests![a_trial_that_is_ended_in_the_middle_leaves_no_setting_behind,];

const SETTING: &str = "/proc/sys/vm/stat_interval";

fn setting() -> String {
    std::fs::read_to_string(SETTING).unwrap().trim().to_owned()
}

/// A trial of harmless settings, until it has applied them.
fn applied(before: &str) -> Running {
    let cpu = loop_cpu().to_string();
    let words = [
        "tune",
        "trial",
        "--yes",
        "--step",
        "housekeeping",
        "--pairs",
        "1",
        "--block",
        "5s",
        "--cpu",
    ];
    let running = Start::command(&words)
        .with(&[&cpu, "--policy", "OTHER", "--directory", "trial"])
        .start();
    let end = Instant::now() + Duration::from_secs(120);
    while setting() == before {
        assert!(Instant::now() < end, "the trial applies nothing");
        std::thread::sleep(Duration::from_millis(20));
    }
    running
}

fn a_trial_that_is_ended_in_the_middle_leaves_no_setting_behind() {
    let what = "a trial that is ended in the middle";
    let before = setting();
    if !is_root() || before == "10" || Path::new("/run/wakepath/journal").exists() {
        not_run(what, "needs root, and a machine that is not tuned");
    }
    let trial = applied(&before);
    trial.signal(Signal::INT);
    let finished = trial.finish();
    assert_eq!(finished.code(), Some(1), "{}", finished.said());
    assert!(
        finished.said().contains("interrupted"),
        "{}",
        finished.said()
    );
    assert_eq!(setting(), before);
    assert!(!Path::new("/run/wakepath/journal").exists());

    let trial = applied(&before);
    // The run under way goes with it, so that it disturbs no other test.
    trial.kill_all();
    trial.finish();
    assert_ne!(setting(), before);
    let reverted = Start::command(&["tune", "revert"]).finish();
    assert_eq!(reverted.code(), Some(0), "{}", reverted.said());
    assert_eq!(setting(), before);
}
