//! The loops of one segment with the samples that the trace covers, and their thread numbers. It
//! explains nothing.

use super::ExplainError;
use super::covered::{Covered, Gaps};
use crate::watched::{RowOf, comes_without_period, sleeps_for_time};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use wakepath_archive::{
    ArchiveError, Run, SegmentRecord, SegmentTold, ThreadRecord, ThreadTold, Trace,
};
use wakepath_explain::{Identifier, LoopThread};
use wakepath_timeline::{AllowedCpus, Policy, Sample};

/// The loops of a segment.
pub struct SegmentLoops<'a> {
    /// The segment.
    pub record: &'a SegmentRecord,
    loops: Vec<Loop<'a>>,
    covered: Covered,
    directory: PathBuf,
}

struct Loop<'a> {
    record: &'a ThreadRecord,
    thread: Option<u32>,
    samples: Vec<Sample>,
    uncovered: u64,
    told: Option<ThreadTold>,
    until_next_wake_up: bool,
    is_from_start: bool,
}

/// Number of cycles that identify a loop's thread, if the recording does not.
const CYCLES_TO_IDENTIFY: usize = 200;

impl<'a> SegmentLoops<'a> {
    /// Reads them.
    ///
    /// # Errors
    /// When samples or trace can't be read.
    pub fn read(
        run: &'a Run,
        record: &'a SegmentRecord,
        trace: &Trace,
    ) -> Result<Self, ExplainError> {
        let watched = run
            .manifest
            .imported
            .as_ref()
            .is_some_and(|from| from.is_made_of_events());
        // The archive has a watched program's cycles on even rows; its trace has them as they were.
        let mut rows = if watched {
            Some(crate::watched::rows(record, trace)?)
        } else {
            None
        };
        let mut new = Self::with(run.directory(), record, trace, |thread| {
            let row = rows
                .as_mut()
                .zip(RowOf::recorded(thread))
                .and_then(|(rows, of)| rows.remove(&of));
            match row {
                Some(row) => Ok(row.samples),
                // Without a rhythm they are as they were imported.
                None => run.samples(record.segment, thread.thread),
            }
        })?;
        let is_from_start = run.manifest.first_process.is_some();
        for of in &mut new.loops {
            of.is_from_start = is_from_start;
        }
        Ok(new)
    }

    /// The loops of a segment, each with the samples that are given for it.
    ///
    /// # Errors
    /// When samples or trace can't be read.
    pub(super) fn with(
        directory: &Path,
        record: &'a SegmentRecord,
        trace: &Trace,
        mut samples: impl FnMut(&ThreadRecord) -> Result<Vec<Sample>, ArchiveError>,
    ) -> Result<Self, ExplainError> {
        let covered = Covered::new(trace);
        let mut told = SegmentTold::read(directory, record.segment)?;
        let mut loops = Vec::new();
        for thread in &record.threads {
            let mut samples = samples(thread)?;
            let mut uncovered = 0;
            let told = told
                .as_mut()
                .and_then(|of| of.threads.remove(&thread.thread));
            if let Some(told) = told.as_ref().filter(|told| !told.dues.is_empty()) {
                uncovered += as_it_was_due(told, &mut samples);
            }
            samples.retain(|sample| {
                let holds = covered.holds(sample);
                uncovered += u64::from(!holds && !sample.is_warm_up());
                holds
            });
            loops.push(Loop {
                record: thread,
                thread: RowOf::recorded(thread).map(|of| of.thread),
                uncovered,
                samples,
                told,
                until_next_wake_up: is_until_next_wake_up(thread),
                is_from_start: false,
            });
        }
        let mut new = Self {
            record,
            loops,
            covered,
            directory: directory.to_owned(),
        };
        new.identify(trace)?;
        Ok(new)
    }

    /// The loops as the explainer takes them.
    pub fn to_explain(&self) -> Vec<LoopThread> {
        let loop_thread = |of: &Loop<'_>| LoopThread {
            name: of.record.name.as_str().into(),
            // A thread that nobody is: its cycles come out without events.
            thread: of.thread.unwrap_or(u32::MAX),
            cpus: of.record.cpus.clone(),
            allowed: allowed_cpus(of.record),
            samples: of.samples.clone(),
            judged_ns: judged_ns(of.record),
            until_next_wake_up: of.until_next_wake_up,
            is_from_start: of.is_from_start,
            is_real_time: of.record.requested.is_real_time(),
        };
        self.loops.iter().map(loop_thread).collect()
    }

    /// Name of a loop.
    pub fn name(&self, number: usize) -> &str {
        &self.loops[number].record.name
    }

    /// Period of a loop, in nanoseconds; 0 if its cycles come without one.
    pub fn period_ns(&self, number: usize) -> u64 {
        let record = self.loops[number].record;
        if comes_without_period(record) {
            0
        } else {
            record.due.period_ns
        }
    }

    /// Whether a loop sleeps for a time after each cycle.
    pub fn sleeps_for_time(&self, number: usize) -> bool {
        sleeps_for_time(self.loops[number].record)
    }

    /// Policy of a loop.
    pub fn policy(&self, number: usize) -> Policy {
        self.loops[number].record.requested
    }

    /// The loops' thread numbers, if known.
    pub fn threads(&self) -> Vec<Option<u32>> {
        self.loops.iter().map(|of| of.thread).collect()
    }

    /// A user's loop's records of its sections.
    pub fn told(&self, number: usize) -> Option<&ThreadTold> {
        self.loops[number].told.as_ref()
    }

    /// A loop's thread within the run.
    pub fn thread_in_run(&self, number: usize) -> u16 {
        self.loops[number].record.thread
    }

    /// The run's directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// How many loops there are.
    pub fn count(&self) -> usize {
        self.loops.len()
    }

    /// Judged cycles of a loop that the trace does not cover.
    pub fn uncovered(&self, number: usize) -> u64 {
        self.loops[number].uncovered
    }

    /// Samples of a loop that the trace covers.
    pub fn samples(&self, number: usize) -> &[Sample] {
        &self.loops[number].samples
    }

    /// What lies between the windows whose events were kept.
    pub fn gaps(&self) -> Gaps<'_> {
        self.covered.gaps()
    }

    /// Keeps, of all loops, only the cycles from `before` before the worst judged cycle to `after`
    /// after it. Returns whose it is, that cycle, and the instants in between in nanoseconds.
    pub fn keep_around_worst(
        &mut self,
        before: usize,
        after: usize,
    ) -> Option<(usize, Sample, (u64, u64))> {
        let judged = self.loops.iter().enumerate().flat_map(|(number, of)| {
            let samples = of.samples.iter().enumerate();
            let judged = samples.filter(|(_, sample)| !sample.is_warm_up());
            judged.map(move |(at, sample)| (number, at, *sample))
        });
        let (number, at, worst) = judged.max_by_key(|(.., sample)| sample.latency_ns())?;
        let samples = &self.loops[number].samples;
        let from_ns = samples[at.saturating_sub(before)].due_ns;
        let to_ns = samples[(at + after).min(samples.len() - 1)].end_ns;
        for of in &mut self.loops {
            of.samples
                .retain(|sample| sample.due_ns >= from_ns && sample.end_ns <= to_ns);
        }
        Some((number, worst, (from_ns, to_ns)))
    }

    fn identify(&mut self, trace: &Trace) -> Result<(), ExplainError> {
        if self.loops.iter().all(|of| of.thread.is_some()) {
            return Ok(());
        }
        let samples = self.loops.iter().map(|of| {
            let first = of.samples.iter().take(CYCLES_TO_IDENTIFY);
            first.copied().collect()
        });
        let mut identifier = Identifier::new(samples.collect());
        for event in trace.events()? {
            if !identifier.event(&event?) {
                break;
            }
        }
        for (of, thread) in self.loops.iter_mut().zip(identifier.threads()) {
            of.thread = of.thread.or(thread);
        }
        Ok(())
    }
}

/// The archive has a driven loop's cycles on an even row; here they are when its clock had them due. Returns how
/// many judged ones are left out, because when they were due is not known.
fn as_it_was_due(told: &ThreadTold, samples: &mut Vec<Sample>) -> u64 {
    let mut left_out = 0;
    samples.retain_mut(|sample| {
        let Some(due_ns) = told.due_ns(sample.cycle) else {
            left_out += u64::from(!sample.is_warm_up());
            return false;
        };
        let apart_ns = due_ns.wrapping_sub(sample.due_ns).cast_signed();
        for at_ns in [&mut sample.due_ns, &mut sample.wake_ns, &mut sample.end_ns] {
            *at_ns = at_ns.saturating_add_signed(apart_ns);
        }
        true
    });
    left_out
}

/// From the first judged due time to the end of the last one's period; `None` if no end is known.
fn judged_ns(record: &ThreadRecord) -> Option<(u64, u64)> {
    let due_ns = |cycle: u64| {
        let after_ns = cycle.checked_mul(record.due.period_ns)?;
        record.due.start_ns.checked_add(after_ns)
    };
    let span = (due_ns(record.first_judged_cycle)?, due_ns(record.expected)?);
    (span.0 < span.1).then_some(span)
}

/// The CPUs that a watched thread was allowed, by time; none of others.
fn allowed_cpus(thread: &ThreadRecord) -> Vec<AllowedCpus> {
    let all = thread.effective.details.get("allowed_cpus");
    let all = all.and_then(|all| Vec::deserialize(all).ok());
    all.unwrap_or_default()
}

/// Whether a thread's cycles are made from its wake-ups: as a watch says that found no marks in its program.
fn is_until_next_wake_up(thread: &ThreadRecord) -> bool {
    let marked = thread.effective.details.get("marked");
    marked.and_then(serde_json::Value::as_bool) == Some(false)
}
