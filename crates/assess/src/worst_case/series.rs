//! The values of one thread in one condition, in the order of time, read in batches so that ten
//! million cycles fit into memory; and what is known of those that are missing.

use super::BoundMetric;
use crate::judged::{served_until, window_end};
use wakepath_archive::{Result, Run, SegmentRecord, ThreadRecord};
use wakepath_timeline::{Sample, SampleFlags};
use wakepath_verdict::{Consistency, CyclesServed, JudgedWindow, SamplesSeen, SkippedCounts};

/// The values of a thread after the warm-up, and what they lack.
#[derive(Debug, Default)]
pub(super) struct Series {
    /// Nanoseconds, in the order of time, one segment after the other.
    pub(super) values: Vec<i64>,
    /// Due times at which no cycle started.
    pub(super) skipped: u64,
    /// The longest latency that a skipped due time suffered; `None` where none was skipped, or
    /// where another time than latency is asked for.
    pub(super) longest_suffered_ns: Option<i64>,
    /// Cycles that were due before the one before them had ended.
    pub(super) after_overrun: u64,
    /// What the samples say of themselves.
    pub(super) samples: SamplesSeen,
    /// What they leave out beside what the loop counted, segment by segment.
    pub(super) skipped_counts: Vec<SkippedCounts>,
}

/// Reads what the segments of a thread hold, without the warm-up.
pub(super) fn read(
    run: &Run,
    parts: &[(&SegmentRecord, &ThreadRecord)],
    metric: BoundMetric,
) -> Result<Series> {
    let mut series = Series::default();
    for (segment, thread) in parts {
        if thread.due.start_ns == 0 {
            continue;
        }
        // What a manifest claims is no reason to ask for more memory than samples can fill.
        let likely = thread.recorded.min(1 << 24) as usize;
        series.values.reserve(likely);
        let mut next = thread.first_judged_cycle;
        let mut last = None;
        let mut consistency = Consistency::new(thread.due, thread.first_judged_cycle);
        let mut served = CyclesServed::new(served_until(thread));
        for batch in run.batches(segment.segment, thread.thread)? {
            for sample in batch? {
                series.samples.count += 1;
                served.see(sample.cycle);
                if let Err(inconsistency) = consistency.next(&sample) {
                    series.samples.inconsistency.get_or_insert(inconsistency);
                    continue;
                }
                last = Some(sample.cycle);
                if sample.cycle < thread.first_judged_cycle {
                    continue;
                }
                if sample.cycle > next {
                    // The first of those skipped waited longest.
                    let waited = sample.wake_ns.saturating_sub(thread.due.due_ns(next));
                    series.skip(
                        sample.cycle.min(thread.expected).saturating_sub(next),
                        waited,
                        metric,
                    );
                }
                next = sample.cycle + 1;
                if sample.cycle < thread.expected {
                    series.add(&sample, metric);
                }
            }
        }
        let end = window_end(thread, last);
        let counts = served.against(thread.skipped, thread.lost);
        series.skipped_counts.extend(counts);
        let window = JudgedWindow {
            due: thread.due,
            first_judged_cycle: thread.first_judged_cycle,
            end_cycle: end,
            thread: thread.thread.into(),
        };
        if let Err(inconsistency) = window.check() {
            series.samples.inconsistency.get_or_insert(inconsistency);
        }
        if end > next {
            let waited = thread.due.due_ns(end) - thread.due.due_ns(next);
            series.skip(end - next, waited, metric);
        }
    }
    Ok(series)
}

impl Series {
    fn add(&mut self, sample: &Sample, metric: BoundMetric) {
        self.values.push(match metric {
            BoundMetric::Latency => sample.latency_ns(),
            BoundMetric::Execution => sample.execution_ns(),
            BoundMetric::Response => sample.response_ns(),
        });
        self.samples.executed += 1;
        self.samples.mode_switches += u64::from(sample.flags.contains(SampleFlags::MODE_SWITCH));
        self.samples.work_faults += u64::from(sample.flags.contains(SampleFlags::WORK_FAULT));
        self.after_overrun += u64::from(sample.flags.contains(SampleFlags::DUE_ALREADY_PAST));
    }

    fn skip(&mut self, count: u64, waited_ns: u64, metric: BoundMetric) {
        self.skipped += count;
        if metric == BoundMetric::Latency && count > 0 {
            let waited = i64::try_from(waited_ns).unwrap_or(i64::MAX);
            self.longest_suffered_ns = self.longest_suffered_ns.max(Some(waited));
        }
    }
}
