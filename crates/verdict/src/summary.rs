//! The figures of a condition as they are written into reports.

use crate::{DueTally, Outage, Overruns};
use serde::Serialize;
use wakepath_statistics::{DistributionSummary, MissTally};

/// Counts and distributions of a condition. Unknown values are `None`, never 0, and so are
/// distributions without a value; their values are nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CycleSummary {
    /// Due times of which it is known what became of them: `executed` + `skipped`.
    pub scheduled: u64,
    /// Due times at which a cycle ran, however late.
    pub executed: u64,
    /// Due times at which none ran.
    pub skipped: Option<u64>,
    /// Due times whose samples were lost: nobody knows what became of them.
    pub lost: u64,
    /// Due times that nothing shows, though no sample was lost: those of a watched program that passed
    /// while a cycle ran, which a loop that catches up serves late.
    pub unseen: u64,
    /// Of the skipped ones, those after which no cycle ran any more; their latency is a lower
    /// bound.
    pub skipped_at_end: Option<u64>,
    /// Executed cycles that missed the criterion's latency bound or deadline; `None` without a
    /// criterion.
    pub executed_late: Option<u64>,
    /// Executed cycles whose due time had passed before the loop came round to wait for it.
    pub late_after_overrun: Option<u64>,
    /// Cycles that by themselves took longer than a period.
    pub overruns: Option<Overruns>,
    /// Cycles in which the work reported a fault of its own.
    pub work_faults: Option<u64>,
    /// Missed due times and how they cluster; `None` without a criterion.
    pub misses: Option<Misses>,
    /// Longest time from the end of one cycle to the end of the next, the edges of the judged
    /// windows included; `None` without due times.
    pub longest_outage: Option<Outage>,
    /// Total length of the judged windows, in seconds, summed over threads.
    pub judged_seconds: f64,
    /// Threads that served due times side by side.
    pub threads: u64,
    /// Wake-up latency over the cycles that ran.
    pub latency_as_executed: Option<DistributionSummary>,
    /// Wake-up latency over all due times of which it is known what became of them.
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

/// Missed due times. How they came together is `None` if their order is not known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Misses {
    /// Due times.
    pub due: u64,
    /// Due times missed.
    pub missed: u64,
    /// Longest run of consecutive misses.
    pub longest_run: Option<u64>,
    /// Groups of misses that come together.
    pub clusters: Option<u64>,
    /// Misses in the largest cluster.
    pub largest_cluster: Option<u64>,
    /// What bounds are computed from.
    #[serde(skip)]
    tally: MissTally,
}

impl From<MissTally> for Misses {
    fn from(tally: MissTally) -> Self {
        Self {
            due: tally.due,
            missed: tally.missed,
            longest_run: Some(tally.longest_run),
            clusters: Some(tally.clusters),
            largest_cluster: Some(tally.largest_cluster),
            tally,
        }
    }
}

impl Misses {
    /// Those of a histogram, which has no order.
    #[must_use]
    pub fn without_order(self) -> Self {
        Self {
            longest_run: None,
            clusters: None,
            largest_cluster: None,
            ..self
        }
    }

    /// What bounds are computed from.
    pub fn tally(&self) -> MissTally {
        self.tally
    }

    /// Share of due times missed; 0 if nothing was due.
    pub fn fraction(&self) -> f64 {
        match self.due {
            0 => 0.0,
            due => self.missed as f64 / due as f64,
        }
    }
}

impl CycleSummary {
    /// Without what only a criterion makes of due times.
    #[must_use]
    pub fn without_criterion(self) -> Self {
        Self {
            executed_late: None,
            misses: None,
            ..self
        }
    }

    /// Due times missed, as far as it is known.
    pub fn missed(&self) -> Option<u64> {
        self.misses.map(|misses| misses.missed)
    }
}

impl From<&DueTally> for CycleSummary {
    /// Without distributions.
    fn from(tally: &DueTally) -> Self {
        let known = |skipped: u64| (!tally.skips_unknown).then_some(skipped);
        Self {
            scheduled: tally.scheduled(),
            executed: tally.executed,
            skipped: known(tally.skipped),
            lost: tally.lost,
            unseen: tally.unseen,
            skipped_at_end: known(tally.skipped_at_end),
            executed_late: Some(tally.executed_late),
            late_after_overrun: Some(tally.late_after_overrun),
            overruns: Some(tally.overruns),
            work_faults: Some(tally.work_faults),
            misses: Some(tally.misses.into()),
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
