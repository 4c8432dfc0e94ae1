//! Runs and archives as an enemy makes them: each is refused in one line, and nothing is added.

use crate::scratch::{Scratch, board, nobody};
use std::os::unix::fs::symlink;
use std::path::Path;
use wakepath_fleet_archive::{add, catalogue};
use wakepath_fleet_made_up::MadeUp;

/// The error for a run; the archive must be unchanged.
fn refused(scratch: &Scratch, run: &Path) -> String {
    let store = scratch.store();
    let before = scratch.files();
    let error = add(&store, run, &board(), &nobody())
        .expect_err("it is refused")
        .to_string();
    assert_eq!(scratch.files(), before, "{error}");
    assert!(!error.contains('\n'), "{error}");
    error
}

#[test]
fn names_that_lead_out_of_the_archive_are_refused() {
    for name in ["../../etc/cron.d/x", "..", "a/b", ".hidden", "a\nb", ""] {
        let scratch = Scratch::new();
        let directory = scratch.path().join("run");
        MadeUp {
            run_id: name.to_owned(),
            ..MadeUp::number(1)
        }
        .write(&directory);
        let said = refused(&scratch, &directory);
        assert!(said.contains("none of wakepath's"), "{said}");
    }
}

#[test]
fn links_and_pipes_in_a_run_are_refused_before_anything_is_read() {
    let scratch = Scratch::new();
    let directory = scratch.run(&MadeUp::number(1));
    symlink("/etc/hostname", directory.join("explanation.json")).unwrap();
    assert!(refused(&scratch, &directory).contains("a link leads elsewhere"));
    let directory = scratch.run(&MadeUp::number(2));
    let samples = directory.join("samples.parquet");
    std::fs::rename(&samples, scratch.path().join("moved")).unwrap();
    symlink(scratch.path().join("moved"), samples).unwrap();
    assert!(refused(&scratch, &directory).contains("a link leads elsewhere"));
}

#[test]
fn a_run_that_was_altered_cut_or_never_ended_is_refused() {
    let scratch = Scratch::new();
    let directory = scratch.run(&MadeUp::number(1));
    let samples = directory.join("samples.parquet");
    let mut bytes = std::fs::read(&samples).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&samples, &bytes).unwrap();
    assert!(refused(&scratch, &directory).contains("altered"));
    std::fs::write(&samples, &bytes[..middle]).unwrap();
    assert!(refused(&scratch, &directory).contains("cut short"));
    let said = refused(&scratch, &scratch.path().join("nowhere"));
    assert!(said.contains("nowhere"), "{said}");
    std::fs::create_dir(scratch.path().join("empty")).unwrap();
    refused(&scratch, &scratch.path().join("empty"));
}

#[test]
fn a_run_that_claims_billions_of_due_times_is_refused_at_once() {
    let scratch = Scratch::new();
    let directory = scratch.run(&MadeUp::number(1));
    // With a new digest, as a forger would write it.
    let path = directory.join("manifest.json");
    let mut manifest = wakepath_archive::Manifest::read(&directory).unwrap();
    manifest.segments[0].threads[0].expected = 1 << 40;
    std::fs::write(&path, manifest.to_bytes()).unwrap();
    let said = refused(&scratch, &directory);
    assert!(
        said.contains("more than 5000000 of its due times have no sample"),
        "{said}"
    );
}

#[test]
fn a_manifest_that_counts_otherwise_than_its_samples_is_refused() {
    let scratch = Scratch::new();
    let directory = scratch.run(&MadeUp::number(1));
    let mut manifest = wakepath_archive::Manifest::read(&directory).unwrap();
    let thread = &mut manifest.segments[0].threads[0];
    thread.recorded -= 1;
    let there = thread.recorded + 1;
    std::fs::write(directory.join("manifest.json"), manifest.to_bytes()).unwrap();
    let said = refused(&scratch, &directory);
    let expected = format!("{there} samples are there instead of {}", there - 1);
    assert!(said.contains(&expected), "{said}");
}

#[test]
fn a_record_that_is_damaged_moved_or_forged_is_said_and_nothing_is_answered() {
    let scratch = Scratch::new();
    scratch.added(&MadeUp::number(1));
    let record = scratch.path().join("archive/runs/2026-00000001.json");
    let whole = std::fs::read_to_string(&record).unwrap();
    std::fs::remove_file(&record).unwrap();
    let forged = [
        (
            whole[..whole.len() / 2].to_owned(),
            "is not a record of a run",
        ),
        (
            whole.replace("\"format\":1", "\"format\":2"),
            "is of form 2",
        ),
        (
            whole.replacen("2026-00000001", "2026-00000002", 1),
            "is not named by the run",
        ),
        (
            whole.replacen("pi5-07", "../x", 1),
            "is not a name of a board",
        ),
        ("[".repeat(100_000), "is not a record of a run"),
    ];
    for (text, expected) in forged {
        std::fs::write(&record, text).unwrap();
        let said = catalogue(&scratch.store())
            .map(drop)
            .unwrap_err()
            .to_string();
        assert!(said.contains(expected), "{said}");
        assert!(!said.contains('\n'), "{said}");
    }
    std::fs::remove_file(&record).unwrap();
    symlink("/etc/hostname", &record).unwrap();
    let said = catalogue(&scratch.store())
        .map(drop)
        .unwrap_err()
        .to_string();
    assert!(said.contains("it is a link"), "{said}");
}
