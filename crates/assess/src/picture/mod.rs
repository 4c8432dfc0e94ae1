//! Plot data of a condition, small enough for a page whatever the run's length: pyramids of smallest and
//! largest values, the shapes of its distributions, every violation as it was. Pure; it draws nothing.

mod cpus;
mod gather;
mod pyramid;
mod shape;
mod violations;
mod worst;

pub use cpus::CpuCounts;
pub(crate) use cpus::CpuTally;
pub(crate) use gather::Gatherer;
pub use pyramid::{Bucket, Level, Pyramid};
pub use shape::{HistogramBin, Shape, Tail};
pub use violations::{LateCycle, SkippedCycles, Violations};
pub use worst::WorstCycle;

use serde::Serialize;
use wakepath_statistics::MeanInterval;
use wakepath_verdict::ConditionName;

/// One condition's due times, drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Picture {
    /// Which condition.
    pub name: ConditionName,
    /// Period of the loop in nanoseconds.
    pub period_ns: u64,
    /// Wake-up latency that counts as a miss when exceeded, in nanoseconds.
    pub latency_limit_ns: Option<u64>,
    /// Response time that counts as a miss when exceeded, in nanoseconds.
    pub deadline_ns: Option<u64>,
    /// Judged due times: as many as the condition's summary has scheduled.
    pub due_times: u64,
    /// The recorded stretches, in order; together they cover 0..`due_times`.
    pub stretches: Vec<Stretch>,
    /// Wake-up latency over all due times, skipped ones with what they suffered.
    pub latency: Measure,
    /// Response time; skipped due times have none.
    pub response: Measure,
    /// Execution time; skipped due times have none.
    pub execution: Measure,
    /// Every missed due time.
    pub violations: Violations,
    /// The latest cycles, latest first.
    pub worst: Vec<WorstCycle>,
    /// Mean wake-up latency over all due times with its 99 % interval from batch means; `None`
    /// with too few of them.
    pub mean: Option<MeanInterval>,
    /// Wake-up latencies by CPU, where several loops were measured side by side; otherwise none.
    pub cpus: Vec<CpuCounts>,
}

/// A run of due times recorded together: one thread in one segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Stretch {
    /// Index of its first due time within the condition.
    pub first_index: u64,
    /// Due times in it.
    pub count: u64,
    /// Number of its first cycle within the segment.
    pub first_cycle: u64,
    /// Segment of the run.
    pub segment: u32,
    /// Repetition of the phase, from 0.
    pub repetition: u32,
    /// Thread within the segment.
    pub thread: u16,
}

/// One measured time of every due time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measure {
    /// Over the due times in order.
    pub pyramid: Pyramid,
    /// Over their values; `None` if there are none.
    pub shape: Option<Shape>,
}

impl Picture {
    /// Repetition and cycle number of a due time.
    pub fn place_of(&self, index: u64) -> Option<(Stretch, u64)> {
        let after = self
            .stretches
            .partition_point(|stretch| stretch.first_index <= index);
        let stretch = *self.stretches.get(after.checked_sub(1)?)?;
        let within = index - stretch.first_index;
        (within < stretch.count).then_some((stretch, stretch.first_cycle + within))
    }
}

/// How many lowest buckets the series of a whole page may have: some 5 MB as text, however many
/// conditions there are and however long they ran.
const BUCKETS_OF_A_PAGE: u64 = 60_000;
/// A condition has at least this many, which is a pixel each on a small screen.
const FEWEST_BUCKETS: u64 = 512;

/// Maximum number of lowest buckets for each of this number of conditions.
pub(crate) fn buckets_of_each(conditions: u64) -> u64 {
    (BUCKETS_OF_A_PAGE / conditions.max(1)).max(FEWEST_BUCKETS)
}
