//! Refusals if nothing can be traced.

use crate::started::{Place, Start, binary, is_root, not_run};

const NOBODY: u32 = 65_534;

wakepath_test_program::tests![
    in_a_pid_namespace_it_is_refused_in_one_line,
    a_latency_beyond_the_deadline_is_refused_with_both,
    without_privilege_the_remedy_is_said_in_one_line_and_nothing_is_started,
];

fn in_a_pid_namespace_it_is_refused_in_one_line() {
    let what = "watching in a container";
    if !is_root() {
        not_run(what, "only root may make a PID namespace");
    }
    let place = Place::new();
    let refused = std::process::Command::new("unshare")
        .args(["--pid", "--fork", "--mount-proc"])
        .arg(binary())
        .args(["watch", "--directory", "run", "--", "touch", "started"])
        .current_dir(place.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("can't watch: in this container"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(!place.path().join("started").exists());
    assert!(!place.path().join("run").exists());
}

fn a_latency_beyond_the_deadline_is_refused_with_both() {
    for option in ["--latency", "--stop-above"] {
        let words = [
            "watch",
            "--directory",
            "run",
            "--deadline",
            "2ms",
            option,
            "3ms",
        ];
        let refused = Start::command(&words)
            .with(&["--", "touch", "started"])
            .finish();
        refused.assert_refused(
            1,
            &[option, "3ms", "--deadline (2 ms)", "give at most 2 ms"],
        );
        assert!(!refused.place.path().join("started").exists());
        assert!(!refused.place.path().join("run").exists());
    }
}

fn without_privilege_the_remedy_is_said_in_one_line_and_nothing_is_started() {
    let what = "watching as an unprivileged user";
    if !is_root() {
        not_run(what, "only root may become another user");
    }
    let words = ["watch", "--directory", "run", "--", "touch", "started"];
    let finished = Start::command(&words).by_user(NOBODY).finish();
    if finished.code() == Some(3) {
        not_run(what, "any user may trace here");
    }
    finished.assert_refused(1, &["can't watch: "]);
    assert!(!finished.place.path().join("started").exists());
    assert!(!finished.place.path().join("run").exists());
}
