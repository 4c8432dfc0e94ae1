//! A trial that is ended in the middle, politely and not: the machine's settings are as before.

use crate::by_itself::tries::cures;
use crate::started::{Place, Running, Start, is_root, kill, loop_cpu, not_run, wait_until};
use rustix::process::Signal;
use std::path::Path;
use std::time::{Duration, Instant};

wakepath_test_program::tests![
    a_trial_that_is_ended_in_the_middle_leaves_no_setting_behind,
    a_trial_of_too_short_runs_says_so_in_one_line_and_leaves_nothing,
    a_fix_that_is_tried_is_taken_back_after_ctrl_c_and_after_a_kill,
];

const SETTING: &str = "/proc/sys/vm/stat_interval";

fn setting() -> String {
    std::fs::read_to_string(SETTING).unwrap().trim().to_owned()
}

/// One short segment for each run of the trial.
fn scenario() -> String {
    format!(
        "name = \"short\"\nrate = \"250 Hz\"\ncycles = 500\nwarm-up = \"100 ms\"\npolicies = [\"OTHER\"]\ncpu = {}\n\
         phases = [{{ name = \"idle\" }}]\ncriterion = {{ miss-fraction = \"90 %\" }}\n",
        loop_cpu()
    )
}

/// A trial of harmless settings, a pair of runs of this time.
fn trial(block: &str) -> Start {
    let place = Place::new();
    std::fs::write(place.path().join("short.toml"), scenario()).unwrap();
    let words = [
        "tune",
        "trial",
        "--scenario",
        "short.toml",
        "--yes",
        "--step",
        "housekeeping",
        "--pairs",
        "1",
        "--block",
        block,
        "--directory",
        "trial",
    ];
    Start::command_in(place, &words)
}

/// A harmless setting tried on a loop.
fn attempt() -> Start {
    let place = Place::new();
    let program = cures(&place);
    let fix = format!("{SETTING}=7");
    let words = ["try", &fix, "--for", "3s", "-o", "run", "--"];
    Start::command_in(place, &words)
        .with(&[program.as_os_str()])
        .with(&[&*loop_cpu().to_string(), "nothing"])
}

/// A trial, until it has applied its settings.
fn applied(trial: Start, before: &str) -> Running {
    let mut running = trial.start();
    let end = Instant::now() + Duration::from_secs(120);
    while setting() == before {
        assert!(
            Instant::now() < end && !running.has_ended(),
            "the trial applies nothing"
        );
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
    let trial = applied(self::trial("3s"), &before);
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

    let trial = applied(self::trial("3s"), &before);
    // The run under way goes with it, so that it disturbs no other test.
    trial.kill_all();
    trial.finish();
    assert_ne!(setting(), before);
    let reverted = Start::command(&["tune", "revert"]).finish();
    assert_eq!(reverted.code(), Some(0), "{}", reverted.said());
    assert_eq!(setting(), before);
}

fn a_trial_of_too_short_runs_says_so_in_one_line_and_leaves_nothing() {
    let before = setting();
    if !is_root() || Path::new("/run/wakepath/journal").exists() {
        not_run("a trial", "needs root, and a machine that is not tuned");
    }
    let finished = trial("100ms").finish();
    assert_eq!(finished.code(), Some(1), "{}", finished.said());
    let said = &finished.complaints;
    assert!(
        said.contains("--block 100ms: a total of 100 ms is too short")
            && said.contains("give --block "),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(!finished.place.path().join("trial").exists());
    assert_eq!(setting(), before);
}

fn a_fix_that_is_tried_is_taken_back_after_ctrl_c_and_after_a_kill() {
    let before = setting();
    if !is_root() || before == "7" || Path::new("/run/wakepath/journal").exists() {
        not_run("a fix", "needs root, and a machine that is not tuned");
    }
    let running = applied(attempt(), &before);
    running.signal(Signal::INT);
    let finished = running.finish();
    finished.assert_code(1);
    assert!(
        finished.said().contains("interrupted"),
        "{}",
        finished.said()
    );
    assert_eq!(setting(), before);

    let running = applied(attempt(), &before);
    kill(running.main(), Signal::KILL);
    wait_until("the setting to be as before", || {
        setting() == before && !Path::new("/run/wakepath/journal").exists()
    });
    let finished = running.finish();
    finished.wait_until_nobody_is_left();
}
