//! Options and verbs: a fault is reported in a line that names it, and never with an exit code
//! that a script would read as a verdict.

use crate::started::{Finished, InTerminal, Place, Start};

wakepath_test_program::tests![
    the_version_names_the_commit,
    help_has_examples_and_exit_codes,
    help_that_exceeds_the_screen_goes_through_the_pager,
    a_wrong_command_line_is_an_error_and_not_a_verdict,
    a_bad_value_is_named_with_its_option_and_what_would_be_right,
    a_cpu_that_is_not_there_is_refused_and_those_that_are_named,
    what_is_typed_by_habit_gets_one_line_that_helps,
];

fn said_by(words: &[&str]) -> Finished {
    Start::command(words).finish()
}

/// One line on standard error with all of `expected`, nothing on standard output, exit code 1.
#[track_caller]
fn assert_one_line(words: &[&str], expected: &[&str]) {
    said_by(words).assert_refused(1, expected);
}

fn the_version_names_the_commit() {
    let finished = said_by(&["--version"]);
    finished.assert_code(0);
    let (_, commit) = finished.output.trim().split_once(" (").unwrap();
    let commit = commit.trim_end_matches(')');
    assert!(
        commit.len() >= 12 || commit == "no commit",
        "{}",
        finished.output
    );
}

fn help_has_examples_and_exit_codes() {
    for words in [
        &["--help"][..],
        &["check", "--help"],
        &["run", "--help"],
        &["show", "--help"],
    ] {
        let finished = said_by(words);
        finished.assert_code(0);
        assert!(finished.output.contains("Example"), "{words:?}");
        assert!(finished.output.contains("Exit codes"), "{words:?}");
        assert_eq!(finished.complaints, "");
    }
    let of_the_laboratory = said_by(&["help", "lab", "run"]);
    assert!(of_the_laboratory.output.contains("wakepath lab run"));
    assert_eq!(
        of_the_laboratory.output,
        said_by(&["lab", "run", "--help"]).output
    );
    assert!(said_by(&["recover", "--help"]).output.contains("Example"));
}

fn help_that_exceeds_the_screen_goes_through_the_pager() {
    for (word, is_paged) in [("--help", true), ("-h", false)] {
        let pager = "sed s/^/paged:/";
        let words = ["check", word];
        let mut terminal = InTerminal::start_with_pager(pager, Place::new(), &words, (100, 50));
        assert_eq!(terminal.end().code(), Some(0), "{word}");
        terminal.wait_until("its words", |screen| {
            screen.iter().any(|line| line.contains("Example"))
        });
        let screen = terminal.screen().join("\n");
        assert_eq!(screen.contains("paged:"), is_paged, "{word}: {screen}");
    }
}

fn a_wrong_command_line_is_an_error_and_not_a_verdict() {
    for words in [
        &["--bad"][..],
        &["nonsense"],
        &["run"],
        &["check", "--cpu", "many"],
        &["check", "--rate"],
        &["show", "a", "b"],
        &[],
    ] {
        let finished = said_by(words);
        finished.assert_code(1);
        assert_eq!(finished.output, "", "{words:?}");
        assert!(!finished.complaints.is_empty(), "{words:?}");
    }
    assert!(
        said_by(&["check", "--cpu", "many"])
            .complaints
            .contains("--cpu")
    );
    assert!(
        said_by(&["chekc"]).complaints.contains("check"),
        "a similar verb is offered"
    );
}

fn a_bad_value_is_named_with_its_option_and_what_would_be_right() {
    assert_one_line(&["check", "--rate", "fast"], &["--rate", "fast", "Hz"]);
    assert_one_line(
        &["check", "--duration", "long"],
        &["--duration", "long", "s"],
    );
    assert_one_line(&["check", "--duration", "1ms"], &["--duration", "1ms"]);
    // Two passes of eight policies, idle and under load, 1013 cycles of each.
    assert_one_line(
        &["check", "--duration", "38s", "--trace"],
        &[
            "--duration 38s is too short",
            "at least 1013",
            "give --duration 167s",
        ],
    );
    assert_one_line(
        &["check", "--policy", "FIFO 100"],
        &["--policy", "FIFO 100", "99"],
    );
    assert_one_line(
        &["check", "--policy", "SOMETHING"],
        &["--policy", "SOMETHING", "FIFO"],
    );
    assert_one_line(&["run", "quick", "--duration=-1s"], &["--duration"]);
}

fn a_cpu_that_is_not_there_is_refused_and_those_that_are_named() {
    let finished = said_by(&["check", "--cpu", "5000"]);
    finished.assert_code(1);
    assert!(finished.complaints.contains("5000"), "{}", finished.said());
    assert!(
        !finished.place.path().join("wakepath-runs").exists(),
        "a run was begun"
    );
}

fn what_is_typed_by_habit_gets_one_line_that_helps() {
    let binary = crate::started::binary().display().to_string();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../check").to_owned();
    for (words, expected) in [
        (
            &["check", "--policy", "FIFO80"][..],
            &["did you mean \"FIFO 80\""][..],
        ),
        (
            &["rate", "--policy", "fifo:80"],
            &["did you mean \"FIFO 80\""],
        ),
        (
            &["exec", "--policy", "FIFO80", "--", "true"],
            &["did you mean \"FIFO 80\""],
        ),
        (
            &["check", "--rate", "10MHz"],
            &["above what can be measured", "100 kHz"],
        ),
        (
            &["rate", "--to", "10MHz"],
            &["--to 10MHz", "above what can be measured"],
        ),
        (
            &["run", "quick", "--rate", "10MHz"],
            &["--rate 10MHz", "above what can be measured"],
        ),
        (&["check", "--cpu", "1,2"], &["one CPU", "such as 1"]),
        (&["run", "quick", "--cpu", "1-2"], &["one CPU", "such as 1"]),
        (
            &["check", "--cpu", "999"],
            &["--cpu 999", "give one of them"],
        ),
        (
            &["run", "quick", "--cpu", "999"],
            &["--cpu 999", "give one of them"],
        ),
        (
            &["rate", "--cpu", "999"],
            &["--cpu 999", "give one of them"],
        ),
        (
            &["doctor", "--cpu", "999"],
            &["--cpu 999", "give one of them"],
        ),
        (
            &["tune", "plan", "--cpu", "999"],
            &["--cpu 999", "give one of them"],
        ),
        (&["watch", "./loop"], &["wakepath watch -- ./loop"]),
        (
            &["watch", "--", "./not-there"],
            &["./not-there: no such program"],
        ),
        (&["check", "./loop"], &["wakepath watch -- ./loop"]),
        (&["run", &binary], &["not a scenario", "wakepath watch -- "]),
        (&["run", &script], &["not a scenario", "wakepath watch -- "]),
        (
            &["rate", "not-there.toml"],
            &["not-there.toml: no such file"],
        ),
        (
            &["rate", "quick", "--from", "1kHz", "--to", "500Hz"],
            &["the first must be the lower"],
        ),
        (
            &["watch", "--stop-above", "200", "--", "true"],
            &["--stop-above 200", "has no unit"],
        ),
    ] {
        assert_one_line(words, expected);
    }
}
