//! The values of one thread in one condition, in the order of time, read in batches so that ten
//! million cycles fit into memory; and what is known of those that are missing.

use super::BoundMetric;
use crate::judged::{account_end, gaps, served_until};
use wakepath_archive::{Result, Run, SegmentRecord, ThreadRecord};
use wakepath_verdict::{
    Account, CyclesServed, DueTally, Fate, JudgedWindow, Limits, SkippedCounts,
};

/// The values of a thread after the warm-up, and what they lack.
#[derive(Debug, Default)]
pub(super) struct Series {
    /// Nanoseconds, in the order of time, one segment after the other.
    pub(super) values: Vec<i64>,
    /// The longest latency that a skipped due time suffered; `None` if none was skipped, or for
    /// another time than latency.
    pub(super) longest_suffered_ns: Option<i64>,
    /// Fates of its due times.
    pub(super) tally: DueTally,
    /// The recording's shortfall against the loop's counts, segment by segment.
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
        // A manifest's claim does not justify more memory than samples can fill.
        let likely = thread.recorded.min(1 << 24) as usize;
        series.values.reserve(likely);
        let mut account = Account::new(Limits::default());
        account.begin(JudgedWindow {
            due: thread.due,
            first_judged_cycle: thread.first_judged_cycle,
            end_cycle: thread.expected,
            thread: thread.thread.into(),
            lost: thread.lost.unwrap_or(0),
            gaps: gaps(run, thread),
        });
        let mut served = CyclesServed::new(served_until(thread));
        for batch in run.batches(segment.segment, thread.thread)? {
            for sample in batch? {
                served.see(sample.cycle);
                // The account remembers a contradiction, and leaves such a sample out.
                let _ = account.add(&sample, |fate| series.take(fate, metric));
            }
        }
        account.end(account_end(thread), |fate| series.take(fate, metric));
        series.tally.merge(&account.tally());
        let counts = served.against(thread.skipped, thread.lost);
        series.skipped_counts.extend(counts);
    }
    Ok(series)
}

impl Series {
    fn take(&mut self, fate: Fate<'_>, metric: BoundMetric) {
        match fate {
            Fate::Ran { sample, .. } => self.values.push(match metric {
                BoundMetric::Latency => sample.latency_ns(),
                BoundMetric::Execution => sample.execution_ns(),
                BoundMetric::Response => sample.response_ns(),
            }),
            Fate::Skipped(gap) if metric == BoundMetric::Latency => {
                self.longest_suffered_ns = self.longest_suffered_ns.max(Some(gap.longest_ns()));
            }
            Fate::Skipped(_) | Fate::Unknown(_) => {}
        }
    }
}
