//! Blocks of a log that contradict earlier blocks.
//!
//! Pure.

use wakepath_timeline::{DueTimes, Sample};

/// Why a block is not believed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Contradiction {
    #[error("the run starts a second time")]
    SecondRun,
    #[error("the run is imported a second time")]
    SecondImport,
    #[error("segment {segment} starts a second time")]
    SecondStart { segment: u32 },
    #[error("segment {segment} ends a second time")]
    SecondEnd { segment: u32 },
    #[error("segment {segment} has thread {thread} twice")]
    ThreadTwice { segment: u32, thread: u16 },
    #[error("segment {segment} has no thread {thread}, but an end of one")]
    NoThreadToEnd { segment: u32, thread: u16 },
    #[error("segment {segment}, thread {thread}: {wrong}")]
    Samples {
        segment: u32,
        thread: u16,
        wrong: WrongSample,
    },
}

/// Why a sample can't be one of its thread's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WrongSample {
    #[error("cycle {cycle} was due at {due_ns} ns, the sample says {said_ns} ns")]
    Due {
        cycle: u64,
        due_ns: u64,
        said_ns: u64,
    },
    #[error("cycle {cycle} has a reserved field that is not 0")]
    Reserved { cycle: u64 },
    #[error("cycle {cycle} comes after cycle {before}")]
    Order { cycle: u64, before: u64 },
}

impl Contradiction {
    /// The fault of a block's first wrong sample; `last` is its thread's last cycle before the
    /// block.
    pub(crate) fn of_samples(
        due: DueTimes,
        mut last: Option<u64>,
        samples: &[Sample],
    ) -> Option<WrongSample> {
        samples.iter().find_map(|sample| {
            let cycle = sample.cycle;
            let due_ns = due.due_ns(cycle);
            if sample.due_ns != due_ns {
                let said_ns = sample.due_ns;
                return Some(WrongSample::Due {
                    cycle,
                    due_ns,
                    said_ns,
                });
            }
            if sample.reserved != 0 {
                return Some(WrongSample::Reserved { cycle });
            }
            let before = last.replace(cycle)?;
            (before >= cycle).then_some(WrongSample::Order { cycle, before })
        })
    }
}

impl WrongSample {
    pub(crate) fn in_thread(self, segment: u32, thread: u16) -> Contradiction {
        Contradiction::Samples {
            segment,
            thread,
            wrong: self,
        }
    }
}
