//! Recorded data is read back unchanged: from the log, and from Parquet to the nanosecond.

use std::fs;

use proptest::prelude::*;
use wakepath_archive::{
    ArchiveError, Ending, Event, LOG_NAME, LogWriter, PARQUET_NAME, Run, State, finish,
};
use wakepath_timeline::{Policy, Sample, SampleFlags};

use crate::made_up_run::{
    DUE, facts, run_started, sample, samples, segment_ended, segment_started, write,
};
use crate::scratch::Scratch;

wakepath_test_program::tests![
    a_run_reads_the_same_before_and_after_it_is_finished,
    what_the_loop_counted_as_skipped_is_in_the_manifest_and_adds_up,
    facts_and_proofs_keep_every_digit,
    a_thread_longer_than_a_row_group_comes_in_bounded_batches,
    a_log_that_is_being_written_can_be_read_up_to_its_last_block,
    asking_for_a_thread_that_is_not_there_is_told_so,
    a_new_run_does_not_move_into_a_directory_that_holds_files,
    a_sample_whose_due_time_is_not_its_cycles_is_refused,
    cycles_that_run_backwards_or_repeat_are_refused,
    samples_of_a_segment_that_never_started_are_refused,
    columns_that_nothing_measured_are_left_out_and_read_back_as_zero,
    events_of_a_later_version_are_skipped_and_not_refused,
    any_sample_survives_log_and_parquet_exactly,
    policies_are_written_in_words,
];

fn a_run_reads_the_same_before_and_after_it_is_finished() {
    let scratch = Scratch::new();
    write(&scratch.run(), 2, &[0, 1], 5_000);
    let log = Run::open(&scratch.run()).unwrap();
    assert_eq!(*log.state(), State::NotFinished);
    assert_eq!(log.check().unwrap(), []);
    let finished = finish(&scratch.run()).unwrap();
    let parquet = Run::open(&scratch.run()).unwrap();
    assert_eq!(*parquet.state(), State::Finished);
    assert_eq!(parquet.check().unwrap(), []);
    assert!(!scratch.run().join(LOG_NAME).exists());
    assert_eq!(parquet.manifest, finished);
    assert_eq!(parquet.manifest.recovered, None);
    assert_eq!(parquet.manifest.run_id, "20261103T101500Z-9f3a01bc");
    for segment in 0..2 {
        for thread in 0..2 {
            assert_eq!(
                parquet.samples(segment, thread).unwrap(),
                samples(segment, thread, 0..5_000)
            );
        }
    }
    // The log contains everything except the list of files.
    assert_eq!(finished.files.len(), 1);
    let without_files = wakepath_archive::Manifest {
        files: Vec::new(),
        ..finished
    };
    assert_eq!(log.manifest, without_files);
}

fn what_the_loop_counted_as_skipped_is_in_the_manifest_and_adds_up() {
    let skipped_by = |skipped| {
        let scratch = Scratch::new();
        let mut log = LogWriter::create(&scratch.run()).unwrap();
        log.append_event(&run_started(1)).unwrap();
        log.append_event(&segment_started(0, &[0], 100)).unwrap();
        let mut ran = samples(0, 0, 0..100);
        ran.retain(|sample| !(40..47).contains(&sample.cycle));
        log.append_samples(0, 0, &ran).unwrap();
        let Event::SegmentEnded(mut ended) = segment_ended(0, &[0], 93) else {
            unreachable!("it is one");
        };
        ended.threads[0].skipped = skipped;
        log.append_event(&Event::SegmentEnded(ended)).unwrap();
        log.end(Ending::Complete).unwrap();
        finish(&scratch.run()).unwrap();
        let run = Run::open(&scratch.run()).unwrap();
        let findings = run.check().unwrap();
        let findings: Vec<_> = findings.iter().map(ToString::to_string).collect();
        (run.manifest.segments[0].threads[0].skipped, findings)
    };
    assert_eq!(skipped_by(Some(7)), (Some(7), vec![]));
    assert_eq!(skipped_by(None), (None, vec![]));
    let (_, findings) = skipped_by(Some(6));
    assert!(
        findings[0].contains("100 cycles were due, only 99 are accounted for"),
        "{findings:?}"
    );
}

fn facts_and_proofs_keep_every_digit() {
    let scratch = Scratch::new();
    write(&scratch.run(), 1, &[0], 10);
    let manifest = finish(&scratch.run()).unwrap();
    assert_eq!(manifest.facts[0].facts["share"], 0.3333333333333333);
    assert_eq!(manifest.facts[0].facts["largest"], u64::MAX);
    let run = Run::open(&scratch.run()).unwrap();
    assert_eq!(run.manifest.segments[0].loads[0].work_done, 0.1 + 0.2);
}

fn a_thread_longer_than_a_row_group_comes_in_bounded_batches() {
    let scratch = Scratch::new();
    let cycles = 300_000;
    write(&scratch.run(), 1, &[3], cycles);
    finish(&scratch.run()).unwrap();
    let run = Run::open(&scratch.run()).unwrap();
    let batches: Vec<_> = run.batches(0, 3).unwrap().map(Result::unwrap).collect();
    assert_eq!(
        batches.iter().map(Vec::len).collect::<Vec<_>>(),
        [262_144, 37_856]
    );
    assert!(
        batches.concat() == samples(0, 3, 0..cycles),
        "the samples differ"
    );
}

fn a_log_that_is_being_written_can_be_read_up_to_its_last_block() {
    let scratch = Scratch::new();
    let mut log = LogWriter::create(&scratch.run()).unwrap();
    log.append_event(&run_started(1)).unwrap();
    log.append_event(&segment_started(0, &[0], 1_000)).unwrap();
    log.append_samples(0, 0, &samples(0, 0, 0..600)).unwrap();
    log.flush_block().unwrap();
    log.append_samples(0, 0, &samples(0, 0, 600..700)).unwrap();
    let run = Run::open(&scratch.run()).unwrap();
    let State::BeingWritten { by } = run.state() else {
        panic!("{:?}", run.state())
    };
    assert!(by.contains(&std::process::id().to_string()), "{by}");
    assert_eq!(run.samples(0, 0).unwrap(), samples(0, 0, 0..600));
    assert_eq!(run.manifest.ending, Ending::CutShort);
}

fn asking_for_a_thread_that_is_not_there_is_told_so() {
    let scratch = Scratch::new();
    write(&scratch.run(), 1, &[0], 10);
    let run = Run::open(&scratch.run()).unwrap();
    assert!(matches!(
        run.samples(0, 1),
        Err(ArchiveError::NoSuchThread { thread: 1, .. })
    ));
}

fn a_new_run_does_not_move_into_a_directory_that_holds_files() {
    let scratch = Scratch::new();
    fs::write(scratch.path().join("thesis.tex"), "precious").unwrap();
    let refused = LogWriter::create(scratch.path());
    assert!(matches!(
        refused,
        Err(ArchiveError::DirectoryNotEmpty { .. })
    ));
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
}

/// Writes one segment with these samples and tries to finish it.
fn finish_with(samples: &[Sample]) -> Result<(), ArchiveError> {
    let scratch = Scratch::new();
    let mut log = LogWriter::create(&scratch.run()).unwrap();
    log.append_event(&run_started(1)).unwrap();
    log.append_event(&segment_started(0, &[0], 1_000)).unwrap();
    log.append_samples(0, 0, samples).unwrap();
    log.append_event(&segment_ended(0, &[0], samples.len() as u64))
        .unwrap();
    log.end(Ending::Complete).unwrap();
    let result = finish(&scratch.run()).map(drop);
    assert_eq!(
        scratch.run().join(LOG_NAME).exists(),
        result.is_err(),
        "the log stays if refused"
    );
    result
}

fn a_sample_whose_due_time_is_not_its_cycles_is_refused() {
    let moved = Sample {
        due_ns: DUE.due_ns(4) + 1,
        ..sample(0, 0, 4)
    };
    let error = finish_with(&[sample(0, 0, 3), moved]).unwrap_err();
    assert!(matches!(error, ArchiveError::Inconsistent { .. }));
    assert!(
        error
            .to_string()
            .contains("cycle 4 was due at 5004000123 ns"),
        "{error}"
    );
}

fn cycles_that_run_backwards_or_repeat_are_refused() {
    for cycle in [3, 2] {
        let error = finish_with(&[sample(0, 0, 3), sample(0, 0, cycle)]).unwrap_err();
        assert!(
            error
                .to_string()
                .contains(&format!("cycle {cycle} comes after cycle 3"))
        );
    }
}

fn samples_of_a_segment_that_never_started_are_refused() {
    let scratch = Scratch::new();
    let mut log = LogWriter::create(&scratch.run()).unwrap();
    log.append_event(&run_started(1)).unwrap();
    log.append_samples(7, 0, &samples(7, 0, 0..5)).unwrap();
    log.end(Ending::Complete).unwrap();
    let error = finish(&scratch.run()).unwrap_err();
    assert!(
        error.to_string().contains("segments [7] have no start"),
        "{error}"
    );
}

fn columns_that_nothing_measured_are_left_out_and_read_back_as_zero() {
    let scratch = Scratch::new();
    let bare: Vec<_> = (0..100)
        .map(|cycle| {
            let due_ns = DUE.due_ns(cycle);
            Sample {
                cycle,
                due_ns,
                wake_ns: due_ns + 7,
                end_ns: due_ns + 7,
                ..Sample::default()
            }
        })
        .collect();
    let mut log = LogWriter::create(&scratch.run()).unwrap();
    log.append_event(&run_started(1)).unwrap();
    log.append_event(&segment_started(0, &[0], 100)).unwrap();
    log.append_samples(0, 0, &bare).unwrap();
    log.append_event(&segment_ended(0, &[0], 100)).unwrap();
    log.end(Ending::Complete).unwrap();
    finish(&scratch.run()).unwrap();
    let file = fs::read(scratch.run().join(PARQUET_NAME)).unwrap();
    let has = |name: &[u8]| file.windows(name.len()).any(|bytes| bytes == name);
    assert!(has(b"latency_ns") && !has(b"work_ns") && !has(b"cpu_time_ns"));
    assert_eq!(
        Run::open(&scratch.run()).unwrap().samples(0, 0).unwrap(),
        bare
    );
}

fn events_of_a_later_version_are_skipped_and_not_refused() {
    let later: Event = serde_json::from_str(r#"{"event": "coffee-break", "minutes": 15}"#).unwrap();
    assert_eq!(later, Event::Unknown);
    let more: Event = serde_json::from_str(r#"{"event": "note", "text": "a", "more": 1}"#).unwrap();
    assert_eq!(
        more,
        Event::Note {
            text: "a".to_owned()
        }
    );
    let event = facts(wakepath_archive::When::During);
    let text = serde_json::to_string(&event).unwrap();
    assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event);
}

prop_compose! {
    /// A cycle's step from the one before, its latency and execution time, and the rest.
    fn any_sample()(
        step in 1..1_000_u64,
        latency in prop_oneof![-2_000_000_000..2_000_000_000_i64, any::<i64>()],
        execution: i64, work_ns: u32, cpu_time_ns: u32, involuntary_switches: u16, cpu: u16,
        flags: u16,
    ) -> (u64, i64, i64, Sample) {
        let flags = SampleFlags(flags);
        let rest =
            Sample { work_ns, cpu_time_ns, involuntary_switches, cpu, flags, ..Sample::default() };
        (step, latency, execution, rest)
    }
}

fn in_order(made: Vec<(u64, i64, i64, Sample)>) -> Vec<Sample> {
    let mut cycle = 0;
    let place = |(step, latency, execution, rest)| {
        cycle += step;
        let due_ns = DUE.due_ns(cycle);
        let wake_ns = due_ns.wrapping_add_signed(latency);
        Sample {
            cycle,
            due_ns,
            wake_ns,
            end_ns: wake_ns.wrapping_add_signed(execution),
            ..rest
        }
    };
    made.into_iter().map(place).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]
    fn any_sample_survives_log_and_parquet_exactly(
        made in proptest::collection::vec(any_sample(), 0..200), splits in 1..50_usize,
    ) {
        let all = in_order(made);
        let scratch = Scratch::new();
        let mut log = LogWriter::create(&scratch.run()).unwrap();
        log.append_event(&run_started(1)).unwrap();
        log.append_event(&segment_started(0, &[9], 1_000_000)).unwrap();
        for piece in all.chunks(splits) {
            log.append_samples(0, 9, piece).unwrap();
            log.flush_block().unwrap();
        }
        log.append_event(&segment_ended(0, &[9], all.len() as u64)).unwrap();
        log.end(Ending::Complete).unwrap();
        prop_assert_eq!(Run::open(&scratch.run()).unwrap().samples(0, 9).unwrap(), all.clone());
        finish(&scratch.run()).unwrap();
        prop_assert_eq!(Run::open(&scratch.run()).unwrap().samples(0, 9).unwrap(), all);
    }
}

fn policies_are_written_in_words() {
    let text = serde_json::to_string(&Policy::Fifo { priority: 80 }).unwrap();
    assert_eq!(text, r#"{"policy":"fifo","priority":80}"#);
}
