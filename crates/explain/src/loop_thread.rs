//! The explainer's description of a loop.

use std::sync::Arc;
use wakepath_timeline::{AllowedCpus, Sample};

/// A loop whose cycles are to be explained.
#[derive(Debug, Clone, Default)]
pub struct LoopThread {
    /// Its name, by which another loop of its thread calls it.
    pub name: Arc<str>,
    /// Its thread number.
    pub thread: u32,
    /// CPUs that it may run on: events lost elsewhere don't touch it. Empty: all.
    pub cpus: Vec<u16>,
    /// The CPUs that it was seen to be allowed, by time. Empty if nobody looked.
    pub allowed: Vec<AllowedCpus>,
    /// Its samples, by cycle.
    pub samples: Vec<Sample>,
    /// From when to when it is judged, in nanoseconds: a loop without a judged sample has no other sign of it.
    pub judged_ns: Option<(u64, u64)>,
    /// Whether its cycles are made from its wake-ups by a timer: one holds all that the thread does until the next.
    pub until_next_wake_up: bool,
    /// Whether its program was started under the recording, so that its first sleep is seen.
    pub is_from_start: bool,
    /// Whether its policy is a real-time one; it may run under another before its program sets that.
    pub is_real_time: bool,
}
