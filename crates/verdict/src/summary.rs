//! The figures of a condition as they are written into reports.

use crate::{CycleRecord, Outage, Overruns};
use serde::Serialize;
use wakepath_statistics::{Distribution, DistributionSummary, MissTally};

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

impl CycleSummary {
    pub(crate) fn of(record: &CycleRecord) -> Self {
        let shown = |found: Option<Distribution>| found.map(|values| values.summary());
        Self {
            scheduled: record.scheduled(),
            executed: record.executed,
            skipped: record.skipped,
            skipped_at_end: record.skipped_at_end,
            executed_late: record.executed_late,
            late_after_overrun: record.late_after_overrun,
            overruns: record.overruns,
            work_faults: record.work_faults,
            misses: record.misses(),
            longest_outage: record.longest_outage,
            judged_seconds: record.window_ns as f64 / 1e9,
            threads: record.threads(),
            latency_as_executed: shown(record.latency_as_executed()),
            latency_as_scheduled: shown(record.latency_as_scheduled()),
            response: shown(record.response()),
            execution: shown(record.execution()),
            work: shown(record.work()),
            cpu_time: shown(record.cpu_time()),
        }
    }
}
