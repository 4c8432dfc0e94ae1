//! The loops of one segment with the samples that the trace covers, and their thread numbers. It
//! explains nothing.

use super::Failure;
use wakepath_archive::{Kept, Run, SegmentRecord, ThreadRecord, Trace};
use wakepath_explain::{Identifier, LoopThread};
use wakepath_timeline::Sample;

/// The loops of a segment.
pub struct SegmentLoops<'a> {
    /// The segment.
    pub record: &'a SegmentRecord,
    loops: Vec<Loop<'a>>,
    windows: Vec<(u64, u64)>,
}

struct Loop<'a> {
    record: &'a ThreadRecord,
    thread: Option<u32>,
    samples: Vec<Sample>,
    uncovered: u64,
}

/// Cycles that tell which thread a loop is, where the recording does not.
const CYCLES_TO_IDENTIFY: usize = 200;

impl<'a> SegmentLoops<'a> {
    /// Reads them.
    ///
    /// # Errors
    /// When samples or trace can't be read.
    pub fn read(run: &'a Run, record: &'a SegmentRecord, trace: &Trace) -> Result<Self, Failure> {
        let windows = windows(trace);
        let covered = Covered::of(trace);
        let mut loops = Vec::new();
        let watched = run
            .manifest
            .imported
            .as_ref()
            .is_some_and(|from| from.is_watched());
        // The archive has a watched program's cycles on even rows; its trace has them as they were.
        let mut rows = match watched {
            true => Some(crate::watch::rows(record, trace)?),
            false => None,
        };
        for thread in &record.threads {
            let mut samples = match (&mut rows, thread_number(thread)) {
                (Some(rows), Some(number)) => {
                    rows.remove(&number).map_or(Vec::new(), |row| row.samples)
                }
                _ => run.samples(record.segment, thread.thread)?,
            };
            let mut uncovered = 0;
            samples.retain(|sample| {
                let holds = covered.holds(&windows, sample);
                uncovered += u64::from(!holds && !sample.is_warm_up());
                holds
            });
            loops.push(Loop {
                record: thread,
                thread: thread_number(thread),
                uncovered,
                samples,
            });
        }
        let mut new = Self {
            record,
            loops,
            windows,
        };
        new.identify(trace)?;
        Ok(new)
    }

    /// The loops as the explainer takes them.
    pub fn to_explain(&self) -> Vec<LoopThread> {
        let loop_thread = |of: &Loop<'_>| LoopThread {
            // A thread that nobody is: its cycles come out without events.
            thread: of.thread.unwrap_or(u32::MAX),
            cpus: of.record.cpus.clone(),
            samples: of.samples.clone(),
        };
        self.loops.iter().map(loop_thread).collect()
    }

    /// Name and period in nanoseconds of a loop.
    pub fn name(&self, number: usize) -> &str {
        &self.loops[number].record.name
    }

    /// Period of a loop, in nanoseconds.
    pub fn period_ns(&self, number: usize) -> u64 {
        self.loops[number].record.due.period_ns
    }

    /// How many loops there are.
    pub fn len(&self) -> usize {
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

    /// Windows whose events were kept; none where all were.
    pub fn windows(&self) -> &[(u64, u64)] {
        &self.windows
    }

    fn identify(&mut self, trace: &Trace) -> Result<(), Failure> {
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

/// The stretch of time in which a trace is complete.
struct Covered {
    from_ns: u64,
    to_ns: u64,
}

impl Covered {
    fn of(trace: &Trace) -> Self {
        let end = trace.end();
        let complete = end.into_iter().flat_map(|end| &end.cpus);
        let overwritten = complete.map(|cpu| cpu.complete_from_ns).max();
        Self {
            from_ns: overwritten.unwrap_or(0).max(trace.description().began_ns),
            to_ns: end.map_or(u64::MAX, |end| end.ended_ns),
        }
    }

    fn holds(&self, windows: &[(u64, u64)], sample: &Sample) -> bool {
        let inside = |from: u64, to: u64| sample.due_ns >= from && sample.end_ns <= to;
        inside(self.from_ns, self.to_ns)
            && (windows.is_empty() || windows.iter().any(|&(from, to)| inside(from, to)))
    }
}

fn windows(trace: &Trace) -> Vec<(u64, u64)> {
    match trace.end().map(|end| &end.kept) {
        Some(Kept::Windows { windows }) => windows.iter().map(|w| (w.from_ns, w.to_ns)).collect(),
        _ => Vec::new(),
    }
}

/// The kernel's number of the thread, where the run says it.
fn thread_number(record: &ThreadRecord) -> Option<u32> {
    let number = record.effective.details.get("thread_id")?.as_u64()?;
    u32::try_from(number).ok()
}
