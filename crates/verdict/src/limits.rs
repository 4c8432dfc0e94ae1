//! Whether a due time is missed. This is the only place that decides it.

use serde::{Deserialize, Serialize};
use wakepath_scenario::Criterion;
use wakepath_statistics::NearMiss;
use wakepath_timeline::{Sample, SampleFlags};

/// How late a cycle may be, in nanoseconds. Without either limit only a skipped or unanswered due
/// time is a miss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Limits {
    /// Largest wake-up latency; `None` if any is allowed.
    pub latency_ns: Option<u64>,
    /// Largest response time; `None` if any is allowed.
    pub deadline_ns: Option<u64>,
}

/// Fate of a due time at which a cycle ran, or that the next cycle served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// Well within the limits.
    Met,
    Near(NearMiss),
    Missed,
}

impl Limits {
    /// Those of a criterion.
    pub fn new(criterion: &Criterion) -> Self {
        Self {
            latency_ns: criterion.latency_ns,
            deadline_ns: Some(criterion.deadline_ns),
        }
    }

    /// Whether a cycle missed its due time: it woke or ended too late, or what it exchanged with
    /// its surroundings got no right answer in time.
    pub fn are_missed_by(&self, sample: &Sample) -> bool {
        self.are_exceeded_by(sample.latency_ns(), sample.response_ns())
            || sample.flags.contains(SampleFlags::UNANSWERED)
    }

    /// How a wake-up latency and a response time keep them.
    pub(crate) fn kept_by(&self, latency_ns: i64, response_ns: i64) -> Kept {
        let past = |quarters: u64| {
            // Not for 0: every other latency is past that.
            let part = |limit_ns: &u64| {
                (*limit_ns > 0).then_some(limit_ns - limit_ns / 4 * (4 - quarters))
            };
            let part = Self {
                latency_ns: self.latency_ns.as_ref().and_then(part),
                deadline_ns: self.deadline_ns.as_ref().and_then(part),
            };
            part.are_exceeded_by(latency_ns, response_ns)
        };
        match () {
            () if self.are_exceeded_by(latency_ns, response_ns) => Kept::Missed,
            () if past(3) => Kept::Near(NearMiss::PastThreeQuarters),
            () if past(2) => Kept::Near(NearMiss::PastHalf),
            () => Kept::Met,
        }
    }

    /// Whether a wake-up latency or a response time is beyond its limit. An early one never is.
    pub fn are_exceeded_by(&self, latency_ns: i64, response_ns: i64) -> bool {
        let exceeds = |value_ns: i64, limit_ns: Option<u64>| {
            let value_ns = u64::try_from(value_ns).unwrap_or(0);
            limit_ns.is_some_and(|limit_ns| value_ns > limit_ns)
        };
        exceeds(latency_ns, self.latency_ns) || exceeds(response_ns, self.deadline_ns)
    }
}
