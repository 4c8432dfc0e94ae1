//! Accounts for every due time of a condition: executed or skipped, met or missed. It counts and
//! judges nothing beyond the single due time.

use crate::judge::CLUSTER_GAP;
use crate::{Consistency, CycleSummary, Inconsistency, SamplesSeen};
use serde::Serialize;
use std::collections::BTreeSet;
use wakepath_scenario::Criterion;
use wakepath_statistics::{Distribution, MissClusters, MissTally};
use wakepath_timeline::{DueTimes, Sample, SampleFlags};

/// More due times than this in one segment (50 days at 1 kHz) are a broken recording.
const MOST_DUE_TIMES: u64 = 1 << 32;

/// The part of one segment of one thread that is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct JudgedWindow {
    /// When the segment's cycles were due.
    pub due: DueTimes,
    /// First cycle after the warm-up.
    pub first_judged_cycle: u64,
    /// One past the last cycle that was to be served, whether or not the loop lived that long: a
    /// loop that died leaves its missing due times skipped. Where the user ended the run, the
    /// cycle that was due when they did.
    pub end_cycle: u64,
    /// Which of the loop's threads, from 0.
    pub thread: u32,
}

impl JudgedWindow {
    /// Whether there can be such a window.
    ///
    /// # Errors
    /// [`Inconsistency::ImpossibleWindow`] where it ends before it starts, or holds more due times than
    /// a segment can.
    pub fn check(&self) -> Result<(), Inconsistency> {
        let count = self.end_cycle.checked_sub(self.first_judged_cycle);
        match count.is_some_and(|count| count <= MOST_DUE_TIMES) {
            true => Ok(()),
            false => Err(Inconsistency::ImpossibleWindow {
                first_judged_cycle: self.first_judged_cycle,
                end_cycle: self.end_cycle,
            }),
        }
    }
}

/// A stretch in which no cycle ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Outage {
    /// Length in nanoseconds.
    pub length_ns: u64,
    /// When it began, in nanoseconds on `CLOCK_MONOTONIC`.
    pub from_ns: u64,
}

/// Cycles that by themselves took longer than a period, whatever woke them late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
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
    /// Counts a cycle where it took longer than its period; whether it did.
    fn add(&mut self, execution_ns: i64, period_ns: u64) -> bool {
        if !exceeds(execution_ns, period_ns) {
            return false;
        }
        self.cycles += 1;
        let execution_ns = execution_ns.unsigned_abs();
        if execution_ns > self.longest_ns {
            (self.longest_ns, self.period_ns) = (execution_ns, period_ns);
        }
        true
    }
}

/// What became of the due times of a condition, over all its segments and threads.
///
/// Scheduled due times are those executed and those skipped, and nothing else.
#[derive(Debug, Clone)]
pub struct CycleRecord {
    latency_limit_ns: Option<u64>,
    deadline_ns: u64,
    pub(crate) samples_seen: u64,
    pub(crate) executed: u64,
    pub(crate) skipped: u64,
    pub(crate) skipped_at_end: u64,
    pub(crate) executed_late: u64,
    pub(crate) late_after_overrun: u64,
    pub(crate) overruns: Overruns,
    pub(crate) work_faults: u64,
    pub(crate) mode_switches: u64,
    pub(crate) latency: Vec<i64>,
    latency_of_skipped: Vec<i64>,
    pub(crate) response: Vec<i64>,
    execution: Vec<i64>,
    work: Vec<i64>,
    cpu_time: Vec<i64>,
    misses: MissClusters,
    pub(crate) longest_outage: Option<Outage>,
    threads: BTreeSet<u32>,
    pub(crate) window_ns: u128,
    pub(crate) inconsistency: Option<Inconsistency>,
}

impl CycleRecord {
    /// An empty record; `criterion` says which due times count as missed.
    pub fn new(criterion: &Criterion) -> Self {
        Self {
            latency_limit_ns: criterion.latency_ns,
            deadline_ns: criterion.deadline_ns,
            samples_seen: 0,
            executed: 0,
            skipped: 0,
            skipped_at_end: 0,
            executed_late: 0,
            late_after_overrun: 0,
            overruns: Overruns::default(),
            work_faults: 0,
            mode_switches: 0,
            latency: Vec::new(),
            latency_of_skipped: Vec::new(),
            response: Vec::new(),
            execution: Vec::new(),
            work: Vec::new(),
            cpu_time: Vec::new(),
            misses: MissClusters::new(CLUSTER_GAP),
            longest_outage: None,
            threads: BTreeSet::new(),
            window_ns: 0,
            inconsistency: None,
        }
    }

    /// Adds all samples of one segment of one thread, in order, warm-up included. Samples past
    /// the window are not judged; the first of them says how late the skipped due times before it
    /// were.
    ///
    /// # Errors
    /// The first contradiction in the samples. The record remembers it and every verdict on it is
    /// invalid; nothing of this segment is counted.
    pub fn add(&mut self, window: JudgedWindow, samples: &[Sample]) -> Result<(), Inconsistency> {
        self.samples_seen += samples.len() as u64;
        if let Err(inconsistency) = check(window, samples) {
            self.inconsistency.get_or_insert(inconsistency);
            return Err(inconsistency);
        }
        let due = window.due;
        let start_ns = due.due_ns(window.first_judged_cycle);
        let end_ns = due.due_ns(window.end_cycle);
        let mut next = window.first_judged_cycle;
        let mut previous_end_ns = start_ns;
        let mut has_overrun = false;
        for sample in samples
            .iter()
            .filter(|sample| sample.cycle >= window.first_judged_cycle)
        {
            for cycle in next..sample.cycle.min(window.end_cycle) {
                self.overruns.skipped += u64::from(has_overrun);
                self.skip(difference(sample.wake_ns, due.due_ns(cycle)));
            }
            if sample.cycle >= window.end_cycle {
                next = window.end_cycle;
                break;
            }
            self.execute(sample);
            has_overrun = self.overruns.add(sample.execution_ns(), due.period_ns);
            self.outage(previous_end_ns, sample.end_ns);
            previous_end_ns = previous_end_ns.max(sample.end_ns);
            next = sample.cycle + 1;
        }
        for cycle in next..window.end_cycle {
            self.skipped_at_end += 1;
            self.skip(difference(end_ns, due.due_ns(cycle)));
        }
        if window.end_cycle > window.first_judged_cycle {
            self.outage(previous_end_ns, end_ns);
            self.threads.insert(window.thread);
        }
        self.misses.end_series();
        self.window_ns += u128::from(end_ns - start_ns);
        Ok(())
    }

    fn execute(&mut self, sample: &Sample) {
        let latency = sample.latency_ns();
        let response = sample.response_ns();
        let missed = exceeds(response, self.deadline_ns)
            || self
                .latency_limit_ns
                .is_some_and(|limit| exceeds(latency, limit))
            || sample.flags.contains(SampleFlags::UNANSWERED);
        self.executed += 1;
        self.executed_late += u64::from(missed);
        self.late_after_overrun += u64::from(sample.flags.contains(SampleFlags::DUE_ALREADY_PAST));
        self.work_faults += u64::from(sample.flags.contains(SampleFlags::WORK_FAULT));
        self.mode_switches += u64::from(sample.flags.contains(SampleFlags::MODE_SWITCH));
        self.misses.push(missed);
        self.latency.push(latency);
        self.response.push(response);
        self.execution.push(sample.execution_ns());
        if sample.flags.contains(SampleFlags::HAS_WORK_TIME) {
            self.work.push(i64::from(sample.work_ns));
        }
        if sample.flags.contains(SampleFlags::HAS_CPU_TIME) {
            self.cpu_time.push(i64::from(sample.cpu_time_ns));
        }
    }

    fn skip(&mut self, suffered_ns: i64) {
        self.skipped += 1;
        self.misses.push(true);
        self.latency_of_skipped.push(suffered_ns);
    }

    fn outage(&mut self, from_ns: u64, to_ns: u64) {
        let length_ns = to_ns.saturating_sub(from_ns);
        if self
            .longest_outage
            .is_none_or(|longest| length_ns > longest.length_ns)
        {
            self.longest_outage = Some(Outage { length_ns, from_ns });
        }
    }

    /// Due times in the judged windows: executed + skipped.
    pub fn scheduled(&self) -> u64 {
        self.executed + self.skipped
    }

    /// Misses and how they cluster.
    pub fn misses(&self) -> MissTally {
        self.misses.tally()
    }

    /// How many threads served due times side by side.
    pub fn threads(&self) -> u64 {
        self.threads.len() as u64
    }

    /// Wake-up latencies of the cycles that ran, in nanoseconds; `None` if none ran.
    pub fn latency_as_executed(&self) -> Option<Distribution> {
        Distribution::new(self.latency.clone())
    }

    /// Wake-up latencies over all due times, in nanoseconds. A skipped one counts with the latency
    /// it suffered: the wake-up of the next cycle that ran − its due time. Where none ran after
    /// it, the end of the window − its due time, which is the least it can have been.
    pub fn latency_as_scheduled(&self) -> Option<Distribution> {
        Distribution::new([self.latency.as_slice(), &self.latency_of_skipped].concat())
    }

    /// Response times of the cycles that ran, in nanoseconds.
    pub fn response(&self) -> Option<Distribution> {
        Distribution::new(self.response.clone())
    }

    /// Execution times of the cycles that ran, in nanoseconds.
    pub fn execution(&self) -> Option<Distribution> {
        Distribution::new(self.execution.clone())
    }

    /// Times of the work alone, where the work took them, in nanoseconds.
    pub fn work(&self) -> Option<Distribution> {
        Distribution::new(self.work.clone())
    }

    /// CPU times of the cycles, where measured, in nanoseconds.
    pub fn cpu_time(&self) -> Option<Distribution> {
        Distribution::new(self.cpu_time.clone())
    }

    /// The first contradiction met in the samples.
    pub fn inconsistency(&self) -> Option<Inconsistency> {
        self.inconsistency
    }

    /// What the samples say of themselves.
    pub fn samples(&self) -> SamplesSeen {
        SamplesSeen {
            count: self.samples_seen,
            inconsistency: self.inconsistency,
            executed: self.executed,
            work_faults: self.work_faults,
            mode_switches: self.mode_switches,
        }
    }

    /// The counts and the figures of every distribution.
    pub fn summary(&self) -> CycleSummary {
        CycleSummary::of(self)
    }
}

fn check(window: JudgedWindow, samples: &[Sample]) -> Result<(), Inconsistency> {
    window.check()?;
    let mut consistency = Consistency::new(window.due, window.first_judged_cycle);
    samples
        .iter()
        .try_for_each(|sample| consistency.next(sample))
}

/// Whether a signed time is longer than an unsigned limit.
fn exceeds(value_ns: i64, limit_ns: u64) -> bool {
    u64::try_from(value_ns).is_ok_and(|value| value > limit_ns)
}

/// `later − earlier`, signed; instants are far below 2⁶³ ns.
fn difference(later_ns: u64, earlier_ns: u64) -> i64 {
    later_ns.wrapping_sub(earlier_ns) as i64
}
