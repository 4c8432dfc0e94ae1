//! The account of a condition whose samples are all in memory, with its exact distributions.

use crate::account::{Account, Fate};
use crate::window::JudgedWindow;
use crate::{CycleSummary, DueTally, Inconsistency, Limits};
use wakepath_scenario::Criterion;
use wakepath_statistics::Distribution;
use wakepath_timeline::{Sample, SampleFlags};

/// Fate of the due times of a condition, over all its segments and threads.
///
/// Scheduled due times are those executed and those skipped, and nothing else.
#[derive(Debug, Clone)]
pub struct CycleRecord {
    account: Account,
    values: Values,
}

/// Times of single cycles, in nanoseconds, in the order in which they came.
#[derive(Debug, Clone, Default)]
struct Values {
    latency: Vec<i64>,
    latency_of_skipped: Vec<i64>,
    response: Vec<i64>,
    execution: Vec<i64>,
    work: Vec<i64>,
    cpu_time: Vec<i64>,
}

impl Values {
    fn take(&mut self, fate: Fate<'_>) {
        match fate {
            Fate::Ran { sample, .. } => self.ran(sample),
            Fate::Skipped(gap) => self.latency_of_skipped.extend(gap.suffered_ns()),
            Fate::Unknown(_) => {}
        }
    }

    fn ran(&mut self, sample: &Sample) {
        self.latency.push(sample.latency_ns());
        self.response.push(sample.response_ns());
        self.execution.push(sample.execution_ns());
        if sample.flags.contains(SampleFlags::HAS_WORK_TIME) {
            self.work.push(i64::from(sample.work_ns));
        }
        if sample.flags.contains(SampleFlags::HAS_CPU_TIME) {
            self.cpu_time.push(i64::from(sample.cpu_time_ns));
        }
    }

    fn all(&mut self) -> [&mut Vec<i64>; 6] {
        [
            &mut self.latency,
            &mut self.latency_of_skipped,
            &mut self.response,
            &mut self.execution,
            &mut self.work,
            &mut self.cpu_time,
        ]
    }
}

impl CycleRecord {
    /// An empty record; `criterion` says which due times count as missed.
    pub fn new(criterion: &Criterion) -> Self {
        Self {
            account: Account::new(Limits::new(criterion)),
            values: Values::default(),
        }
    }

    /// Adds all samples of one segment of one thread, in order, warm-up included.
    ///
    /// # Errors
    /// The first contradiction in the samples. The record remembers it and every verdict on it is
    /// invalid; nothing of this segment is counted.
    pub fn add(&mut self, window: JudgedWindow, samples: &[Sample]) -> Result<(), Inconsistency> {
        let before = self.account.clone();
        let lengths = self.values.all().map(|values| values.len());
        let values = &mut self.values;
        let outcome = self
            .account
            .add_segment(window, samples, |fate| values.take(fate));
        if let Err(inconsistency) = outcome {
            self.account = before;
            self.account.is_contradicted(samples.len(), inconsistency);
            for (values, length) in self.values.all().into_iter().zip(lengths) {
                values.truncate(length);
            }
        }
        outcome
    }

    /// The counts, and what else needs no single sample.
    pub fn tally(&self) -> DueTally {
        self.account.tally()
    }

    /// Wake-up latencies of the cycles that ran, in nanoseconds, in the order in which they came.
    pub(crate) fn latencies(&self) -> &[i64] {
        &self.values.latency
    }

    /// Wake-up latencies of the cycles that ran, in nanoseconds; `None` if none ran.
    pub fn latency_as_executed(&self) -> Option<Distribution> {
        Distribution::new(self.values.latency.clone())
    }

    /// Wake-up latencies over all due times, in nanoseconds. A skipped one counts with the latency
    /// it suffered: the wake-up of the next cycle that ran − its due time. If none ran after it,
    /// the end of the window − its due time, which is a lower bound.
    pub fn latency_as_scheduled(&self) -> Option<Distribution> {
        let values = &self.values;
        Distribution::new([&values.latency[..], &values.latency_of_skipped].concat())
    }

    /// Response times of the cycles that ran, in nanoseconds.
    pub fn response(&self) -> Option<Distribution> {
        Distribution::new(self.values.response.clone())
    }

    /// Execution times of the cycles that ran, in nanoseconds.
    pub fn execution(&self) -> Option<Distribution> {
        Distribution::new(self.values.execution.clone())
    }

    /// Times of the work alone, if the work took them, in nanoseconds.
    pub fn work(&self) -> Option<Distribution> {
        Distribution::new(self.values.work.clone())
    }

    /// CPU times of the cycles, if measured, in nanoseconds.
    pub fn cpu_time(&self) -> Option<Distribution> {
        Distribution::new(self.values.cpu_time.clone())
    }

    /// The counts and the figures of every distribution.
    pub fn summary(&self) -> CycleSummary {
        let shown = |found: Option<Distribution>| found.map(|values| values.summary());
        CycleSummary {
            latency_as_executed: shown(self.latency_as_executed()),
            latency_as_scheduled: shown(self.latency_as_scheduled()),
            response: shown(self.response()),
            execution: shown(self.execution()),
            work: shown(self.work()),
            cpu_time: shown(self.cpu_time()),
            ..CycleSummary::from(&self.tally())
        }
    }
}
