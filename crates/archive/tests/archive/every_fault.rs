//! Makes every file operation of a run, its recovery or its removal fail.
//!
//! One after the other: the first, the second, until one passes without a failure; once, and from
//! then on; by a full disk, a broken one, a partial write. In every case earlier data can be read,
//! recovery works, and a second recovery finds the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use wakepath_archive::{
    ArchiveError, Ending, Event, LogWriter, MANIFEST_NAME, Manifest, Run, SegmentTraced, Trace,
    TraceDescription, TraceEnd, TraceWriter, When, discard_in, finish_in, recover, recover_in,
};
use wakepath_directory::{Directory, Fault, Faults, Operation, Trust};
use wakepath_timeline::{KernelEvent, Sample, What};

use crate::made_up_run::{facts, run_started, samples, segment_ended, segment_started};
use crate::scratch::{Scratch, copy_run};

wakepath_test_program::tests![
    a_run_on_a_disk_that_is_full_at_any_operation_loses_nothing_written,
    a_run_on_a_disk_that_breaks_at_any_operation_loses_nothing_written,
    a_run_whose_writes_are_cut_short_anywhere_loses_nothing_written,
    a_recovery_whose_disk_fails_anywhere_leaves_the_run_readable_and_can_be_repeated,
    a_log_that_is_written_anew_takes_the_old_ones_place_whole_or_not_at_all,
    what_is_put_in_place_is_the_old_one_or_the_new_one,
];

/// Segment, thread and number of cycles; the first is longer than one block.
const STREAMS: [(u32, u16, u64); 3] = [(0, 0, 1_500), (0, 1, 40), (1, 0, 60)];

/// Runs `attempt` with every operation failing in turn; returns the number of operations of a
/// complete attempt, and how many were made to fail.
fn fail_each(fault: Fault, mut attempt: impl FnMut(std::sync::Arc<Faults>, &str)) -> (u64, u64) {
    let (mut operations, mut injected) = (0, 0);
    for lasting in [false, true] {
        for at in 1.. {
            let faults = Faults::new(fault, at, lasting);
            let what = format!("{fault:?} at operation {at}, lasting: {lasting}");
            attempt(faults.clone(), &what);
            operations = faults.seen();
            if faults.failed().is_empty() {
                break;
            }
            injected += 1;
        }
    }
    (operations, injected)
}

/// Samples that the writer reported as written to the log, and as synced to disk.
#[derive(Default)]
struct Acknowledged {
    appended: BTreeMap<(u32, u16), u64>,
    flushed: BTreeMap<(u32, u16), u64>,
    synced: BTreeMap<(u32, u16), u64>,
    has_begun: bool,
    traced: u64,
}

/// Writes and finishes a run as a recorder does, which continues after every failure. The disk can
/// fail anywhere.
fn write_run(directory: &Directory) -> Acknowledged {
    let mut known = Acknowledged::default();
    let Ok(mut log) = LogWriter::create_in(directory) else {
        return known;
    };
    known.has_begun = log.append_event(&run_started(2)).is_ok();
    let _ = log.append_event(&facts(When::Before));
    for segment in 0..2 {
        let mine = || STREAMS.iter().filter(move |stream| stream.0 == segment);
        let threads: Vec<u16> = mine().map(|stream| stream.1).collect();
        let _ = log.append_event(&segment_started(segment, &threads, 1_500));
        let trace = (segment == 1).then(|| write_trace(directory, &mut known));
        for &(_, thread, cycles) in mine() {
            for first in (0..cycles).step_by(100) {
                let now = first..(first + 100).min(cycles);
                if log
                    .append_samples(segment, thread, &samples(segment, thread, now.clone()))
                    .is_ok()
                {
                    known.appended.insert((segment, thread), now.end);
                }
            }
        }
        if log.flush_block().is_ok() {
            known.flushed.clone_from(&known.appended);
        }
        if segment == 0 && log.sync().is_ok() {
            known.synced.clone_from(&known.flushed);
        }
        if trace == Some(true) {
            let _ = log.append_event(&Event::SegmentTraced(SegmentTraced {
                segment,
                ..SegmentTraced::default()
            }));
        }
        let recorded = known.appended.get(&(segment, 0)).copied().unwrap_or(0);
        let _ = log.append_event(&segment_ended(segment, &threads, recorded));
    }
    let failed = log.append_event(&facts(When::After)).is_err();
    let ending = if failed {
        Ending::Failed {
            reason: "the disk failed".to_owned(),
        }
    } else {
        Ending::Complete
    };
    if log.end(ending).is_ok() {
        known.synced.clone_from(&known.flushed);
    }
    let _ = finish_in(directory);
    known
}

fn write_trace(directory: &Directory, known: &mut Acknowledged) -> bool {
    let description = TraceDescription {
        segment: 1,
        cpus: vec![0],
        ..TraceDescription::default()
    };
    let Ok(mut trace) = TraceWriter::create_in(directory, &description) else {
        return false;
    };
    for at_ns in 0..50 {
        let event = KernelEvent {
            at_ns,
            cpu: 0,
            current: 0,
            what: What::Lost { count: 1 },
        };
        let _ = trace.append(&event);
        if at_ns == 25 && trace.flush().is_ok() {
            known.traced = 26;
        }
    }
    let ended = trace.finish(&TraceEnd::default()).is_ok();
    if ended {
        known.traced = 50;
    }
    ended
}

/// Every sample of a run that can be read, by segment and thread.
fn all_samples(run: &Run) -> BTreeMap<(u32, u16), Vec<Sample>> {
    let of = |segment: u32, thread: u16| run.samples(segment, thread).unwrap();
    let segments = run.manifest.segments.iter();
    let threads = segments.flat_map(|s| s.threads.iter().map(|t| (s.segment, t.thread)));
    threads.map(|(s, t)| ((s, t), of(s, t))).collect()
}

/// Compares the readable samples with the acknowledged ones; returns them.
fn read_back(
    directory: &Path,
    least: &BTreeMap<(u32, u16), u64>,
    what: &str,
) -> Option<BTreeMap<(u32, u16), Vec<Sample>>> {
    let run = match Run::open(directory) {
        Ok(run) => run,
        Err(ArchiveError::NothingRecorded { .. } | ArchiveError::NotARun { .. }) => return None,
        Err(error) => panic!("{what}: {error}"),
    };
    let found = all_samples(&run);
    for (&(segment, thread), &count) in least {
        let there = found.get(&(segment, thread)).map_or(0, Vec::len) as u64;
        assert!(
            there >= count,
            "{what}: {there} of {count} samples are left"
        );
    }
    for (&(segment, thread), there) in &found {
        let expected = samples(segment, thread, 0..there.len() as u64);
        assert!(
            *there == expected,
            "{what}: a sample is altered or left out"
        );
    }
    Some(found)
}

/// Recovers twice; nothing is lost, and the second recovery finds the result of the first.
fn recover_twice(directory: &Path, what: &str) -> Manifest {
    let before = read_back(directory, &BTreeMap::new(), what);
    let first = recover(directory).unwrap_or_else(|error| panic!("{what}: {error}"));
    let again = recover(directory).unwrap_or_else(|error| panic!("{what}, again: {error}"));
    assert!(
        again.was_finished && again.manifest == first.manifest,
        "{what}"
    );
    assert_eq!(
        read_back(directory, &BTreeMap::new(), what),
        before,
        "{what}"
    );
    for entry in fs::read_dir(directory).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_known = ["manifest.json", "samples.parquet", "samples.log.damaged"];
        let is_known = is_known.contains(&&*name) || name.ends_with(".events");
        assert!(is_known, "{what}: {name} is left behind");
    }
    first.manifest
}

fn a_run_whose_disk_fails(fault: Fault) {
    let scratch = Scratch::in_memory();
    let mut number = 0;
    let (operations, injected) = fail_each(fault, |faults, what| {
        number += 1;
        let path = scratch.path().join(number.to_string());
        let directory = Directory::make(&path, Trust::Own).unwrap();
        let known = write_run(&directory.with_faults(faults.clone()));
        // A failing close loses only samples that nobody synced.
        let least = if faults.failed().contains(&Operation::Close) {
            &known.synced
        } else {
            &known.flushed
        };
        match read_back(&path, least, what) {
            None => {
                let is_lost = known.has_begun && !faults.failed().contains(&Operation::Close);
                assert!(
                    !is_lost && known.synced.is_empty(),
                    "{what}: the run is gone"
                );
                discard_in(&Directory::to_write(&path, Trust::Own).unwrap()).unwrap();
                // Kernel events are data, and stay.
                let mut names = fs::read_dir(&path).unwrap().map(|e| e.unwrap().file_name());
                assert!(names.all(|name| name == "segment-1.events"), "{what}");
            }
            Some(_) => {
                let manifest = recover_twice(&path, what);
                // The writer itself never leaves an end without its start.
                let is_orderly = manifest.recovered.as_ref().is_none_or(|missing| {
                    missing.segments_without_start.is_empty() && missing.contradictions.blocks == 0
                });
                assert!(is_orderly, "{what}: {:?}", manifest.recovered);
                if faults.failed().is_empty() {
                    assert_eq!(
                        (manifest.recovered, manifest.ending),
                        (None, Ending::Complete)
                    );
                    assert_eq!(known.synced.len(), STREAMS.len());
                }
            }
        }
        if known.traced > 0 && !faults.failed().contains(&Operation::Close) {
            let trace = Trace::open(&path, 1).unwrap().unwrap();
            let events = trace.events().unwrap().filter(Result::is_ok).count() as u64;
            assert!(events >= known.traced, "{what}: {events} events");
        }
        fs::remove_dir_all(&path).unwrap();
    });
    eprintln!("{fault:?}: a run has {operations} operations; {injected} runs with a failure");
    assert!(operations > 40, "{operations}");
}

fn a_run_on_a_disk_that_is_full_at_any_operation_loses_nothing_written() {
    a_run_whose_disk_fails(Fault::NoSpace);
}

fn a_run_on_a_disk_that_breaks_at_any_operation_loses_nothing_written() {
    a_run_whose_disk_fails(Fault::Broken);
}

fn a_run_whose_writes_are_cut_short_anywhere_loses_nothing_written() {
    a_run_whose_disk_fails(Fault::Short);
}

/// A run cut short in its second segment, with a torn block, partial files of an earlier attempt
/// and, if it should be damaged, a hole.
fn write_cut_short(path: &Path, is_damaged: bool) {
    let mut log = LogWriter::create(path).unwrap();
    log.append_event(&run_started(3)).unwrap();
    log.append_event(&segment_started(0, &[0], 2_000)).unwrap();
    log.append_samples(0, 0, &samples(0, 0, 0..2_000)).unwrap();
    log.append_event(&segment_ended(0, &[0], 2_000)).unwrap();
    log.append_event(&segment_started(1, &[0], 200)).unwrap();
    log.append_samples(1, 0, &samples(1, 0, 0..150)).unwrap();
    drop(log);
    let log = path.join("samples.log");
    let mut bytes = fs::read(&log).unwrap();
    bytes.extend_from_slice(&[0xb7, b'W', b'K', 0x9e, 2, 0]);
    if is_damaged {
        // Within the event that ends segment 0: its samples are all there.
        let at = bytes
            .windows(13)
            .position(|w| w == b"segment-ended")
            .unwrap();
        bytes[at] ^= 1;
    }
    fs::write(log, bytes).unwrap();
    for name in [
        "samples.parquet.partial",
        "manifest.json.partial",
        "samples.reserve",
    ] {
        fs::write(path.join(name), "half").unwrap();
    }
}

fn a_recovery_whose_disk_fails_anywhere_leaves_the_run_readable_and_can_be_repeated() {
    let scratch = Scratch::in_memory();
    for is_damaged in [false, true] {
        let (cut, reference) = (scratch.path().join("cut"), scratch.path().join("reference"));
        write_cut_short(&cut, is_damaged);
        copy_run(&cut, &reference);
        recover(&reference).unwrap();
        let whole = read_back(&reference, &BTreeMap::new(), "the reference").unwrap();
        assert_eq!(whole.values().map(Vec::len).sum::<usize>(), 2_150);
        let least = BTreeMap::from([((0, 0), 2_000), ((1, 0), 150)]);
        for fault in [Fault::NoSpace, Fault::Broken, Fault::Short] {
            let (operations, injected) = fail_each(fault, |faults, what| {
                let path = scratch.path().join("try");
                copy_run(&cut, &path);
                let directory = Directory::to_write(&path, Trust::Own).unwrap();
                let _ = recover_in(&directory.with_faults(faults));
                assert!(read_back(&path, &least, what).is_some(), "{what}");
                recover_twice(&path, what);
                for name in [MANIFEST_NAME, "samples.parquet"] {
                    let (ours, theirs) = (path.join(name), reference.join(name));
                    assert!(
                        fs::read(ours).unwrap() == fs::read(theirs).unwrap(),
                        "{what}"
                    );
                }
                assert_eq!(path.join("samples.log.damaged").exists(), is_damaged);
                fs::remove_dir_all(&path).unwrap();
            });
            eprintln!(
                "{fault:?}: a recovery has {operations} operations; {injected} with a failure"
            );
            assert!(operations > 15, "{operations}");
        }
        for path in [cut, reference] {
            fs::remove_dir_all(path).unwrap();
        }
    }
}

fn a_log_that_is_written_anew_takes_the_old_ones_place_whole_or_not_at_all() {
    let scratch = Scratch::in_memory();
    let anew = |directory: &Directory| -> wakepath_archive::Result<()> {
        let mut log = LogWriter::replace_in(directory)?;
        log.append_event(&run_started(1))?;
        log.append_event(&segment_started(0, &[0], 50))?;
        log.append_samples(0, 0, &samples(0, 0, 0..50))?;
        log.append_event(&segment_ended(0, &[0], 50))?;
        log.end(Ending::Complete)
    };
    for fault in [Fault::NoSpace, Fault::Broken, Fault::Short] {
        let (operations, injected) = fail_each(fault, |faults, what| {
            let path = scratch.path().join("try");
            drop(LogWriter::create(&path).unwrap());
            let directory = Directory::to_write(&path, Trust::Own).unwrap();
            let first = anew(&directory.clone().with_faults(faults));
            match Run::open(&path) {
                Ok(run) => assert_eq!(run.samples(0, 0).unwrap().len(), 50, "{what}"),
                Err(ArchiveError::NothingRecorded { .. }) => assert!(first.is_err(), "{what}"),
                Err(error) => panic!("{what}: {error}"),
            }
            anew(&directory).unwrap();
            assert_eq!(recover_twice(&path, what).recovered, None);
            fs::remove_dir_all(&path).unwrap();
        });
        eprintln!("{fault:?}: a log anew has {operations} operations; {injected} with a failure");
    }
}

fn what_is_put_in_place_is_the_old_one_or_the_new_one() {
    let scratch = Scratch::in_memory();
    for fault in [Fault::NoSpace, Fault::Broken, Fault::Short] {
        fail_each(fault, |faults, what| {
            let path: PathBuf = scratch.path().join("try");
            let directory = Directory::make(&path, Trust::Own).unwrap();
            directory.put("report.html", b"old").unwrap();
            let put = directory
                .clone()
                .with_faults(faults)
                .put("report.html", b"a newer one");
            let found = fs::read(path.join("report.html")).unwrap();
            let is_whole = found == b"old" || found == b"a newer one";
            assert!(is_whole && (put.is_err() || found != b"old"), "{what}");
            directory.put("report.html", b"last").unwrap();
            assert_eq!(fs::read(path.join("report.html")).unwrap(), b"last");
            fs::remove_dir_all(&path).unwrap();
        });
    }
}
