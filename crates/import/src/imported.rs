//! Contents of a file, whichever tool wrote it: threads with a histogram, samples or a row of cycles. It
//! reads nothing.

use crate::ImportError;
use std::collections::BTreeMap;
use std::ops::Range;
use wakepath_timeline::duration::exact;
use wakepath_timeline::{DueTimes, KernelEvent, Lack, Measured, Sample, What};

/// Contents of a file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Imported {
    /// The tool.
    pub tool: &'static str,
    /// Its version, where the file says it.
    pub tool_version: Option<String>,
    /// Its command line, where the file says it.
    pub command: Vec<String>,
    /// Release of the kernel, where the file says it.
    pub kernel: Option<String>,
    /// The measured quantity.
    pub measures: &'static str,
    /// Which kind of values they are.
    pub measured: Measured,
    /// Data missing from the file, one line each.
    pub lacks: Vec<Lack>,
    /// The threads, in the file's order; none only of calls of ROS 2 without a timer.
    pub threads: Vec<Thread>,
    /// Period of all threads in nanoseconds, where the file says it.
    pub period_ns: Option<u64>,
    /// Real-time priority and whether the policy is RR rather than FIFO, where the file says it;
    /// 0 is no real-time policy.
    pub priority: Option<(u8, bool)>,
    /// Its scheduling policy, where the file says that and not its parameters.
    pub scheduler: Option<&'static str>,
    /// Whether its threads are different tasks, rather than one loop on several CPUs.
    pub has_tasks: bool,
    /// The kernel's events that the cycles were made of, if any.
    pub trace: Option<KernelTrace>,
    /// What programs of ROS 2 called, where the file has that.
    pub ros2: Option<Ros2Calls>,
}

/// Calls of libtracetools by threads of several processes, and the kernel's events between them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ros2Calls {
    /// In order of time; empty if they are those of the [`KernelTrace`].
    pub events: Vec<KernelEvent>,
    /// The process of each thread that made a call.
    pub processes: BTreeMap<u32, u32>,
}

/// Events of the kernel over some time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KernelTrace {
    /// The events, in order of time.
    pub events: Vec<KernelEvent>,
    /// CPUs whose events are there, ascending.
    pub cpus: Vec<u16>,
}

impl Imported {
    /// What programs of ROS 2 called, with the kernel's events between, and the process of each thread that did.
    pub fn ros2_calls(&self) -> Option<(&[KernelEvent], &BTreeMap<u32, u32>)> {
        let calls = self.ros2.as_ref()?;
        let kernel = self.trace.as_ref().map(|trace| &trace.events);
        Some((kernel.unwrap_or(&calls.events), &calls.processes))
    }
}

impl KernelTrace {
    /// Events that are known to be missing, by CPU. One of which it is not known how many counts
    /// as one.
    pub fn lost(&self) -> BTreeMap<u16, u64> {
        let mut lost: BTreeMap<u16, u64> = BTreeMap::new();
        for event in &self.events {
            if let What::Lost { count } = event.what {
                let of_cpu = lost.entry(event.cpu).or_default();
                *of_cpu = of_cpu.saturating_add(count.max(1));
            }
        }
        lost
    }
}

/// One thread of the tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Thread {
    /// Its name: the tool's number for it.
    pub name: String,
    /// Its CPU, where the file says it.
    pub cpu: Option<u16>,
    /// Its values.
    pub values: Values,
    /// Its place in the run that it was exported from, if the file gives it.
    pub place: Option<Place>,
    /// Its period in nanoseconds, where the file says one of its own.
    pub period_ns: Option<u64>,
    /// Its real-time priority and whether its policy is RR, where the file says one of its own.
    pub priority: Option<(u8, bool)>,
    /// By which right it was scheduled, where its events show it.
    pub scheduled_by: Option<ScheduledBy>,
    /// How long it was observed, where the file says it.
    pub observed_ns: Option<u64>,
    /// The kernel's number of it, where its cycles were made of the kernel's events.
    pub number: Option<u32>,
    /// Which of the thread's timers begins its cycles, where several begin cycles of their own.
    pub timer: Option<usize>,
}

impl Thread {
    pub(crate) fn new(name: impl Into<String>, cpu: Option<u16>, values: Values) -> Self {
        Self {
            name: name.into(),
            cpu,
            values,
            place: None,
            period_ns: None,
            priority: None,
            scheduled_by: None,
            observed_ns: None,
            number: None,
            timer: None,
        }
    }
}

/// A policy as far as the kernel's events show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduledBy {
    /// A real-time priority, 1 to 99: FIFO or RR.
    Priority(u8),
    /// A share of the CPU: OTHER, BATCH or IDLE.
    Share,
}

impl ScheduledBy {
    /// One of the policies that fit, as options give them.
    pub fn example(self) -> String {
        match self {
            Self::Priority(own) => format!("FIFO {own}"),
            Self::Share => "OTHER".to_owned(),
        }
    }
}

/// A thread's place in the run that it was exported from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Number of the segment.
    pub segment: u32,
    /// Number of the repetition, from 0.
    pub repetition: u32,
    /// Name of the phase.
    pub phase: String,
    /// The condition: its policy, or the name of its task set.
    pub condition: String,
}

/// The values of a thread.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Counts by value.
    Histogram(Histogram),
    /// Each cycle by itself.
    Samples(Samples),
    /// Each cycle by itself, at its instants.
    Row(Row),
}

/// Counts by value, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Histogram {
    /// Lowest and highest value of a bin, and how many lie in it; ascending, none empty.
    pub bins: Vec<(i64, i64, u64)>,
    /// Values at or beyond the range, whose size is lost.
    pub overflowed: u64,
    /// Where the range ends: every overflowed value is at least this.
    pub range_end_ns: Option<i64>,
    /// Smallest value, where the tool says it.
    pub min_ns: Option<i64>,
    /// Largest value, overflowed ones included, where the tool says it.
    pub max_ns: Option<i64>,
    /// Mean as the tool says it.
    pub mean_ns: Option<i64>,
}

/// Limit on the bins of all histograms of a run in its log, whose events are limited to 16 MiB.
pub(crate) const MOST_BIN_BYTES: u64 = 15 << 20;

/// Why a histogram is too large, and what would be right.
pub const TOO_MANY_BINS: &str = "the histograms of all threads together have more bins than a run \
     holds (15 MiB of them, some 700 000): import fewer threads or files, or measure with fewer bins";

impl Histogram {
    /// Whether a run can't hold the bins of all these.
    pub fn are_too_many<'a>(all: impl Iterator<Item = &'a Self>) -> bool {
        let bins = all.flat_map(|of| &of.bins);
        bins.map(|bin| Self::bytes_of(*bin)).sum::<u64>() > MOST_BIN_BYTES
    }

    /// A bin's size in a run's log: three numbers, commas and brackets.
    pub(crate) fn bytes_of((low, high, count): (i64, i64, u64)) -> u64 {
        let digits = |number: u64| u64::from(number.checked_ilog10().unwrap_or(0)) + 1;
        let signs = u64::from(low < 0) + u64::from(high < 0);
        digits(low.unsigned_abs()) + digits(high.unsigned_abs()) + digits(count) + signs + 5
    }

    /// Of values of which the count and the extremes alone are known.
    pub(crate) fn summary(count: u64, min_ns: i64, max_ns: i64) -> Self {
        // All values of a thread whose extremes are one are that one.
        let (bins, overflowed) = if min_ns == max_ns && count > 0 {
            (vec![(min_ns, max_ns, count)], 0)
        } else {
            (Vec::new(), count)
        };
        Self {
            bins,
            overflowed,
            range_end_ns: Some(min_ns),
            min_ns: Some(min_ns),
            max_ns: Some(max_ns),
            mean_ns: None,
        }
    }

    /// Whether it has the extremes and the mean alone.
    fn is_summary(&self) -> bool {
        self.bins.is_empty() && self.overflowed > 0
    }

    /// Holds the extremes that the tool tells against its bins.
    ///
    /// # Errors
    /// For a smallest or largest value that is in none; with its line.
    pub(crate) fn agree(
        &self,
        min_line: Option<usize>,
        max_line: Option<usize>,
    ) -> Result<(), ImportError> {
        let told = |ns: i64| exact(ns.unsigned_abs());
        let wrong = |line: Option<usize>, why: String| Err(ImportError { line, why });
        if let (Some(min), Some((low, high, _))) = (self.min_ns, self.bins.first())
            && !(low..=high).contains(&&min)
        {
            let (min, low, high) = (told(min), told(*low), told(*high));
            let why = format!(
                "the smallest value is {min}, and the first value that was counted is from {low} to {high}"
            );
            return wrong(min_line, why);
        }
        let Some(max) = self.max_ns else {
            return Ok(());
        };
        if self.min_ns.is_some_and(|min| min > max) {
            let why = format!(
                "the largest value is {}, and the smallest is greater",
                told(max)
            );
            return wrong(max_line, why);
        }
        if self.overflowed > 0 {
            if let Some(end) = self.range_end_ns
                && max < end
            {
                let why = format!(
                    "the largest value is {}, and values from {} on were counted",
                    told(max),
                    told(end)
                );
                return wrong(max_line, why);
            }
        } else if let Some((low, high, _)) = self.bins.last()
            && !(low..=high).contains(&&max)
        {
            let (max, low, high) = (told(max), told(*low), told(*high));
            let why = format!(
                "the largest value is {max}, and the last value that was counted is from {low} to {high}"
            );
            return wrong(max_line, why);
        }
        Ok(())
    }

    /// All values, overflowed ones included.
    pub fn count(&self) -> u64 {
        let within = self
            .bins
            .iter()
            .fold(0_u64, |sum, bin| sum.saturating_add(bin.2));
        within.saturating_add(self.overflowed)
    }
}

/// Cycles one by one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Samples {
    /// Period in nanoseconds.
    pub period_ns: u64,
    /// Number of the due time, from 0, and first instruction − due time in nanoseconds.
    pub cycles: Vec<(u64, i64)>,
    /// Samples that the tool took and the file lacks, as far as its numbering tells.
    pub lost: u64,
}

/// Cycles at their instants, each due at a whole number of periods after the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// When cycles were due.
    pub due: DueTimes,
    /// The cycles in order.
    pub samples: Vec<Sample>,
    /// Cycles that are known to be missing.
    pub lost: u64,
    /// The cycles that were to be judged, where the file says it: due times before, between and after the
    /// cycles may have been skipped.
    pub judged: Option<Range<u64>>,
}

/// What counted values lack, whichever tool of a periodic thread counted them.
pub(crate) fn counted_lacks(threads: &[Thread]) -> Vec<Lack> {
    let of = |which: fn(&Histogram) -> bool| {
        let mut all = threads.iter();
        all.any(|thread| matches!(&thread.values, Values::Histogram(found) if which(found)))
    };
    let mut lacks = vec![Lack::SkippedPeriods];
    if of(Histogram::is_summary) {
        lacks.push(Lack::Quantiles);
    }
    if of(|found| !found.is_summary() && found.overflowed > 0) {
        lacks.push(Lack::OverflowedValues);
    }
    lacks.extend([
        Lack::Order,
        Lack::ExecutionTimes,
        Lack::WarmUp,
        Lack::EffectivePolicy,
        Lack::Machine,
    ]);
    lacks
}

/// What values without due times lack.
pub(crate) fn undue_lacks(threads: &[Thread]) -> Vec<Lack> {
    let mut lacks = counted_lacks(threads);
    lacks.retain(|lack| !matches!(lack, Lack::SkippedPeriods | Lack::ExecutionTimes));
    lacks
}

/// Gives all threads one range, which is the tool's: a value beyond it is beyond all bins.
pub(crate) fn share_range(threads: &mut [Thread]) {
    let histograms = threads.iter().filter_map(|thread| match &thread.values {
        Values::Histogram(found) if !found.is_summary() => found.range_end_ns,
        _ => None,
    });
    let end = histograms.max();
    for thread in threads {
        if let Values::Histogram(found) = &mut thread.values
            && !found.is_summary()
        {
            found.range_end_ns = end;
        }
    }
}

/// That the tool ended its run at a limit.
pub(crate) fn stopped(at: &str) -> Lack {
    Lack::Other(format!("the time after the end: the tool stopped at {at}"))
}
