//! Showing runs that were changed, cut short or never were: the file is named, and nothing passes.

use crate::started::{Finished, Start, ask, loop_cpu};
use std::path::Path;

wakepath_test_program::tests![
    a_changed_byte_anywhere_in_the_samples_is_noticed,
    truncated_and_missing_files_are_named,
    a_verdict_can_not_be_bought_by_editing_the_manifest,
    what_is_no_run_is_refused_in_one_line,
    a_report_is_one_file_and_its_figures_are_files_of_their_own,
];

/// A short run that passes.
fn a_run() -> Finished {
    let finished = Start::scenario(&format!(
        "rate = \"500 Hz\"\nduration = \"400 ms\"\nwarm-up = \"100 ms\"\npolicies = [\"OTHER\"]\ncpu = {}\n\
         criterion = {{ miss-fraction = \"90 %\" }}\n",
        loop_cpu()
    ))
    .finish();
    finished.assert_code(0);
    assert_eq!(finished.json()["outcome"], "passed");
    ask("show", &finished.directory).assert_code(0);
    // The run wrote its own report; a refused command must not write another.
    assert!(finished.complaints.contains("report: "));
    std::fs::remove_file(finished.directory.join("report.html")).unwrap();
    finished
}

#[track_caller]
fn assert_refused(directory: &Path, file: &str) {
    for json in [&[][..], &["--json"]] {
        let shown = Start::command(&["show"])
            .with(&[directory])
            .with(json)
            .finish();
        shown.assert_code(1);
        assert!(!shown.output.contains("PASSED"), "{}", shown.said());
        assert!(
            !shown.output.contains("\"outcome\": \"passed\""),
            "{}",
            shown.said()
        );
        assert_eq!(shown.complaints.lines().count(), 1, "{}", shown.said());
        assert!(
            shown.complaints.contains(file),
            "{file} is not named: {}",
            shown.said()
        );
    }
    let reported = ask("report", directory);
    reported.assert_code(1);
    assert_eq!(reported.output, "", "{}", reported.said());
    assert!(
        reported.complaints.contains(file),
        "{file} is not named: {}",
        reported.said()
    );
    assert!(!directory.join("report.html").exists());
}

fn a_changed_byte_anywhere_in_the_samples_is_noticed() {
    let finished = a_run();
    let path = finished.directory.join("samples.parquet");
    let whole = std::fs::read(&path).unwrap();
    for at in [0, 100, whole.len() / 2, whole.len() - 10, whole.len() - 1] {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        std::fs::write(&path, changed).unwrap();
        assert_refused(&finished.directory, "samples.parquet");
    }
    std::fs::write(&path, whole).unwrap();
    ask("show", &finished.directory).assert_code(0);
}

fn truncated_and_missing_files_are_named() {
    let finished = a_run();
    for name in ["samples.parquet", "manifest.json"] {
        let path = finished.directory.join(name);
        let whole = std::fs::read(&path).unwrap();
        for length in [0, 1, whole.len() / 2, whole.len() - 1] {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert_refused(&finished.directory, name);
        }
        std::fs::remove_file(&path).unwrap();
        assert_refused(&finished.directory, name);
        std::fs::write(&path, whole).unwrap();
    }
}

fn a_verdict_can_not_be_bought_by_editing_the_manifest() {
    let finished = a_run();
    let path = finished.directory.join("manifest.json");
    let whole = std::fs::read_to_string(&path).unwrap();
    for (from, to) in [
        ("miss-fraction = 0.9", "miss-fraction = 0.8"),
        ("\"lost\": 0", "\"lost\": 1"),
    ] {
        let changed = whole.replacen(from, to, 1);
        assert_ne!(changed, whole, "{from} is not in the manifest");
        std::fs::write(&path, changed).unwrap();
        assert_refused(&finished.directory, "manifest.json");
    }
}

fn what_is_no_run_is_refused_in_one_line() {
    let place = crate::started::Place::new();
    std::fs::write(place.path().join("file"), "text").unwrap();
    for verb in ["show", "recover", "report"] {
        for path in [
            place.path(),
            &place.path().join("file"),
            &place.path().join("missing"),
        ] {
            ask(verb, path).assert_refused(1, &[&path.to_string_lossy()]);
        }
    }
    let names: Vec<_> = std::fs::read_dir(place.path())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(names, ["file"], "something was made or removed");
}

fn a_report_is_one_file_and_its_figures_are_files_of_their_own() {
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/format-1");
    let place = crate::started::Place::new();
    let page = place.path().join("page.html");
    let figures = place.path().join("figures");
    let reported = Start::command(&["report"])
        .with(&[&run, &run])
        .with(&["--output"])
        .with(&[&page])
        .with(&["--svg"])
        .with(&[&figures])
        .finish();
    reported.assert_code(0);
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.starts_with("<!DOCTYPE html>") && text.contains("2 runs"));
    let mut names: Vec<String> = std::fs::read_dir(&figures)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    for name in ["1-boxes-latency.svg", "2-time-other-nice-0.svg"] {
        assert!(names.iter().any(|found| found == name), "{names:?}");
        let svg = std::fs::read_to_string(figures.join(name)).unwrap();
        assert!(svg.contains("http://www.w3.org/2000/svg") && !svg.contains("var("));
    }
    assert!(
        reported
            .output
            .contains(&format!("figures: {} in ", names.len()))
    );

    // Where several go nothing is guessed.
    let nowhere = Start::command(&["report"]).with(&[&run, &run]).finish();
    nowhere.assert_code(1);
    assert!(
        nowhere.complaints.contains("--output"),
        "{}",
        nowhere.said()
    );
}
