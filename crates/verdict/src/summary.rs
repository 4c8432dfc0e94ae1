//! The figures of a condition as they are written into reports.

use crate::{DueTally, Outage, Overruns};
use serde::Serialize;
use wakepath_statistics::{DistributionSummary, MissTally};

/// Counts and distributions of a condition. Distributions are `None` where there is no value;
/// their values are nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CycleSummary {
    /// Due times in the judged windows: `executed` + `skipped`.
    pub scheduled: u64,
    /// Due times at which a cycle ran, however late.
    pub executed: u64,
    /// Due times at which none ran.
    pub skipped: u64,
    /// Due times whose samples were lost: nobody knows what became of them.
    pub lost: u64,
    /// Of the skipped ones, those after which no cycle ran any more; the latency they count with
    /// is the least it can have been.
    pub skipped_at_end: u64,
    /// Executed cycles that missed the criterion's latency bound or deadline.
    pub executed_late: u64,
    /// Executed cycles whose due time had passed before the loop came round to wait for it.
    pub late_after_overrun: u64,
    /// Cycles that by themselves took longer than a period.
    pub overruns: Overruns,
    /// Cycles in which the work reported a fault of its own.
    pub work_faults: u64,
    /// Missed due times and how they cluster.
    pub misses: MissTally,
    /// Longest time from the end of one cycle to the end of the next, the edges of the judged
    /// windows included; `None` without due times.
    pub longest_outage: Option<Outage>,
    /// Total length of the judged windows, in seconds, summed over threads.
    pub judged_seconds: f64,
    /// Threads that served due times side by side.
    pub threads: u64,
    /// Wake-up latency over the cycles that ran.
    pub latency_as_executed: Option<DistributionSummary>,
    /// Wake-up latency over all due times.
    pub latency_as_scheduled: Option<DistributionSummary>,
    /// Response time over the cycles that ran.
    pub response: Option<DistributionSummary>,
    /// Execution time over the cycles that ran.
    pub execution: Option<DistributionSummary>,
    /// Time of the work alone, where the work took it.
    pub work: Option<DistributionSummary>,
    /// CPU time, where measured.
    pub cpu_time: Option<DistributionSummary>,
}

impl From<&DueTally> for CycleSummary {
    /// Without distributions.
    fn from(tally: &DueTally) -> Self {
        Self {
            scheduled: tally.scheduled(),
            executed: tally.executed,
            skipped: tally.skipped,
            lost: tally.lost,
            skipped_at_end: tally.skipped_at_end,
            executed_late: tally.executed_late,
            late_after_overrun: tally.late_after_overrun,
            overruns: tally.overruns,
            work_faults: tally.work_faults,
            misses: tally.misses,
            longest_outage: tally.longest_outage,
            judged_seconds: tally.window_ns as f64 / 1e9,
            threads: tally.threads.len() as u64,
            latency_as_executed: None,
            latency_as_scheduled: None,
            response: None,
            execution: None,
            work: None,
            cpu_time: None,
        }
    }
}
