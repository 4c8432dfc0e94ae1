//! The result of an account of due times, as numbers that can be stored and added up: minutes,
//! rounds, repetitions and threads.

use crate::{Inconsistency, SamplesSeen};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use wakepath_statistics::MissTally;

/// A stretch in which no cycle ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outage {
    /// Length in nanoseconds.
    pub length_ns: u64,
    /// When it began, in nanoseconds on `CLOCK_MONOTONIC`.
    pub from_ns: u64,
}

/// Cycles that by themselves took longer than a period, whatever woke them late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Overruns {
    /// How many.
    pub cycles: u64,
    /// Due times that were skipped right after one.
    pub skipped: u64,
    /// The longest of them, from first instruction to end, in nanoseconds; 0 without one.
    pub longest_ns: u64,
    /// The period that it ran over, in nanoseconds.
    pub period_ns: u64,
}

impl Overruns {
    /// Counts a cycle if it took longer than its period; whether it did.
    pub(crate) fn add(&mut self, execution_ns: i64, period_ns: u64) -> bool {
        let Some(execution_ns) = u64::try_from(execution_ns)
            .ok()
            .filter(|execution_ns| *execution_ns > period_ns)
        else {
            return false;
        };
        self.merge(Self {
            cycles: 1,
            skipped: 0,
            longest_ns: execution_ns,
            period_ns,
        });
        true
    }

    fn merge(&mut self, later: Self) {
        self.cycles = self.cycles.saturating_add(later.cycles);
        self.skipped = self.skipped.saturating_add(later.skipped);
        if later.longest_ns > self.longest_ns {
            (self.longest_ns, self.period_ns) = (later.longest_ns, later.period_ns);
        }
    }
}

/// Counts over the judged due times. Those that were due are executed, skipped, lost or
/// unseen, or ran unseen.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DueTally {
    /// Samples seen, warm-up included.
    pub samples: u64,
    /// Due times at which a cycle ran, however late.
    pub executed: u64,
    /// Due times at which none ran.
    pub skipped: u64,
    /// Of the skipped ones, those after which no cycle ran any more.
    pub skipped_at_end: u64,
    /// Due times whose samples were lost: nobody knows what became of them.
    pub lost: u64,
    /// Samples known to be lost that left no gap between the judged ones.
    pub lost_elsewhere: u64,
    /// Due times that nothing shows, though no sample was lost: of a program that kernel events show
    /// from outside.
    pub unseen: u64,
    /// Due times whose cycles ran late, after an earlier one that took longer, without an event of their own.
    pub ran_unseen: u64,
    /// Whether skipped due times are unknown: those of some thread are an assumption.
    pub skips_unknown: bool,
    /// Executed cycles that missed their due time.
    pub executed_late: u64,
    /// Executed cycles whose due time had passed before the loop came round to wait for it.
    pub late_after_overrun: u64,
    /// Cycles that by themselves took longer than a period.
    pub overruns: Overruns,
    /// Cycles in which the work reported a fault of its own.
    pub work_faults: u64,
    /// Cycles in which a thread of a real-time core switched into Linux.
    pub mode_switches: u64,
    /// Missed due times and how they cluster; lost ones are not in it.
    pub misses: MissTally,
    /// Longest time from the end of one cycle to the end of the next, the edges of the judged
    /// windows included; `None` without due times.
    pub longest_outage: Option<Outage>,
    /// Largest wake-up latency of a cycle that ran, in nanoseconds.
    pub largest_latency_ns: Option<i64>,
    /// Largest wake-up latency over all due times, skipped ones with what they suffered.
    pub largest_suffered_ns: Option<i64>,
    /// Largest response time of a cycle that ran, in nanoseconds.
    pub largest_response_ns: Option<i64>,
    /// Total length of the judged windows, in nanoseconds, summed over threads.
    pub window_ns: u64,
    /// Threads that served due times side by side.
    pub threads: BTreeSet<u32>,
    /// The first contradiction in the samples.
    pub inconsistency: Option<Inconsistency>,
}

impl DueTally {
    /// Due times of which it is known what became of them: executed + skipped.
    pub fn scheduled(&self) -> u64 {
        self.executed.saturating_add(self.skipped)
    }

    /// Adds what came after it: the next minute or round, another repetition or thread.
    pub fn merge(&mut self, later: &Self) {
        let sums = [
            (&mut self.samples, later.samples),
            (&mut self.executed, later.executed),
            (&mut self.skipped, later.skipped),
            (&mut self.skipped_at_end, later.skipped_at_end),
            (&mut self.lost, later.lost),
            (&mut self.lost_elsewhere, later.lost_elsewhere),
            (&mut self.unseen, later.unseen),
            (&mut self.ran_unseen, later.ran_unseen),
            (&mut self.executed_late, later.executed_late),
            (&mut self.late_after_overrun, later.late_after_overrun),
            (&mut self.work_faults, later.work_faults),
            (&mut self.mode_switches, later.mode_switches),
            (&mut self.window_ns, later.window_ns),
        ];
        // A history from elsewhere can hold any number.
        for (sum, more) in sums {
            *sum = sum.saturating_add(more);
        }
        self.skips_unknown |= later.skips_unknown;
        self.overruns.merge(later.overruns);
        self.misses.merge(&later.misses);
        if let Some(outage) = later.longest_outage {
            self.saw(outage);
        }
        self.largest_latency_ns = self.largest_latency_ns.max(later.largest_latency_ns);
        self.largest_suffered_ns = self.largest_suffered_ns.max(later.largest_suffered_ns);
        self.largest_response_ns = self.largest_response_ns.max(later.largest_response_ns);
        self.threads.extend(&later.threads);
        self.inconsistency = self.inconsistency.or(later.inconsistency);
    }

    pub(crate) fn saw(&mut self, outage: Outage) {
        let longest_ns = self.longest_outage.map(|longest| longest.length_ns);
        if longest_ns.is_none_or(|longest_ns| outage.length_ns > longest_ns) {
            self.longest_outage = Some(outage);
        }
    }

    /// Statements of the samples about themselves.
    pub fn samples_seen(&self) -> SamplesSeen {
        SamplesSeen {
            count: self.samples,
            inconsistency: self.inconsistency,
            executed: self.executed,
            work_faults: self.work_faults,
            mode_switches: self.mode_switches,
        }
    }
}
