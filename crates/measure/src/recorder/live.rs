//! Figures of the segment under way, for a person to watch. The verdict never uses them: it is
//! computed from the recording.

use serde::{Deserialize, Serialize};
use wakepath_statistics::{LatencyHistogram, Quantile};
use wakepath_timeline::Sample;

/// A segment's figures so far, over all its threads. Times are nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LiveFigures {
    /// Number of the segment.
    pub segment: u32,
    /// Executed cycles after the warm-up.
    pub executed: u64,
    /// Periods skipped after the warm-up.
    pub skipped: u64,
    /// Samples that found the ring full.
    pub lost: u64,
    /// Smallest wake-up latency.
    pub min_ns: i64,
    /// Median wake-up latency, from a histogram of 1 % buckets or finer.
    pub median_ns: i64,
    /// Largest wake-up latency.
    pub max_ns: i64,
    /// Largest response time.
    pub max_response_ns: i64,
}

/// Adds samples up as they come.
#[derive(Debug, Default)]
pub(crate) struct LiveTally {
    latencies: LatencyHistogram,
    max_response_ns: i64,
    skipped: u64,
    /// Last cycle seen of each thread.
    last_cycle: Vec<Option<u64>>,
}

impl LiveTally {
    pub(crate) fn of(threads: u16) -> Self {
        Self {
            last_cycle: vec![None; threads.into()],
            ..Self::default()
        }
    }

    pub(crate) fn add(&mut self, thread: u16, samples: &[Sample]) {
        let last = &mut self.last_cycle[usize::from(thread)];
        for sample in samples {
            let missing = last.map_or(0, |last| sample.cycle.saturating_sub(last + 1));
            *last = Some(sample.cycle);
            if sample.is_warm_up() {
                continue;
            }
            self.skipped += missing;
            self.latencies.record(sample.latency_ns());
            self.max_response_ns = self.max_response_ns.max(sample.response_ns());
        }
    }

    pub(crate) fn figures(&self, segment: u32, lost: u64) -> LiveFigures {
        LiveFigures {
            segment,
            executed: self.latencies.count(),
            skipped: self.skipped,
            lost,
            min_ns: self.latencies.min().unwrap_or(0),
            median_ns: self.latencies.quantile(Quantile::P50).unwrap_or(0),
            max_ns: self.latencies.max().unwrap_or(0),
            max_response_ns: self.max_response_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_timeline::SampleFlags;

    fn sample(cycle: u64, latency_ns: u64, flags: SampleFlags) -> Sample {
        let due_ns = cycle * 1_000_000;
        let wake_ns = due_ns + latency_ns;
        Sample {
            cycle,
            due_ns,
            wake_ns,
            end_ns: wake_ns + 500,
            flags,
            ..Sample::default()
        }
    }

    #[test]
    fn skipped_periods_show_and_the_warm_up_does_not() {
        let judged = SampleFlags::default();
        let mut tally = LiveTally::of(1);
        tally.add(
            0,
            &[
                sample(0, 900_000, SampleFlags::WARM_UP),
                sample(1, 3_000, judged),
            ],
        );
        tally.add(0, &[sample(5, 7_000, judged)]);
        let figures = tally.figures(4, 2);
        assert_eq!((figures.executed, figures.skipped, figures.lost), (2, 3, 2));
        assert_eq!((figures.min_ns, figures.max_ns), (3_000, 7_000));
        assert_eq!(figures.max_response_ns, 7_500);
    }
}
