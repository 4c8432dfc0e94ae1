//! Recovery: a run that was cut short becomes readable, and its missing parts are reported.

use std::fs;

use wakepath_archive::{
    ArchiveError, Ending, Event, Finding, LOG_NAME, LogReader, LogWriter, Run, State, TailKind,
    discard_in, recover,
};
use wakepath_directory::{Directory, Trust};

use crate::made_up_run::{run_started, samples, segment_ended, segment_started, write, write_open};
use crate::scratch::Scratch;

wakepath_test_program::tests![
    a_run_cut_short_becomes_readable_and_says_what_is_missing,
    a_log_with_a_hole_is_recovered_around_it_and_kept,
    a_run_that_ended_and_was_not_converted_is_finished_without_a_mark,
    a_run_that_is_being_recorded_is_left_alone_and_its_recorder_named,
    a_run_stopped_before_its_first_event_is_said_to_be_empty_and_is_removed,
    a_run_of_which_anything_was_recorded_is_never_discarded,
    a_log_that_ends_a_segment_which_never_started_is_read_and_its_lack_is_said,
    a_block_that_contradicts_the_log_is_left_out_and_the_rest_is_read,
    a_log_whose_first_event_is_damaged_is_refused_and_kept,
    a_run_stopped_by_its_user_ended_by_itself_and_needs_no_recovery,
];

/// Writes a run of three planned segments that stops in the second.
fn write_cut_short(directory: &std::path::Path) {
    let mut log = LogWriter::create(directory).unwrap();
    log.append_event(&run_started(3)).unwrap();
    log.append_event(&segment_started(0, &[0], 200)).unwrap();
    log.append_samples(0, 0, &samples(0, 0, 0..200)).unwrap();
    log.append_event(&segment_ended(0, &[0], 200)).unwrap();
    log.append_event(&segment_started(1, &[0], 200)).unwrap();
    log.append_samples(1, 0, &samples(1, 0, 0..150)).unwrap();
    log.sync().unwrap();
}

/// The bytes of a log without its end.
fn log_of(directory: &std::path::Path, write: impl FnOnce(&mut LogWriter)) -> Vec<u8> {
    let mut log = LogWriter::create(directory).unwrap();
    write(&mut log);
    drop(log);
    fs::read(directory.join(LOG_NAME)).unwrap()
}

/// Appends an event's block by hand, because a writer would refuse it.
fn append_event(log: &mut Vec<u8>, sequence: u64, event: &Event) {
    let payload = serde_json::to_vec(event).unwrap();
    let (kind, length) = ([1, 0, 0, 0], (payload.len() as u32).to_le_bytes());
    let sequence = sequence.to_le_bytes();
    let crc = crc32fast::hash(&[&kind[..], &length, &sequence, &payload].concat());
    log.extend([0xb7, b'W', b'K', 0x9e]);
    log.extend(kind);
    log.extend(length);
    log.extend(crc.to_le_bytes());
    log.extend(sequence);
    log.extend(payload);
}

fn run_failed() -> Event {
    Event::RunEnded {
        ending: Ending::Failed {
            reason: "the disk is full".to_owned(),
        },
    }
}

fn a_run_cut_short_becomes_readable_and_says_what_is_missing() {
    let scratch = Scratch::new();
    write_cut_short(&scratch.run());
    let log = scratch.run().join(LOG_NAME);
    let mut bytes = fs::read(&log).unwrap();
    bytes.extend_from_slice(&[0xb7, b'W', b'K', 0x9e, 2, 0]);
    fs::write(&log, &bytes).unwrap();
    let report = recover(&scratch.run()).unwrap();
    let missing = report.manifest.recovered.clone().unwrap();
    assert!(!missing.end_recorded);
    assert_eq!(missing.damage.tail.unwrap().kind, TailKind::Torn);
    assert_eq!(missing.damage.tail.unwrap().bytes, 6);
    assert_eq!(missing.segments_without_end, [1]);
    assert_eq!(missing.segments_never_started, [2]);
    assert_eq!(report.manifest.ending, Ending::CutShort);
    let text = report.to_string();
    assert!(
        text.contains("150 of 200 expected samples are there"),
        "{text}"
    );
    assert!(
        text.contains("1 of 3 planned segments never started"),
        "{text}"
    );
    let run = Run::open(&scratch.run()).unwrap();
    assert_eq!(*run.state(), State::Finished);
    assert_eq!(run.samples(0, 0).unwrap(), samples(0, 0, 0..200));
    assert_eq!(run.samples(1, 0).unwrap(), samples(1, 0, 0..150));
    assert_eq!(run.manifest.thread(1, 0).unwrap().lost, None);
    let findings = run.check().unwrap();
    assert!(findings.contains(&Finding::Incomplete));
    assert!(
        findings
            .iter()
            .any(|f| f.to_string().contains("segment 1, thread 0")),
        "{findings:?}"
    );
    assert!(!log.exists(), "a torn tail holds nothing worth keeping");
}

fn a_log_with_a_hole_is_recovered_around_it_and_kept() {
    let scratch = Scratch::new();
    write(&scratch.run(), 2, &[0], 3_000);
    let path = scratch.run().join(LOG_NAME);
    let mut reader = LogReader::new(std::fs::File::open(&path).unwrap(), &path).unwrap();
    let mut offsets = Vec::new();
    while let Some(block) = reader.next_block().unwrap() {
        offsets.push(block.offset as usize);
    }
    let mut bytes = fs::read(&path).unwrap();
    // Blocks: 0 start, 1 facts, 2 segment, 3–5 its samples, 6 its end, 7 segment, 8–10, 11, 12, 13.
    bytes[offsets[4] + 200] ^= 4;
    bytes[offsets[7] + 50] ^= 4;
    fs::write(&path, &bytes).unwrap();
    let report = recover(&scratch.run()).unwrap();
    let missing = report.manifest.recovered.clone().unwrap();
    assert!(missing.end_recorded);
    let lost: Vec<_> = missing
        .damage
        .gaps
        .iter()
        .map(|gap| gap.first_lost_block)
        .collect();
    assert_eq!(lost, [4, 7]);
    assert_eq!(missing.samples_without_segment, 3_000);
    assert_eq!(missing.kept_log.as_deref(), Some("samples.log.damaged"));
    assert_eq!(
        fs::read(scratch.run().join("samples.log.damaged")).unwrap(),
        bytes
    );
    let run = Run::open(&scratch.run()).unwrap();
    let left = run.samples(0, 0).unwrap();
    assert_eq!(
        left,
        [samples(0, 0, 0..1_365), samples(0, 0, 2_730..3_000)].concat()
    );
    let findings = run.check().unwrap();
    let told = "the recorder appended 3000 samples, 1635 are there";
    assert!(
        findings
            .iter()
            .any(|finding| finding.to_string().contains(told)),
        "{findings:?}"
    );
}

fn a_run_that_ended_and_was_not_converted_is_finished_without_a_mark() {
    let scratch = Scratch::new();
    write(&scratch.run(), 1, &[0], 100);
    let report = recover(&scratch.run()).unwrap();
    assert_eq!(report.manifest.recovered, None);
    assert!(!report.was_finished);
    assert!(report.to_string().contains("nothing is missing"));
    let again = recover(&scratch.run()).unwrap();
    assert!(again.was_finished);
    assert_eq!(again.manifest, report.manifest);
}

fn a_run_that_is_being_recorded_is_left_alone_and_its_recorder_named() {
    let scratch = Scratch::new();
    let mut log = write_open(&scratch.run(), 1, &[0], 100);
    log.flush_block().unwrap();
    let before = fs::read(scratch.run().join(LOG_NAME)).unwrap();
    let error = recover(&scratch.run()).unwrap_err();
    let ArchiveError::InUse { holder, .. } = &error else {
        panic!("{error}")
    };
    assert!(holder.contains(&std::process::id().to_string()), "{holder}");
    assert_eq!(fs::read(scratch.run().join(LOG_NAME)).unwrap(), before);
}

fn a_run_stopped_before_its_first_event_is_said_to_be_empty_and_is_removed() {
    let header = {
        let scratch = Scratch::new();
        drop(LogWriter::create(&scratch.run()).unwrap());
        fs::read(scratch.run().join(LOG_NAME)).unwrap()
    };
    let torn = [&header[..], &[0xb7, b'W', b'K', 0x9e, 1, 0]].concat();
    for log in [&header[..], &header[..5], &[], &[0; 4096], &torn] {
        let scratch = Scratch::new();
        fs::create_dir(scratch.run()).unwrap();
        fs::write(scratch.run().join(LOG_NAME), log).unwrap();
        fs::write(scratch.run().join("samples.reserve"), "x").unwrap();
        fs::write(scratch.run().join("mine.txt"), "x").unwrap();
        let error = recover(&scratch.run()).unwrap_err();
        assert!(
            matches!(error, ArchiveError::NothingRecorded { .. }),
            "{} bytes: {error}",
            log.len()
        );
        let directory = Directory::to_write(&scratch.run(), Trust::Own).unwrap();
        discard_in(&directory).unwrap();
        assert_eq!(directory.names().unwrap(), ["mine.txt"]);
    }
}

fn a_run_of_which_anything_was_recorded_is_never_discarded() {
    let scratch = Scratch::new();
    write_cut_short(&scratch.run());
    let directory = Directory::to_write(&scratch.run(), Trust::Own).unwrap();
    discard_in(&directory).unwrap_err();
    assert!(directory.holds(LOG_NAME));
}

fn a_log_that_ends_a_segment_which_never_started_is_read_and_its_lack_is_said() {
    let scratch = Scratch::new();
    // As a disk left it that filled between two segments, until the writer learnt not to.
    let mut bytes = log_of(&scratch.run(), |log| {
        log.append_event(&run_started(2)).unwrap();
        log.append_event(&segment_started(0, &[0], 200)).unwrap();
        log.append_samples(0, 0, &samples(0, 0, 0..200)).unwrap();
        log.append_event(&segment_ended(0, &[0], 200)).unwrap();
    });
    for (number, event) in [segment_ended(1, &[0], 0), run_failed()].iter().enumerate() {
        append_event(&mut bytes, 4 + number as u64, event);
    }
    fs::write(scratch.run().join(LOG_NAME), bytes).unwrap();

    let run = Run::open(&scratch.run()).unwrap();
    assert_eq!(run.samples(0, 0).unwrap(), samples(0, 0, 0..200));
    let report = recover(&scratch.run()).unwrap();
    let missing = report.manifest.recovered.clone().unwrap();
    assert_eq!(missing.segments_without_start, [1]);
    assert!(
        report.to_string().contains("the start of segment 1"),
        "{report}"
    );
    let run = Run::open(&scratch.run()).unwrap();
    assert_eq!(run.samples(0, 0).unwrap(), samples(0, 0, 0..200));
    assert!(recover(&scratch.run()).unwrap().was_finished);
}

fn a_block_that_contradicts_the_log_is_left_out_and_the_rest_is_read() {
    let scratch = Scratch::new();
    let mut bytes = log_of(&scratch.run(), |log| {
        log.append_event(&run_started(2)).unwrap();
        log.append_event(&segment_started(0, &[0], 200)).unwrap();
        log.append_samples(0, 0, &samples(0, 0, 0..100)).unwrap();
        log.flush_block().unwrap();
    });
    let again = [run_started(2), segment_started(0, &[0], 7)];
    for (number, event) in again.iter().enumerate() {
        append_event(&mut bytes, 3 + number as u64, event);
    }
    append_event(&mut bytes, 5, &segment_started(1, &[0], 300));
    append_event(&mut bytes, 6, &segment_ended(1, &[0], 300));
    fs::write(scratch.run().join(LOG_NAME), &bytes).unwrap();
    let report = recover(&scratch.run()).unwrap();
    let missing = report.manifest.recovered.clone().unwrap();
    assert_eq!(missing.contradictions.blocks, 2);
    let first = missing.contradictions.first.unwrap();
    assert!(first.contains("the run starts a second time"), "{first}");
    let run = Run::open(&scratch.run()).unwrap();
    assert_eq!(run.samples(0, 0).unwrap(), samples(0, 0, 0..100));
    assert!(run.manifest.segments[1].ended);
    let kept = fs::read(scratch.run().join("samples.log.damaged")).unwrap();
    assert!(kept == bytes, "the log is kept as it was found");
}

fn a_log_whose_first_event_is_damaged_is_refused_and_kept() {
    let scratch = Scratch::new();
    write(&scratch.run(), 1, &[0], 100);
    let path = scratch.run().join(LOG_NAME);
    let mut bytes = fs::read(&path).unwrap();
    bytes[60] ^= 1;
    fs::write(&path, bytes).unwrap();
    let error = recover(&scratch.run()).unwrap_err();
    assert!(
        error.to_string().contains("the run can't be read"),
        "{error}"
    );
    assert!(scratch.run().join(LOG_NAME).exists());
}

fn a_run_stopped_by_its_user_ended_by_itself_and_needs_no_recovery() {
    let scratch = Scratch::new();
    let log = write_open(&scratch.run(), 1, &[0], 100);
    log.end(Ending::Interrupted).unwrap();
    let manifest = wakepath_archive::finish(&scratch.run()).unwrap();
    assert_eq!(manifest.ending, Ending::Interrupted);
    assert_eq!(manifest.recovered, None);
}
