//! `wakepath exec`: the program runs as ordered, as the kernel reports, and nothing else does.

use crate::started::{Start, loop_cpu};

wakepath_test_program::tests![
    the_program_has_the_policy_the_cpus_and_the_slack_that_were_said,
    the_exit_code_is_the_programs_and_quiet_says_nothing,
    what_can_t_be_started_is_one_line,
    a_program_that_is_not_there_ends_with_127_and_nothing_is_claimed_before,
];

/// The shell that is started says under what it runs.
const SHELL: &str = "grep Cpus_allowed_list /proc/$$/status; cut -d' ' -f19 /proc/$$/stat; cat /proc/$$/timerslack_ns";

fn the_program_has_the_policy_the_cpus_and_the_slack_that_were_said() {
    let cpu = loop_cpu().to_string();
    let words = ["exec", "--policy", "OTHER nice 5", "--cpu", &cpu, "--"];
    let finished = Start::command(&words).with(&["sh", "-c", SHELL]).finish();
    finished.assert_code(0);
    let lines: Vec<&str> = finished.output.lines().collect();
    assert_eq!(lines, [&*format!("Cpus_allowed_list:\t{cpu}"), "5", "1"]);
    let said = &finished.complaints;
    for part in [
        format!("OTHER nice 5, CPU {cpu}, timer slack 1 ns"),
        "mlockall".into(),
    ] {
        assert!(said.contains(&part), "no {part:?}: {}", finished.said());
    }
}

fn the_exit_code_is_the_programs_and_quiet_says_nothing() {
    let words = ["exec", "--quiet", "--policy", "OTHER", "--", "sh", "-c"];
    let finished = Start::command(&words).with(&["exit 42"]).finish();
    finished.assert_code(42);
    assert_eq!(finished.complaints, "");
}

fn what_can_t_be_started_is_one_line() {
    for (words, part) in [
        (&["--policy", "FIFO 100", "--", "true"][..], "99"),
        (&["--policy", "DEADLINE 1ms", "--", "true"], "400us/4ms/4ms"),
        (&["--policy", "EVL FIFO 80", "--", "true"], "by itself"),
        (
            &["--policy", "OTHER", "--cpu", "9999", "--", "true"],
            "9999",
        ),
        (
            &["--policy", "OTHER", "--cpu", "x", "--", "true"],
            "--cpu x",
        ),
    ] {
        let finished = Start::command(&["exec"]).with(words).finish();
        finished.assert_refused(1, &[part]);
    }
}

fn a_program_that_is_not_there_ends_with_127_and_nothing_is_claimed_before() {
    let place = crate::started::Place::new();
    std::fs::write(place.path().join("text"), "no program").unwrap();
    let mut place = place;
    for (program, code, why) in [
        ("./not-there", 127, "./not-there: no such program"),
        ("no-such-program-anywhere", 127, "no such program"),
        ("./text", 126, "may not be executed"),
        ("/tmp", 126, "is a directory"),
    ] {
        let words = ["exec", "--policy", "OTHER", "--", program];
        let finished = Start::command_in(place, &words).finish();
        finished.assert_refused(code, &[why]);
        place = finished.place;
    }
}
