//! Runs at hand: listed, meant by number, by a part of the name or as the latest.

use crate::started::{Finished, Place, Start};
use serde_json::Value;
use std::path::Path;

wakepath_test_program::tests![
    runs_are_listed_the_latest_first,
    every_verb_takes_a_number_a_part_of_a_name_or_the_latest,
    a_run_under_way_is_neither_the_latest_nor_called_damaged,
    a_wrong_name_says_in_one_line_which_runs_there_are,
    a_run_that_is_not_as_it_was_written_is_listed_as_that,
];

pub(super) const NAMES: [&str; 3] = [
    "monday-20260101T120000Z",
    "tuesday-20260102T120000Z",
    "trial-20260103T120000Z/step-1",
];

/// A place with three runs, of which the last is the latest.
pub(super) fn with_runs() -> Place {
    let place = Place::new();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/format-1");
    for name in NAMES {
        let run = place.path().join("wakepath-runs").join(name);
        std::fs::create_dir_all(&run).unwrap();
        for file in ["manifest.json", "samples.parquet"] {
            std::fs::copy(fixture.join(file), run.join(file)).unwrap();
        }
    }
    std::fs::create_dir(place.path().join("wakepath-runs/empty")).unwrap();
    place
}

fn ask_in(place: Place, words: &[&str]) -> Finished {
    Start::command_in(place, words).finish()
}

fn runs_are_listed_the_latest_first() {
    let listed = ask_in(with_runs(), &["runs", "--json"]);
    listed.assert_code(0);
    let json = listed.json();
    let names: Vec<&str> = json["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, [NAMES[2], NAMES[1], NAMES[0]]);
    assert_eq!(json["runs"][0]["number"], 1);
    let shown = ask_in(with_runs(), &["show", "@1", "--json"]);
    assert_eq!(json["runs"][0]["verdict"], shown.json()["outcome"]);
    assert_eq!(json["runs"][0]["problem"], Value::Null);
    let listed = ask_in(listed.place, &["runs"]);
    listed.assert_code(0);
    let widest = listed.output.lines().map(wakepath_timeline::columns::width);
    assert!(widest.max() <= Some(100), "{}", listed.output);
    let long = "of-the-second-arm-of-cell-seven-20251231T120000Z";
    let runs = listed.place.path().join("wakepath-runs");
    std::fs::rename(runs.join(NAMES[0]), runs.join(long)).unwrap();
    let whole = ask_in(listed.place, &["runs"]);
    assert!(whole.output.contains(long), "{}", whole.output);
    std::fs::rename(runs.join(long), runs.join(NAMES[0])).unwrap();
    let listed = ask_in(whole.place, &["runs"]);
    for part in ["@1   trial-20260103T120000Z/step-1", "  small  ", "passed"] {
        assert!(listed.output.contains(part), "{part}: {}", listed.output);
    }
    let none = Start::command(&["runs"]).finish();
    none.assert_code(0);
    assert!(
        none.output.contains("record one with `wakepath check`"),
        "{}",
        none.said()
    );
}

fn every_verb_takes_a_number_a_part_of_a_name_or_the_latest() {
    let mut place = with_runs();
    for (words, name) in [
        (&["show"][..], NAMES[2]),
        (&["show", "@1"], NAMES[2]),
        (&["show", "@2"], NAMES[1]),
        (&["show", "monday"], NAMES[0]),
        (&["show", "--details", "0102"], NAMES[1]),
    ] {
        let shown = ask_in(place, words);
        shown.assert_code(0);
        let recording = format!("recording: wakepath-runs/{name}\n");
        assert!(
            shown.output.contains(&recording),
            "{words:?}: {}",
            shown.said()
        );
        place = shown.place;
    }
    for words in [
        &["export", "--format", "markdown"][..],
        &["fly"],
        &["report"],
        &["recover"],
        &["doctor", "--against"],
    ] {
        let asked = ask_in(place, words);
        assert_ne!(asked.code(), Some(1), "{words:?}: {}", asked.said());
        place = asked.place;
    }
    let report = place
        .path()
        .join("wakepath-runs")
        .join(NAMES[2])
        .join("report.html");
    assert!(report.is_file());
    // The fixture against itself is no comparison, and the answer names the latest two.
    let compared = ask_in(place, &["compare"]);
    compared.assert_code(1);
    for name in &NAMES[1..] {
        assert!(compared.complaints.contains(name), "{}", compared.said());
    }
    place = compared.place;
    // It was not traced: that is the answer, for the run that was meant.
    let explained = ask_in(place, &["explain"]);
    explained.assert_code(1);
    assert!(
        explained.complaints.contains(NAMES[2]),
        "{}",
        explained.said()
    );
}

fn a_run_under_way_is_neither_the_latest_nor_called_damaged() {
    let mut place = with_runs();
    let under_way = "check-20260104T120000Z";
    let run = place.path().join("wakepath-runs").join(under_way);
    std::fs::create_dir(&run).unwrap();
    let log = std::fs::File::create(run.join("samples.log")).unwrap();
    log.try_lock().unwrap();
    let listed = ask_in(place, &["runs"]);
    let line = listed.output.lines().find(|line| line.contains(under_way));
    assert!(
        line.is_some_and(|line| line.ends_with("under way")),
        "{}",
        listed.said()
    );
    let shown = ask_in(listed.place, &["show"]);
    shown.assert_code(0);
    let recording = format!("recording: wakepath-runs/{}\n", NAMES[2]);
    assert!(shown.output.contains(&recording), "{}", shown.said());
    place = shown.place;
    let compared = ask_in(place, &["compare"]);
    for name in &NAMES[1..] {
        assert!(compared.complaints.contains(name), "{}", compared.said());
    }
    place = compared.place;
    for words in [
        &["show", "@1"][..],
        &["report", under_way],
        &["explain", "0104"],
    ] {
        let asked = ask_in(place, words);
        asked.assert_code(1);
        assert_eq!(asked.output, "", "{}", asked.said());
        assert_eq!(asked.errors().len(), 1, "{}", asked.said());
        let said = asked.errors()[0];
        for part in [under_way, "still under way", "after it has ended"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        place = asked.place;
    }
    for name in [
        "monday-20260101T120000Z",
        "tuesday-20260102T120000Z",
        "trial-20260103T120000Z",
    ] {
        std::fs::remove_dir_all(place.path().join("wakepath-runs").join(name)).unwrap();
    }
    let none = ask_in(place, &["show"]);
    none.assert_code(1);
    let said = none.errors();
    assert_eq!(said.len(), 1, "{}", none.said());
    assert!(
        said[0].contains("no run here has ended yet"),
        "{}",
        none.said()
    );
    drop(log);
}

fn a_wrong_name_says_in_one_line_which_runs_there_are() {
    let mut place = with_runs();
    for verb in ["show", "report", "explain", "fly", "recover", "compare"] {
        let asked = ask_in(place, &[verb, "wednesday"]);
        asked.assert_code(1);
        assert_eq!(asked.output, "", "{}", asked.said());
        let wrong = asked.errors();
        assert_eq!(wrong.len(), 1, "{}", asked.said());
        for part in [
            "wednesday: no such run",
            "2 tuesday-20260102T120000Z",
            "`wakepath runs`",
        ] {
            assert!(wrong[0].contains(part), "{part}: {}", asked.said());
        }
        place = asked.place;
    }
    let several = ask_in(place, &["show", "day"]);
    several.assert_code(1);
    assert!(
        several
            .complaints
            .contains("2 runs have names that contain it"),
        "{}",
        several.said()
    );
}

fn a_run_that_is_not_as_it_was_written_is_listed_as_that() {
    let place = with_runs();
    let run = place.path().join("wakepath-runs").join(NAMES[1]);
    let samples = run.join("samples.parquet");
    let mut bytes = std::fs::read(&samples).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&samples, bytes).unwrap();
    let listed = ask_in(place, &["runs", "--json"]);
    listed.assert_code(0);
    let json = listed.json();
    assert_eq!(json["runs"][1]["verdict"], "altered");
    let problem = json["runs"][1]["problem"].as_str().unwrap();
    assert!(problem.contains("samples.parquet"), "{problem}");
    let listed = ask_in(listed.place, &["runs"]);
    assert!(listed.output.contains("altered"), "{}", listed.output);
    assert!(
        listed.output.contains("samples.parquet"),
        "{}",
        listed.output
    );
}
