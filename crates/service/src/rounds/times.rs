//! When a round and its cycles were.

use super::Round;
use std::time::SystemTime;
use wakepath_archive::ThreadRecord;

/// Times of a round, in nanoseconds since 1970.
#[derive(Clone, Copy)]
pub(super) struct Times {
    pub(super) began_ns: u64,
    pub(super) offset_ns: i64,
}

impl Times {
    /// By the manifest; of a boot that is over, by the first cycle too, which was due some tenths of a second after
    /// the run began.
    pub(super) fn new(round: &Round<'_>, now_ns: u64) -> Self {
        let began = humantime::parse_rfc3339(&round.run.manifest.started).ok();
        let began = began.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
        let began_ns = began.and_then(|since| u64::try_from(since.as_nanos()).ok());
        let began_ns = began_ns.unwrap_or(now_ns);
        let segments = round.run.manifest.segments.iter();
        let first = segments
            .flat_map(|of| &of.threads)
            .filter(|of| has_started(of));
        let first_ns = first.map(|thread| thread.due.start_ns).min().unwrap_or(0);
        let offset = || {
            began_ns
                .cast_signed()
                .saturating_sub(first_ns.cast_signed())
        };
        Self {
            began_ns,
            offset_ns: round.offset_ns.unwrap_or_else(offset),
        }
    }

    /// Due time of a cycle; of a thread that never started, the beginning of the round.
    pub(super) fn due_ns(self, thread: &ThreadRecord, cycle: u64) -> u64 {
        let due_ns = i128::from(thread.due.due_ns(cycle)) + i128::from(self.offset_ns);
        if has_started(thread) {
            due_ns.max(0) as u64
        } else {
            self.began_ns
        }
    }
}

/// A thread that could not start or get its policy has no due times.
fn has_started(thread: &ThreadRecord) -> bool {
    thread.due.start_ns > 0
}
