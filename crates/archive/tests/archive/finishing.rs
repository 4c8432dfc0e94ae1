//! Finishing a run: stopped at every step and repeated, refused if invalid, altered afterwards.

use std::fs;
use std::path::Path;

use wakepath_archive::{
    ArchiveError, LOG_NAME, LogWriter, MANIFEST_NAME, Manifest, PARQUET_NAME, Run, Step, finish,
    finish_until,
};

use crate::made_up_run::{run_started, samples, write, write_open};
use crate::scratch::{Scratch, copy_run};
use wakepath_test_program::not_run;

wakepath_test_program::tests![
    stopped_after_any_step_the_run_stays_readable_and_finishing_again_gives_the_same_bytes,
    half_written_files_of_an_earlier_attempt_are_written_anew,
    a_power_cut_that_kept_only_the_manifests_renaming_is_survived,
    a_finished_run_does_not_swallow_another_runs_log,
    a_run_without_an_end_is_not_finished_but_sent_to_recovery,
    a_run_that_is_being_recorded_is_not_finished_and_its_recorder_is_named,
    a_directory_without_a_run_is_told_apart,
    an_altered_shortened_grown_or_missing_samples_file_is_named,
    no_altered_byte_of_the_manifest_goes_unnoticed,
    a_lost_count_edited_by_hand_is_named_as_an_altered_manifest,
    the_manifests_seal_is_what_the_reference_says,
    a_manifest_of_a_later_format_is_refused_in_so_many_words,
];

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn stopped_after_any_step_the_run_stays_readable_and_finishing_again_gives_the_same_bytes() {
    let scratch = Scratch::new();
    write(&scratch.run(), 2, &[0, 1], 500);
    let straight = scratch.path().join("straight");
    copy_run(&scratch.run(), &straight);
    finish(&straight).unwrap();
    let steps = [
        Step::SamplesWritten,
        Step::ManifestWritten,
        Step::SamplesInPlace,
        Step::ManifestInPlace,
        Step::LogRemoved,
    ];
    for step in steps {
        let stopped = scratch.path().join(format!("{step:?}"));
        copy_run(&scratch.run(), &stopped);
        finish_until(&stopped, Some(step)).unwrap_err();
        let run = Run::open(&stopped).unwrap();
        assert_eq!(
            run.samples(1, 1).unwrap(),
            samples(1, 1, 0..500),
            "{step:?}"
        );
        finish(&stopped).unwrap();
        assert_eq!(names(&stopped), [MANIFEST_NAME, PARQUET_NAME], "{step:?}");
        for name in [MANIFEST_NAME, PARQUET_NAME] {
            let bytes = fs::read(stopped.join(name)).unwrap();
            assert!(
                bytes == fs::read(straight.join(name)).unwrap(),
                "{step:?}: {name} differs"
            );
        }
        finish(&stopped).expect("finishing a finished run verifies it");
    }
}

fn half_written_files_of_an_earlier_attempt_are_written_anew() {
    let scratch = Scratch::new();
    write(&scratch.run(), 1, &[0], 100);
    fs::write(
        scratch.run().join("samples.parquet.partial"),
        "PAR1 and then nothing",
    )
    .unwrap();
    fs::write(scratch.run().join("manifest.json.partial"), "{").unwrap();
    fs::write(scratch.run().join(PARQUET_NAME), "half").unwrap();
    finish(&scratch.run()).unwrap();
    assert_eq!(names(&scratch.run()), [MANIFEST_NAME, PARQUET_NAME]);
    assert_eq!(
        Run::open(&scratch.run()).unwrap().samples(0, 0).unwrap(),
        samples(0, 0, 0..100)
    );
}

fn a_power_cut_that_kept_only_the_manifests_renaming_is_survived() {
    let scratch = Scratch::new();
    write(&scratch.run(), 1, &[0], 100);
    finish_until(&scratch.run(), Some(Step::ManifestInPlace)).unwrap_err();
    fs::remove_file(scratch.run().join(PARQUET_NAME)).unwrap();
    let run = Run::open(&scratch.run()).unwrap();
    assert_eq!(run.samples(0, 0).unwrap(), samples(0, 0, 0..100));
    finish(&scratch.run()).unwrap();
    assert_eq!(names(&scratch.run()), [MANIFEST_NAME, PARQUET_NAME]);
}

fn a_finished_run_does_not_swallow_another_runs_log() {
    let scratch = Scratch::new();
    write(&scratch.run(), 1, &[0], 100);
    let other = scratch.path().join("other");
    let mut log = LogWriter::create(&other).unwrap();
    let mut started = run_started(1);
    if let wakepath_archive::Event::RunStarted(started) = &mut started {
        started.run_id = "another-run".to_owned();
    }
    log.append_event(&started).unwrap();
    log.end(wakepath_archive::Ending::Complete).unwrap();
    finish(&scratch.run()).unwrap();
    fs::copy(other.join(LOG_NAME), scratch.run().join(LOG_NAME)).unwrap();
    let error = finish(&scratch.run()).unwrap_err();
    assert!(
        error.to_string().contains("its log is of run another-run"),
        "{error}"
    );
    assert!(scratch.run().join(LOG_NAME).exists());
}

fn a_run_without_an_end_is_not_finished_but_sent_to_recovery() {
    let scratch = Scratch::new();
    let mut log = write_open(&scratch.run(), 1, &[0], 100);
    log.sync().unwrap();
    drop(log);
    let error = finish(&scratch.run()).unwrap_err();
    assert!(matches!(error, ArchiveError::NotEnded { .. }));
    assert!(error.to_string().contains("wakepath recover"), "{error}");
}

fn a_run_that_is_being_recorded_is_not_finished_and_its_recorder_is_named() {
    let scratch = Scratch::new();
    let log = write_open(&scratch.run(), 1, &[0], 100);
    let error = finish(&scratch.run()).unwrap_err();
    let ArchiveError::InUse { holder, .. } = &error else {
        panic!("{error}")
    };
    assert!(
        holder.contains(&format!("process {}", std::process::id())),
        "{holder}"
    );
    drop(log);
}

fn a_directory_without_a_run_is_told_apart() {
    let scratch = Scratch::new();
    assert!(matches!(
        finish(scratch.path()),
        Err(ArchiveError::NotARun { .. })
    ));
    assert!(matches!(
        Run::open(scratch.path()),
        Err(ArchiveError::NotARun { .. })
    ));
}

/// Alters a finished run and gives the error of opening it.
fn open_after(alter: impl Fn(&Path)) -> ArchiveError {
    let scratch = Scratch::new();
    write(&scratch.run(), 1, &[0], 1_000);
    finish(&scratch.run()).unwrap();
    alter(&scratch.run());
    match Run::open(&scratch.run()) {
        Ok(_) => panic!("an altered run opens"),
        Err(error) => error,
    }
}

fn an_altered_shortened_grown_or_missing_samples_file_is_named() {
    let alter = |change: fn(&mut Vec<u8>)| {
        open_after(move |run| {
            let mut bytes = fs::read(run.join(PARQUET_NAME)).unwrap();
            change(&mut bytes);
            fs::write(run.join(PARQUET_NAME), bytes).unwrap();
        })
        .to_string()
    };
    assert!(alter(|b| b[100] ^= 1).contains("samples.parquet was altered"));
    assert!(alter(|b| b.truncate(b.len() - 1)).contains("samples.parquet is cut short"));
    assert!(alter(|b| b.push(0)).contains("samples.parquet has grown"));
    let missing = open_after(|run| fs::remove_file(run.join(PARQUET_NAME)).unwrap());
    assert!(
        missing.to_string().contains("samples.parquet is missing"),
        "{missing}"
    );
}

fn no_altered_byte_of_the_manifest_goes_unnoticed() {
    let scratch = Scratch::new();
    write(&scratch.run(), 1, &[0], 10);
    finish(&scratch.run()).unwrap();
    let bytes = fs::read(scratch.run().join(MANIFEST_NAME)).unwrap();
    let path = Path::new("run/manifest.json");
    assert!(Manifest::from_bytes(&bytes, path).is_ok());
    for at in 0..bytes.len() {
        let mut altered = bytes.clone();
        altered[at] ^= 1;
        assert!(Manifest::from_bytes(&altered, path).is_err(), "byte {at}");
        assert!(
            Manifest::from_bytes(&bytes[..at], path).is_err(),
            "cut at {at}"
        );
    }
}

fn a_lost_count_edited_by_hand_is_named_as_an_altered_manifest() {
    let error = open_after(|run| {
        let text = fs::read_to_string(run.join(MANIFEST_NAME)).unwrap();
        let edited = text.replace("\"recorded\": 1000", "\"recorded\": 1001");
        assert_ne!(text, edited);
        fs::write(run.join(MANIFEST_NAME), edited).unwrap();
    });
    assert!(
        error.to_string().contains("manifest.json was altered"),
        "{error}"
    );
}

fn the_manifests_seal_is_what_the_reference_says() {
    let scratch = Scratch::new();
    write(&scratch.run(), 1, &[0], 10);
    finish(&scratch.run()).unwrap();
    let bytes = fs::read(scratch.run().join(MANIFEST_NAME)).unwrap();
    // `head -c -83 manifest.json | sha256sum`
    let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let content = scratch.path().join("content");
    fs::write(&content, &bytes[..bytes.len() - 83]).unwrap();
    match std::process::Command::new("sha256sum")
        .arg(&content)
        .output()
    {
        Ok(output) => {
            let said = String::from_utf8(output.stdout).unwrap();
            assert_eq!(said.split(' ').next().unwrap(), value["sha256"]);
        }
        Err(error) => not_run(format!("no sha256sum here to compare with ({error})")),
    }
}

fn a_manifest_of_a_later_format_is_refused_in_so_many_words() {
    let error = open_after(|run| {
        fs::write(
            run.join(MANIFEST_NAME),
            r#"{"format_version": 9, "all": "else differs"}"#,
        )
        .unwrap();
    });
    assert!(
        matches!(error, ArchiveError::NewerFormat { found: 9, .. }),
        "{error}"
    );
}
