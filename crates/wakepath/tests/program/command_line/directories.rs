//! Run directories that can't be used: refused before anything is measured, and left as they were.

use crate::started::{Finished, Place, Start, is_root, not_run};
use std::path::Path;

wakepath_test_program::tests![
    a_directory_with_files_is_refused_and_left_alone,
    a_file_in_its_place_is_refused,
    a_directory_that_can_not_be_made_is_named,
    a_directory_that_may_not_be_written_is_named,
];

fn run_into(place: Place, directory: &Path) -> Finished {
    Start::command_in(place, &["run", "quick", "--directory"])
        .with(&[directory])
        .finish()
}

#[track_caller]
fn assert_refused(finished: &Finished, expected: &[&str]) {
    finished.assert_code(1);
    assert_eq!(finished.errors().len(), 1, "{}", finished.said());
    for part in expected {
        assert!(
            finished.errors()[0].contains(part),
            "no {part:?}: {}",
            finished.said()
        );
    }
    assert_eq!(finished.output, "", "{}", finished.said());
    assert!(
        finished.took.as_secs() < 5,
        "it measured first: {:?}",
        finished.took
    );
}

fn a_directory_with_files_is_refused_and_left_alone() {
    let place = Place::new();
    let directory = place.path().join("mine");
    std::fs::create_dir(&directory).unwrap();
    std::fs::write(directory.join("thesis.txt"), "all of it").unwrap();
    let finished = run_into(place, &directory);
    assert_refused(&finished, &["mine", "already contains files", "empty"]);
    let names: Vec<_> = std::fs::read_dir(&directory)
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(names, ["thesis.txt"]);
    assert_eq!(
        std::fs::read_to_string(directory.join("thesis.txt")).unwrap(),
        "all of it"
    );
}

fn a_file_in_its_place_is_refused() {
    let place = Place::new();
    let file = place.path().join("a-file");
    std::fs::write(&file, "content").unwrap();
    let finished = run_into(place, &file);
    assert_refused(&finished, &["a-file"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "content");
}

fn a_directory_that_can_not_be_made_is_named() {
    let place = Place::new();
    assert_refused(
        &run_into(place, Path::new("/proc/wakepath-run")),
        &["/proc/wakepath-run"],
    );
}

fn a_directory_that_may_not_be_written_is_named() {
    if !is_root() {
        not_run(
            "a directory of another user",
            "only root may become another user",
        );
    }
    let foreign = Place::new();
    let directory = foreign.path().join("run");
    let place = Place::new();
    let finished = Start::command_in(place, &["run", "quick", "--directory"])
        .with(&[&directory])
        .by_user(65_534)
        .finish();
    assert_refused(&finished, &["run", "ermission"]);
    assert!(!directory.exists());
}
