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
            tally: LiveTally::of(rings.threads),
            batch: Vec::with_capacity(BATCH),
            told,
        }
    }

    /// Empties the rings into the log. They are emptied also when the log takes nothing any more,
    /// so that the loop behaves the same with a full disk.
    pub(crate) fn take(&mut self, log: &mut LogWriter) -> Result<(), ArchiveError> {
        let mut outcome = Ok(());
        for (thread, reader) in self.readers.iter_mut().enumerate() {
            loop {
                self.batch.clear();
                if reader.take(&mut self.batch, BATCH) == 0 {
                    break;
                }
                self.tally.add(thread as u16, &self.batch);
                match log.append_samples(self.segment, thread as u16, &self.batch) {
                    Ok(()) => self.recorded[thread] += self.batch.len() as u64,
                    Err(error) => outcome = Err(error),
                }
            }
        }
        outcome
    }

    /// Empties what the loops said beside their samples into its files.
    pub(crate) fn take_told(&mut self, files: &mut ToldFiles<'_>) -> Result<(), ArchiveError> {
        self.told.take(files)
    }

    /// What of it is to be said in the run.
    pub(crate) fn remarks(&self) -> Vec<String> {
        self.told.remarks()
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
