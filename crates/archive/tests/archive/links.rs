//! Links and other people's directories: nothing outside of a run's directory is ever written, read
//! into it or removed, and root writes in nobody else's.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;

use wakepath_archive::{
    ArchiveError, LogWriter, Run, TraceDescription, TraceWriter, finish_in, recover, recover_in,
};
use wakepath_directory::{Directory, DirectoryError, Trust};
use wakepath_test_program::not_run;

use crate::made_up_run::{run_started, samples, segment_started, write};
use crate::scratch::Scratch;

wakepath_test_program::tests![
    a_recovery_writes_through_no_link_whatever_its_name,
    a_log_that_is_a_link_is_neither_recovered_nor_read,
    a_trace_is_written_in_the_place_of_a_link_and_a_pipe_keeps_nobody_waiting,
    root_writes_in_nobody_elses_directory_unless_it_is_trusted,
    a_directory_stays_the_one_that_was_opened_when_its_name_leads_elsewhere,
];

/// Every name under which a run's writer or its recovery makes a file.
const WRITTEN: [&str; 8] = [
    "manifest.json.partial",
    "samples.parquet.partial",
    "samples.parquet",
    "manifest.json",
    "samples.reserve",
    "samples.log.partial",
    "samples.log.damaged",
    "segment-0.events",
];

fn cut_short(directory: &Path) {
    let mut log = LogWriter::create(directory).unwrap();
    log.append_event(&run_started(1)).unwrap();
    log.append_event(&segment_started(0, &[0], 200)).unwrap();
    log.append_samples(0, 0, &samples(0, 0, 0..150)).unwrap();
    drop(log);
}

fn a_recovery_writes_through_no_link_whatever_its_name() {
    for name in WRITTEN {
        let scratch = Scratch::new();
        let outside = scratch.path().join("outside");
        fs::write(&outside, "mine").unwrap();
        cut_short(&scratch.run());
        symlink(&outside, scratch.run().join(name)).unwrap();
        let dangling = scratch.path().join("not there");
        let directory = Directory::to_write(&scratch.run(), Trust::Any).unwrap();
        let recovered = recover_in(&directory);
        assert_eq!(fs::read_to_string(&outside).unwrap(), "mine", "{name}");
        // A link in the place of the manifest or a trace is in the way; otherwise it is replaced.
        if let Ok(report) = recovered {
            assert_eq!(report.manifest.recorded(), 150, "{name}");
            assert_eq!(
                Run::open(&scratch.run())
                    .unwrap()
                    .samples(0, 0)
                    .unwrap()
                    .len(),
                150
            );
        } else {
            assert_eq!(
                Run::open(&scratch.run()).unwrap().manifest.recorded(),
                150,
                "{name}"
            );
        }
        assert!(!dangling.exists());
    }
}

fn a_log_that_is_a_link_is_neither_recovered_nor_read() {
    let scratch = Scratch::new();
    let elsewhere = scratch.path().join("elsewhere");
    cut_short(&elsewhere);
    fs::create_dir(scratch.run()).unwrap();
    symlink(
        elsewhere.join("samples.log"),
        scratch.run().join("samples.log"),
    )
    .unwrap();
    let error = recover(&scratch.run()).unwrap_err();
    assert!(
        error.to_string().contains("a link is in its place"),
        "{error}"
    );
    assert!(elsewhere.join("samples.log").exists());
    let error = Run::open(&scratch.run()).err().unwrap().to_string();
    assert!(error.contains("a link is in its place"), "{error}");
}

fn a_trace_is_written_in_the_place_of_a_link_and_a_pipe_keeps_nobody_waiting() {
    let scratch = Scratch::new();
    let outside = scratch.path().join("outside");
    fs::write(&outside, "mine").unwrap();
    fs::create_dir(scratch.run()).unwrap();
    symlink(&outside, scratch.run().join("segment-0.events")).unwrap();
    drop(TraceWriter::create(&scratch.run(), &TraceDescription::default()).unwrap());
    assert_eq!(fs::read_to_string(&outside).unwrap(), "mine");
    let pipe = scratch.run().join("samples.log");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if made.is_ok_and(|status| status.success()) {
        let error = recover(&scratch.run()).unwrap_err();
        assert!(error.to_string().contains("no plain file"), "{error}");
    }
}

fn root_writes_in_nobody_elses_directory_unless_it_is_trusted() {
    let scratch = Scratch::new();
    cut_short(&scratch.run());
    if chown(scratch.run(), Some(65_534), Some(65_534)).is_err() {
        not_run("the right to give a directory away is needed");
    }
    let refused = |error: ArchiveError| {
        assert!(
            matches!(
                error,
                ArchiveError::Directory(DirectoryError::NotOurs { .. })
            ),
            "{error}"
        );
        let said = error.to_string();
        assert!(
            said.contains("--trust-directory") && !said.contains('\n'),
            "{said}"
        );
    };
    refused(recover(&scratch.run()).unwrap_err());
    refused(
        TraceWriter::create(&scratch.run(), &TraceDescription::default())
            .err()
            .unwrap(),
    );
    chown(scratch.run(), Some(0), Some(0)).unwrap();
    fs::set_permissions(scratch.run(), fs::Permissions::from_mode(0o775)).unwrap();
    refused(recover(&scratch.run()).unwrap_err());
    let empty = scratch.path().join("empty");
    fs::create_dir(&empty).unwrap();
    fs::set_permissions(&empty, fs::Permissions::from_mode(0o1777)).unwrap();
    refused(LogWriter::create(&empty).unwrap_err());
    // Reading needs no trust, and a user who vouches for it can write.
    assert_eq!(Run::open(&scratch.run()).unwrap().manifest.recorded(), 150);
    let trusted = Directory::to_write(&scratch.run(), Trust::Any).unwrap();
    assert_eq!(recover_in(&trusted).unwrap().manifest.recorded(), 150);
}

fn a_directory_stays_the_one_that_was_opened_when_its_name_leads_elsewhere() {
    let scratch = Scratch::new();
    write(&scratch.run(), 1, &[0], 100);
    let directory = Directory::to_write(&scratch.run(), Trust::Own).unwrap();
    let (moved, theirs) = (scratch.path().join("moved"), scratch.path().join("theirs"));
    fs::rename(scratch.run(), &moved).unwrap();
    fs::create_dir(&theirs).unwrap();
    symlink(&theirs, scratch.run()).unwrap();
    finish_in(&directory).unwrap();
    assert_eq!(fs::read_dir(&theirs).unwrap().count(), 0);
    assert_eq!(Run::open(&moved).unwrap().samples(0, 0).unwrap().len(), 100);
}
