//! Moving one segment's samples from its rings into the log, and counting both ends. It knows
//! nothing of the other process.

use super::live::LiveTally;
use super::told::{ToldBeside, ToldFiles};
use super::{LiveFigures, SegmentRings};
use wakepath_archive::{ArchiveError, LogWriter};
use wakepath_rt::ring::Reader;
use wakepath_rt::shared::SharedMemory;
use wakepath_timeline::Sample;

/// Samples moved at once: bounds the time between two looks at the other rings.
const BATCH: usize = 4096;

/// The rings of the segment under way.
pub(crate) struct Drain<'a> {
    memory: &'a SharedMemory,
    segment: u32,
    readers: Vec<Reader<'a>>,
    recorded: Vec<u64>,
    /// Samples that found the ring full, by thread, as the tally knows it.
    lost: Vec<u64>,
    tally: LiveTally,
    batch: Vec<Sample>,
    told: ToldBeside<'a>,
}

impl<'a> Drain<'a> {
    #[allow(unsafe_code)] // The reader's promise to be the only one.
    pub(crate) fn new(memory: &'a SharedMemory, rings: SegmentRings) -> Self {
        let threads = (rings.threads.len() as u32).min(memory.threads());
        // SAFETY: the recorder is the only process that reads, and has one drain at a time.
        let readers = (0..threads)
            .map(|thread| unsafe { memory.reader(thread) })
            .collect();
        let told = ToldBeside::new(memory, rings.segment, threads);
        Self {
            memory,
            segment: rings.segment,
            readers,
            recorded: vec![0; threads as usize],
            lost: vec![0; threads as usize],
            tally: LiveTally::new(rings.threads),
            batch: Vec::with_capacity(BATCH),
            told,
        }
    }

    /// Empties the rings into the log. They are emptied even when the log accepts nothing any more, so that
    /// the loop behaves the same with a full disk. Takes at most as many samples as a ring holds, so that a
    /// program that writes as fast as it is read does not hold up the recorder.
    pub(crate) fn take(&mut self, log: &mut LogWriter) -> Result<(), ArchiveError> {
        let mut outcome = Ok(());
        for (thread, reader) in self.readers.iter_mut().enumerate() {
            // Before the samples: losses come after those that are there.
            let lost = self.memory.indices(thread as u32).lost();
            let mut most = reader.capacity();
            while most > 0 {
                self.batch.clear();
                let taken = reader.take(&mut self.batch, BATCH.min(most));
                if taken == 0 {
                    break;
                }
                most -= taken;
                self.tally.add(thread as u16, &self.batch);
                match log.append_samples(self.segment, thread as u16, &self.batch) {
                    Ok(()) => self.recorded[thread] += self.batch.len() as u64,
                    Err(error) => outcome = Err(error),
                }
            }
            let further = lost.saturating_sub(self.lost[thread]);
            self.tally.lose(thread as u16, further);
            self.lost[thread] = lost.max(self.lost[thread]);
        }
        outcome
    }

    /// Writes the loops' log records to its files.
    pub(crate) fn take_told(&mut self, files: &mut ToldFiles<'_>) -> Result<(), ArchiveError> {
        self.told.take(files)
    }

    /// Remarks for the run.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let mut remarks = self.told.remarks();
        for (ring, reader) in (0..).zip(&self.readers) {
            if reader.is_damaged() {
                remarks.push(format!(
                    "{}: its ring of samples is corrupt, overwritten by something: later samples are not in the run",
                    super::told::name(self.memory, ring)
                ));
            }
        }
        remarks
    }

    /// Samples appended, by thread.
    pub(crate) fn recorded(&self) -> &[u64] {
        &self.recorded
    }

    pub(crate) fn live(&mut self) -> LiveFigures {
        let lost = (0..self.readers.len() as u32)
            .map(|t| self.memory.indices(t).lost())
            .fold(0, u64::saturating_add);
        self.tally.figures(self.segment, lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::LiveThread;
    use std::sync::atomic::{AtomicBool, Ordering};
    use wakepath_directory::{Directory, Trust};
    use wakepath_verdict::Limits;

    #[test]
    #[allow(unsafe_code)] // The writer's promise to be the only one.
    fn a_program_that_writes_as_fast_as_it_is_read_keeps_nobody() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::to_write(place.path(), Trust::Own).unwrap();
        let mut log = LogWriter::create_in(&directory).unwrap();
        let memory = SharedMemory::create(1, 8).unwrap();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // SAFETY: the only writer of this ring.
                let mut writer = unsafe { memory.writer(0) };
                while !over.load(Ordering::Relaxed) {
                    writer.push(Sample::default());
                }
            });
            let rings = SegmentRings {
                segment: 0,
                threads: vec![LiveThread {
                    limits: Limits::default(),
                    period_ns: 1_000_000,
                    judged: None,
                }],
            };
            let mut drain = Drain::new(&memory, rings);
            while memory.indices(0).lost() == 0 {
                std::thread::yield_now();
            }
            for look in 1..=100 {
                drain.take(&mut log).unwrap();
                assert!(drain.recorded()[0] <= 8 * look, "look {look}");
            }
            over.store(true, Ordering::Relaxed);
        });
    }
}
