//! Showing runs that were changed, cut short or never were: the file is named, and nothing passes.

use crate::started::{Finished, Start, ask, loop_cpu};
use std::path::Path;

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
}

#[test]
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

#[test]
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

#[test]
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

#[test]
fn what_is_no_run_is_refused_in_one_line() {
    let place = crate::started::Place::new();
    std::fs::write(place.path().join("file"), "text").unwrap();
    for verb in ["show", "recover"] {
        for path in [
            place.path(),
            &place.path().join("file"),
            &place.path().join("missing"),
        ] {
            let finished = ask(verb, path);
            finished.assert_code(1);
            assert_eq!(finished.output, "", "{}", finished.said());
            assert_eq!(
                finished.complaints.lines().count(),
                1,
                "{}",
                finished.said()
            );
            assert!(
                finished.complaints.contains(&*path.to_string_lossy()),
                "{}",
                finished.said()
            );
        }
    }
    let names: Vec<_> = std::fs::read_dir(place.path())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(names, ["file"], "something was made or removed");
}
