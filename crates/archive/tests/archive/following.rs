//! Reading a log while it grows: every record, each once.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::rc::Rc;

use wakepath_archive::{LOG_NAME, LogFollower, LogWriter, Run};

use crate::made_up_run::{run_started, sample, samples, segment_ended, segment_started, write};
use crate::scratch::Scratch;

wakepath_test_program::tests![
    looking_after_each_segment_reads_a_log_three_times_at_most,
    what_is_read_piece_by_piece_is_what_an_opened_run_has,
    zeros_at_the_end_that_become_blocks_are_read_as_those,
];

const CYCLES: u64 = 2_000;
const THREADS: [u16; 2] = [0, 1];

/// Counts the bytes read from a file.
struct Counting {
    file: File,
    bytes: Rc<Cell<u64>>,
}

impl Read for Counting {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(into)?;
        self.bytes.set(self.bytes.get() + read as u64);
        Ok(read)
    }
}

impl Seek for Counting {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.file.seek(to)
    }
}

fn append_segment(log: &mut LogWriter, segment: u32) {
    let start = segment_started(segment, &THREADS, CYCLES);
    log.append_event(&start).unwrap();
    for first in (0..CYCLES).step_by(500) {
        for thread in THREADS {
            let now = samples(segment, thread, first..first + 500);
            log.append_samples(segment, thread, &now).unwrap();
        }
    }
    let end = segment_ended(segment, &THREADS, CYCLES);
    log.append_event(&end).unwrap();
}

/// Reading all of it after each of 40 segments would be 20 times its length; and each one's samples
/// are given out once.
fn looking_after_each_segment_reads_a_log_three_times_at_most() {
    let scratch = Scratch::new();
    let mut log = LogWriter::create(&scratch.run()).unwrap();
    log.append_event(&run_started(40)).unwrap();
    let path = scratch.run().join(LOG_NAME);
    let bytes = Rc::new(Cell::new(0));
    let file = Counting {
        file: File::open(&path).unwrap(),
        bytes: Rc::clone(&bytes),
    };
    let mut follower = LogFollower::new(file, &path).unwrap();
    for segment in 0..40 {
        append_segment(&mut log, segment);
        follower.read_on().unwrap();
        let record = follower.segment(segment).unwrap();
        assert!(record.ended, "segment {segment}");
        assert_eq!(record.threads.len(), THREADS.len());
        assert!(follower.segment(segment + 1).is_none());
        for thread in THREADS {
            let found = follower.samples(segment, thread).unwrap();
            assert_eq!(found, samples(segment, thread, 0..CYCLES));
        }
    }
    let length = fs::metadata(&path).unwrap().len();
    assert!(length > 7 << 20, "{length} bytes");
    // Once for the structure, and a buffer at a time for the samples of each thread.
    let read = bytes.get();
    eprintln!("{read} bytes read of a log of {length}, in 40 looks");
    assert!(read <= 3 * length, "{read} bytes read of {length}");
}

fn what_is_read_piece_by_piece_is_what_an_opened_run_has() {
    let scratch = Scratch::new();
    write(&scratch.run(), 3, &THREADS, 700);
    let whole = fs::read(scratch.run().join(LOG_NAME)).unwrap();
    let path = scratch.path().join("growing.log");
    let mut growing = File::create(&path).unwrap();
    let (mut follower, mut written) = (None, 0_usize);
    // Pieces that end within headers, within blocks and between them.
    for piece in [40, 3, 1_000, 77_777, 1, 5, 120_000, usize::MAX] {
        let end = whole.len().min(written.saturating_add(piece));
        growing.write_all(&whole[written..end]).unwrap();
        written = end;
        let open = || LogFollower::new(File::open(&path).unwrap(), Path::new("growing.log"));
        follower
            .get_or_insert_with(|| open().unwrap())
            .read_on()
            .unwrap();
    }
    assert_eq!(written, whole.len());
    let mut follower = follower.unwrap();
    let run = Run::open(&scratch.run()).unwrap();
    assert_eq!(follower.facts(), run.manifest.facts);
    for record in &run.manifest.segments {
        assert_eq!(follower.segment(record.segment), Some(record));
        for thread in THREADS {
            let read = follower.samples(record.segment, thread).unwrap();
            assert_eq!(read, run.samples(record.segment, thread).unwrap());
        }
    }
}

/// The reserved space of a log is zeros until blocks are written there.
fn zeros_at_the_end_that_become_blocks_are_read_as_those() {
    let scratch = Scratch::new();
    write(&scratch.run(), 1, &[0], 300);
    let whole = fs::read(scratch.run().join(LOG_NAME)).unwrap();
    let path = scratch.path().join("ahead.log");
    let cut = whole.len() / 2;
    let zeros = [&whole[..cut], &vec![0; whole.len() - cut]].concat();
    fs::write(&path, zeros).unwrap();
    let mut follower = LogFollower::new(File::open(&path).unwrap(), &path).unwrap();
    follower.read_on().unwrap();
    let before = follower.samples(0, 0).unwrap();
    assert!(before.len() < 300, "{} samples", before.len());
    File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .write_all(&whole)
        .unwrap();
    follower.read_on().unwrap();
    let after = follower.samples(0, 0).unwrap();
    assert_eq!(after.last(), Some(&sample(0, 0, 299)));
    assert_eq!(after.len(), 300);
}
