//! Archives written by every earlier version of the format, kept as files: they stay readable.

use std::path::{Path, PathBuf};

use wakepath_archive::{Ending, Run, State};

use crate::made_up_run::{samples, write};
use crate::scratch::{Scratch, copy_run};

wakepath_test_program::tests![
    format_1_is_read_as_a_log_and_as_a_finished_run,
    a_format_1_log_can_still_be_finished,
    format_2_is_an_imported_histogram,
    what_is_measured_is_still_written_in_format_1;
    write_the_fixture,
];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/format-1")
        .join(name)
}

fn format_1_is_read_as_a_log_and_as_a_finished_run() {
    for (name, state) in [("log", State::NotFinished), ("finished", State::Finished)] {
        let run = Run::open(&fixture(name)).unwrap();
        assert_eq!(*run.state(), state);
        assert_eq!(run.manifest.format_version, 1);
        assert_eq!(run.manifest.ending, Ending::Complete);
        assert_eq!(run.manifest.segments[1].condition, "FIFO 80, idle, 1");
        assert_eq!(run.check().unwrap(), []);
        for (segment, thread) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let found = run.samples(segment, thread).unwrap();
            assert_eq!(found, samples(segment, thread, 0..40), "{name}");
        }
    }
}

fn a_format_1_log_can_still_be_finished() {
    let scratch = Scratch::new();
    copy_run(&fixture("log"), &scratch.run());
    wakepath_archive::finish(&scratch.run()).unwrap();
    let run = Run::open(&scratch.run()).unwrap();
    assert_eq!(run.samples(1, 1).unwrap(), samples(1, 1, 0..40));
}

/// Writes the fixture of the present format; run once per format version.
fn write_the_fixture() {
    write(&fixture("log"), 2, &[0, 1], 40);
    copy_run(&fixture("log"), &fixture("finished"));
    wakepath_archive::finish(&fixture("finished")).unwrap();
}

fn format_2_is_an_imported_histogram() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/format-2/finished");
    let run = Run::open(&directory).unwrap();
    assert_eq!(run.manifest.format_version, 2);
    assert_eq!(run.check().unwrap(), []);
    let imported = run.manifest.imported.as_ref().unwrap();
    assert_eq!(imported.form, "cyclictest-json");
    let histogram = imported.histogram(0, 1).unwrap();
    assert_eq!(
        (histogram.count(), histogram.max_ns),
        (3000, Some(14_893_000))
    );
    assert_eq!(run.samples(0, 1).unwrap(), []);
}

fn what_is_measured_is_still_written_in_format_1() {
    let scratch = Scratch::new();
    write(&scratch.run(), 1, &[0], 40);
    wakepath_archive::finish(&scratch.run()).unwrap();
    assert_eq!(
        Run::open(&scratch.run()).unwrap().manifest.format_version,
        1
    );
}
