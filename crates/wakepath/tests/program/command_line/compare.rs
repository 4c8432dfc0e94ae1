//! Comparing real runs: the tables and exit codes that a person and a pipeline see.

use crate::started::{Finished, Place, Start, loop_cpu};
use std::path::PathBuf;

wakepath_test_program::tests![
    two_runs_are_shown_beside_each_other_and_prove_nothing,
    several_runs_a_side_of_one_thing_are_equivalent_within_a_wide_margin,
    what_is_not_comparable_is_refused_with_the_reason_unless_forced,
    a_changed_archive_and_bad_words_are_refused_in_one_line,
];

/// A run of 400 cycles at this rate into `name` below `place`.
fn measure(place: &Place, name: &str, rate: &str) -> PathBuf {
    let file = place.path().join("scenario.toml");
    let scenario = format!(
        "name = \"test\"\nrate = \"{rate}\"\ncycles = 400\nwarm-up = \"20 ms\"\ncpu = {}\n\
         policies = [\"OTHER\"]\ncriterion = {{ miss-fraction = \"90 %\" }}\n",
        loop_cpu()
    );
    std::fs::write(&file, scenario).unwrap();
    let directory = place.path().join(name);
    Start::command(&["run"])
        .with(&[&file])
        .with(&["--directory"])
        .with(&[&directory])
        .finish()
        .assert_code(0);
    directory
}

fn compare(directories: &[&PathBuf], words: &[&str]) -> Finished {
    Start::command(&["compare"])
        .with(directories)
        .with(words)
        .finish()
}

fn two_runs_are_shown_beside_each_other_and_prove_nothing() {
    let place = Place::new();
    let (first, second) = (
        measure(&place, "a", "500 Hz"),
        measure(&place, "b", "500 Hz"),
    );
    let shown = compare(&[&first, &second], &[]);
    shown.assert_code(3);
    for part in ["OTHER nice 0", " µs", "one run per side can't distinguish"] {
        assert!(shown.output.contains(part), "{part}: {}", shown.said());
    }
    assert!(shown.output.starts_with("finding: "), "{}", shown.said());
    assert!(
        shown.output.contains("max of 400 due times"),
        "{}",
        shown.said()
    );
    assert!(shown.output.lines().count() <= 18, "{}", shown.said());
    let whole = compare(&[&first, &second], &["--details"]);
    assert!(whole.output.starts_with("finding: "), "{}", whole.said());
    assert!(whole.output.contains("Mann–Whitney"), "{}", whole.said());
    let json = compare(&[&first, &second], &["--json", "--metric", "median"]);
    json.assert_code(3);
    let json = json.json();
    assert_eq!(json["finding"], "inconclusive");
    assert_eq!(json["conditions"][0]["equal_count"], 400);
    assert_eq!(
        json["conditions"][0]["metrics"].as_array().unwrap().len(),
        1
    );
}

fn several_runs_a_side_of_one_thing_are_equivalent_within_a_wide_margin() {
    let place = Place::new();
    let runs: Vec<PathBuf> = ["a", "b", "c", "d", "e", "f"]
        .iter()
        .map(|name| measure(&place, name, "500 Hz"))
        .collect();
    let (base, against) = runs.split_at(3);
    let mut words: Vec<String> = Vec::new();
    for run in base {
        words.extend(["--base".to_owned(), run.display().to_string()]);
    }
    words.extend(["--margin".to_owned(), "10 s".to_owned()]);
    words.extend(["--metric".to_owned(), "median".to_owned()]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let shown = compare(&against.iter().collect::<Vec<_>>(), &words);
    shown.assert_code(0);
    assert!(
        shown.output.contains("finding: EQUIVALENT"),
        "{}",
        shown.said()
    );
}

fn what_is_not_comparable_is_refused_with_the_reason_unless_forced() {
    let place = Place::new();
    let (first, second) = (
        measure(&place, "a", "500 Hz"),
        measure(&place, "b", "1 kHz"),
    );
    let refused = compare(&[&first, &second], &[]);
    refused.assert_refused(1, &["period: 2 ms against 1 ms"]);
    let forced = compare(&[&first, &second], &["--force"]);
    forced.assert_code(3);
    assert!(
        forced.output.starts_with("NOT COMPARABLE"),
        "{}",
        forced.said()
    );
}

fn a_changed_archive_and_bad_words_are_refused_in_one_line() {
    let place = Place::new();
    let run = measure(&place, "a", "500 Hz");
    let other = measure(&place, "b", "500 Hz");
    for (words, told) in [
        (&["--margin", "5"][..], "--margin 5: "),
        (&["--metric", "mean"], "`mean` is not a metric"),
    ] {
        compare(&[&run, &other], words).assert_refused(1, &[told]);
    }
    let alone = compare(&[&run], &[]);
    alone.assert_code(1);
    assert!(
        alone.complaints.contains("no run in wakepath-runs here"),
        "{}",
        alone.said()
    );
    let parquet = other.join("samples.parquet");
    let mut bytes = std::fs::read(&parquet).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&parquet, bytes).unwrap();
    let refused = compare(&[&run, &other], &[]);
    refused.assert_code(1);
    assert!(
        refused.complaints.contains("samples.parquet"),
        "{}",
        refused.said()
    );
    assert_eq!(refused.output, "", "{}", refused.said());
}
