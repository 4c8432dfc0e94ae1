//! Files of other tools made into runs, by the command: shown, compared, never passed.

use crate::started::{Finished, Place, Start, ask};
use std::path::{Path, PathBuf};

wakepath_test_program::tests![
    every_form_becomes_a_run_that_is_shown_and_does_not_pass,
    what_a_form_has_no_use_for_is_refused,
    an_imported_run_may_fail,
    the_page_shows_what_an_import_does_not_know_as_not_known,
    what_a_file_does_not_say_must_be_given,
    a_broken_file_is_named_with_its_line_and_leaves_nothing,
    imported_runs_are_compared_with_each_other_and_with_no_other_tools,
];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../import/tests/fixtures")
        .join(name)
}

fn import(place: &Place, name: &str, form: &str, file: &Path, words: &[&str]) -> Finished {
    Start::command(&["import", form])
        .with(&[file])
        .with(&["--directory"])
        .with(&[place.path().join(name)])
        .with(words)
        .finish()
}

const PERF: [&str; 6] = [
    "--thread", "23061", "--period", "2ms", "--policy", "FIFO 80",
];

fn every_form_becomes_a_run_that_is_shown_and_does_not_pass() {
    let given = ["--period", "1ms", "--policy", "FIFO 80"];
    // Recorded in an emulated machine, which was late by tens of milliseconds.
    let emulated = ["--period", "100ms", "--policy", "FIFO 80"];
    for (form, file, told) in [
        ("cyclictest", "cyclictest-h.txt", &given[..]),
        ("cyclictest-json", "cyclictest.json", &[]),
        ("cyclictest-verbose", "cyclictest-v.txt", &[]),
        ("timerlat", "timerlat-hist.txt", &emulated),
        ("osnoise", "osnoise-hist.txt", &emulated),
        ("jitterdebugger", "jitterdebugger-results.json", &given),
        (
            "jitterdebugger-raw",
            "jitterdebugger-samples.raw",
            &given[2..],
        ),
        ("perf", "perf.data", &PERF),
    ] {
        let place = Place::new();
        import(&place, "run", form, &fixture(file), told).assert_code(0);
        let shown = ask("show", &place.path().join("run"));
        shown.assert_code(3);
        for part in ["FIFO 80", "lacks ", "verdict: UNDECIDED", file] {
            assert!(
                shown.output.contains(part),
                "{form}: {part}: {}",
                shown.said()
            );
        }
        let json = Start::command(&["export", "--format", "json"])
            .with(&[place.path().join("run")])
            .finish();
        json.assert_code(0);
        assert_eq!(json.json()["imported"]["form"], form);
        assert!(json.json()["conditions"][0]["cycles"]["response"].is_null());
    }
}

fn what_a_form_has_no_use_for_is_refused() {
    let place = Place::new();
    for (option, why) in [
        (&["--thread", "7"][..], "has the loop's threads alone"),
        (&["--nanoseconds"], "says its unit"),
    ] {
        let json = fixture("cyclictest.json");
        let refused = import(&place, "run", "cyclictest-json", &json, option);
        refused.assert_code(1);
        assert!(refused.said().contains(why), "{}", refused.said());
    }
    let refused = import(&place, "run", "perf", &fixture("perf.data"), &[]);
    refused.assert_code(1);
    let why =
        "perf.data: say with --thread which thread is the loop: 23061 `cyclictest` (60 wake-ups";
    assert!(refused.said().contains(why), "{}", refused.said());
}

fn an_imported_run_may_fail() {
    let place = Place::new();
    let words = ["--latency", "10us", "--miss-fraction", "1%"];
    let file = fixture("cyclictest.json");
    import(&place, "run", "cyclictest-json", &file, &words).assert_code(0);
    let shown = ask("show", &place.path().join("run"));
    shown.assert_code(2);
    assert!(shown.output.contains("verdict: FAILED"), "{}", shown.said());
}

fn the_page_shows_what_an_import_does_not_know_as_not_known() {
    let place = Place::new();
    let file = fixture("cyclictest-h.txt");
    let told = ["--period", "1ms", "--policy", "FIFO 80"];
    import(&place, "run", "cyclictest", &file, &told).assert_code(0);
    ask("report", &place.path().join("run")).assert_code(0);
    let page = std::fs::read_to_string(place.path().join("run/report.html")).unwrap();
    let row = page.split("<table class=\"measured\">").nth(1).unwrap();
    let row = row.split("FIFO 80</th>").nth(1).unwrap();
    let row = row.split("</tr>").next().unwrap();
    let cells: Vec<&str> = row
        .split("<td class=\"number\">")
        .skip(1)
        .map(|cell| cell.split("</td>").next().unwrap())
        .collect();
    let (scheduled, skipped, in_a_row) = (cells[0], cells[2], cells[14]);
    assert_eq!([scheduled, skipped, in_a_row], ["–"; 3], "{cells:?}");
    assert_ne!(cells[1], "–", "{cells:?}");
    // Some of its values lay beyond the histogram.
    assert!(cells[13].starts_with("≥ "), "{cells:?}");
}

fn what_a_file_does_not_say_must_be_given() {
    let place = Place::new();
    let file = fixture("cyclictest-h.txt");
    let refused = import(&place, "run", "cyclictest", &file, &[]);
    refused.assert_code(1);
    assert!(
        refused.complaints.contains("give --period"),
        "{}",
        refused.said()
    );
    let refused = import(&place, "run", "cyclictest", &file, &["--period", "1ms"]);
    refused.assert_code(1);
    assert!(
        refused.complaints.contains("give --policy"),
        "{}",
        refused.said()
    );
    assert!(!place.path().join("run").exists(), "a directory was made");
}

fn a_broken_file_is_named_with_its_line_and_leaves_nothing() {
    let place = Place::new();
    let whole = std::fs::read_to_string(fixture("cyclictest-h.txt")).unwrap();
    let broken = place.path().join("broken.txt");
    std::fs::write(&broken, whole.replacen("000012 000110", "000012 x", 1)).unwrap();
    let refused = import(&place, "run", "cyclictest", &broken, &[]);
    refused.assert_code(1);
    assert!(
        refused
            .complaints
            .contains("broken.txt:15: `x` is no count"),
        "{}",
        refused.said()
    );
    let other = import(&place, "run", "perf-mem", &broken, &[]);
    other.assert_code(1);
    assert!(
        other.complaints.contains("cyclictest-json"),
        "{}",
        other.said()
    );
    let missing = import(&place, "run", "cyclictest", &place.path().join("gone"), &[]);
    missing.assert_code(1);
    assert!(
        missing.complaints.contains("gone: No such file"),
        "{}",
        missing.said()
    );
    assert!(!place.path().join("run").exists(), "a directory was made");
}

fn imported_runs_are_compared_with_each_other_and_with_no_other_tools() {
    let place = Place::new();
    let given = ["--period", "1ms", "--policy", "FIFO 80"];
    import(
        &place,
        "a",
        "cyclictest-json",
        &fixture("cyclictest.json"),
        &[],
    )
    .assert_code(0);
    import(
        &place,
        "b",
        "cyclictest",
        &fixture("cyclictest-h.txt"),
        &given,
    )
    .assert_code(0);
    let file = fixture("jitterdebugger-results.json");
    import(&place, "c", "jitterdebugger", &file, &given).assert_code(0);
    let compare = |first: &str, second: &str| {
        let directories = [place.path().join(first), place.path().join(second)];
        Start::command(&["compare"]).with(&directories).finish()
    };
    let shown = compare("a", "b");
    shown.assert_code(3);
    assert!(
        shown.output.contains("holds no facts of its machine"),
        "{}",
        shown.said()
    );
    let refused = compare("a", "c");
    refused.assert_code(1);
    assert!(
        refused
            .complaints
            .contains("measured by: cyclictest against jitterdebugger"),
        "{}",
        refused.said()
    );
}
