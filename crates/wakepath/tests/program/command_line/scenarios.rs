//! `wakepath scenario`, and scenario files that can't be used. The rules for files are
//! tested where scenarios are read.

use crate::started::{Finished, Place, Start};

wakepath_test_program::tests![
    a_missing_file_is_named_with_what_is_built_in,
    a_bad_file_is_refused_with_file_and_line,
    a_directory_or_a_binary_in_place_of_a_file_is_an_error_of_one_line,
    every_scenario_that_is_listed_can_be_shown_and_what_is_shown_can_be_checked,
    an_unknown_scenario_is_answered_with_those_that_there_are,
    the_schema_is_json,
    a_random_task_set_is_the_same_again_and_wrong_words_are_refused,
];

fn check_file(text: &str) -> Finished {
    let place = Place::new();
    std::fs::write(place.path().join("my.toml"), text).unwrap();
    Start::command_in(place, &["run", "my.toml", "--directory", "run"]).finish()
}

#[track_caller]
fn assert_refused(finished: &Finished, expected: &[&str]) {
    finished.assert_code(1);
    for part in expected {
        assert!(
            finished.complaints.contains(part),
            "no {part:?}: {}",
            finished.said()
        );
    }
    assert!(
        !finished.directory.exists(),
        "a run was begun: {}",
        finished.said()
    );
}

const GOOD: &str = "name = \"my\"\nrate = \"100 Hz\"\nduration = \"1 s\"\npolicies = [\"OTHER\"]\n";

fn a_missing_file_is_named_with_what_is_built_in() {
    let finished = Start::command(&["run", "missing.toml"]).finish();
    finished.assert_refused(1, &["missing.toml", "pi5-250hz", "quick"]);
}

fn a_bad_file_is_refused_with_file_and_line() {
    assert_refused(&check_file("rate = \n"), &["my.toml", "1"]);
    assert_refused(
        &check_file(&GOOD.replace("100 Hz", "100 Herz")),
        &["my.toml:2", "100 Herz"],
    );
    assert_refused(
        &check_file(&format!("{GOOD}colour = \"red\"\n")),
        &["my.toml:5", "colour"],
    );
    assert_refused(
        &check_file(&format!("{GOOD}cpu = 5000\n")),
        &["my.toml:5", "5000"],
    );
}

fn a_directory_or_a_binary_in_place_of_a_file_is_an_error_of_one_line() {
    for name in ["/", "/proc/self/exe"] {
        let finished = Start::command(&["run", name]).finish();
        finished.assert_refused(1, &[name]);
    }
}

fn every_scenario_that_is_listed_can_be_shown_and_what_is_shown_can_be_checked() {
    let list = Start::command(&["scenario", "list"]).finish();
    list.assert_code(0);
    let names: Vec<&str> = list
        .output
        .lines()
        .filter_map(|l| l.split_whitespace().next())
        .collect();
    assert!(
        names.contains(&"quick") && names.contains(&"pi5-250hz"),
        "{}",
        list.output
    );
    for name in &names {
        let shown = Start::command(&["scenario", "show", name]).finish();
        shown.assert_code(0);
        assert!(
            shown.output.contains(&format!("name = \"{name}\"")),
            "{}",
            shown.output
        );
    }
    let place = Place::new();
    let shown = Start::command(&["scenario", "show", "quick"]).finish();
    std::fs::write(place.path().join("copy.toml"), &shown.output).unwrap();
    let checked = Start::command_in(place, &["scenario", "check", "copy.toml"]).finish();
    checked.assert_code(0);
    assert!(checked.output.contains("takes about"), "{}", checked.output);
}

fn an_unknown_scenario_is_answered_with_those_that_there_are() {
    let finished = Start::command(&["scenario", "show", "nonsense"]).finish();
    finished.assert_refused(1, &["quick"]);
}

fn the_schema_is_json() {
    let finished = Start::command(&["scenario", "schema"]).finish();
    finished.assert_code(0);
    let schema = finished.json();
    assert!(schema["properties"]["rate"].is_object(), "{schema:#}");
}

fn a_random_task_set_is_the_same_again_and_wrong_words_are_refused() {
    let tasks = |words: &str| {
        let words: Vec<&str> = "scenario tasks --plugin psn-edf"
            .split(' ')
            .chain(words.split(' ').filter(|word| !word.is_empty()))
            .collect();
        Start::command(&words).finish()
    };
    let (first, again, other) = (tasks(""), tasks(""), tasks("--seed 2"));
    first.assert_code(0);
    assert!(
        first.output.contains("\"LITMUS PSN-EDF, budget "),
        "{}",
        first.output
    );
    assert_eq!(first.output, again.output);
    assert_ne!(first.output, other.output);
    for (words, expected) in [
        (
            "--utilization 100",
            "fits on no CPU next to the tasks placed before it",
        ),
        (
            "--shortest-period 20ms --longest-period 10ms",
            "shorter than --shortest-period 20 ms",
        ),
        ("--utilization 0", "percent from 0.1 to 100"),
    ] {
        tasks(words).assert_refused(1, &[expected]);
    }
}
