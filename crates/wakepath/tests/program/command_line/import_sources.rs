//! Where an import's files come from, and how their form is known.

use super::import::{fixture, import};
use crate::started::{Finished, Place, binary};
use std::path::Path;
use std::process::Command;
use wakepath_archive::Run;

wakepath_test_program::tests![
    a_directory_is_a_series_and_what_is_no_such_file_is_named,
    packed_files_are_read,
    a_wrong_form_is_answered_with_the_right_one,
    files_of_two_forms_do_not_share_a_run,
    standard_input_is_a_file,
];

const GIVEN: [&str; 4] = ["--period", "1ms", "--policy", "FIFO 80"];

fn segments(run: &Path) -> usize {
    Run::open(run).unwrap().manifest.segments.len()
}

fn a_directory_is_a_series_and_what_is_no_such_file_is_named() {
    let place = Place::new();
    let series = place.path().join("series");
    std::fs::create_dir(&series).unwrap();
    for name in ["1.txt", "2.txt"] {
        std::fs::copy(fixture("cyclictest-h.txt"), series.join(name)).unwrap();
    }
    std::fs::write(series.join("README.md"), "Measured on Monday.\n").unwrap();
    let imported = import(&place, "run", "", &series, &GIVEN);
    imported.assert_code(0);
    let told = "passed over: 1 file of no form, or of another, such as";
    assert!(imported.output.contains(told), "{}", imported.said());
    assert!(imported.output.contains("README.md"), "{}", imported.said());
    assert_eq!(segments(&place.path().join("run")), 2);
}

fn packed_files_are_read() {
    let place = Place::new();
    let packed = fixture("cyclictest-h.txt.xz");
    import(&place, "run", "", &packed, &GIVEN).assert_code(0);
    assert_eq!(segments(&place.path().join("run")), 1);
    let whole = std::fs::read(&packed).unwrap();
    let cut = place.path().join("cut.xz");
    std::fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    refused(
        &import(&place, "cut", "", &cut, &GIVEN),
        "cut.xz: its xz data is truncated",
    );
}

fn refused(finished: &Finished, why: &str) {
    finished.assert_code(1);
    assert!(finished.complaints.contains(why), "{}", finished.said());
    let lines = finished.complaints.trim().lines().count();
    assert_eq!(lines, 1, "{}", finished.said());
}

fn a_wrong_form_is_answered_with_the_right_one() {
    let place = Place::new();
    let file = fixture("timerlat-hist.txt");
    let wrong = import(&place, "run", "cyclictest", &file, &GIVEN);
    refused(
        &wrong,
        "is of the form timerlat, as `rtla timerlat hist` writes it",
    );
    let letter = place.path().join("letter.txt");
    std::fs::write(&letter, "Dear reader,\n").unwrap();
    let unknown = import(&place, "run", "", &letter, &GIVEN);
    refused(&unknown, "letter.txt: is not a file that can be imported");
    refused(&unknown, "begins with `Dear reader,`");
    assert!(!place.path().join("run").exists(), "a directory was made");
}

fn files_of_two_forms_do_not_share_a_run() {
    let place = Place::new();
    let second = fixture("timerlat-hist.txt").display().to_string();
    let first = fixture("cyclictest-h.txt");
    let words = [&GIVEN[..], &[&second]].concat();
    refused(
        &import(&place, "run", "", &first, &words),
        "is of the form timerlat, and",
    );
}

fn standard_input_is_a_file() {
    let place = Place::new();
    let words = [
        "--directory",
        "run",
        "--period",
        "1ms",
        "--policy",
        "FIFO 80",
    ];
    let file = std::fs::File::open(fixture("cyclictest-h.txt")).unwrap();
    let output = Command::new(binary())
        .args(["import", "-"])
        .args(words)
        .current_dir(place.path())
        .stdin(file)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let run = Run::open(&place.path().join("run")).unwrap();
    let sources = &run.manifest.imported.as_ref().unwrap().sources;
    assert_eq!(sources[0].name, "standard input");
}
