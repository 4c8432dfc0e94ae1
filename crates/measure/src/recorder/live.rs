//! Figures of the segment under way, for a person to watch. The verdict never uses them: it is
//! computed from the recording.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wakepath_statistics::{LatencyHistogram, Quantile};
use wakepath_timeline::{Sample, SampleFlags};

/// Upper edges of the counts in [`LiveFigures::within`], in nanoseconds.
pub const WITHIN_NS: [i64; 19] = [
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
];

/// A segment's figures so far, over all its threads. Times are nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LiveFigures {
    /// Number of the segment.
    pub segment: u32,
    /// Executed cycles after the warm-up.
    pub executed: u64,
    /// Periods skipped after the warm-up.
    pub skipped: u64,
    /// Due times missed after the warm-up: skipped, woken or ended too late.
    pub missed: u64,
    /// Samples that found the ring full.
    pub lost: u64,
    /// Smallest wake-up latency.
    pub min_ns: i64,
    /// Median wake-up latency, from a histogram of 1 % buckets or finer.
    pub median_ns: i64,
    /// Largest wake-up latency.
    pub max_ns: i64,
    /// Largest wake-up latency over all due times, skipped ones with what they suffered.
    pub max_as_scheduled_ns: i64,
    /// Largest response time.
    pub max_response_ns: i64,
    /// Largest wake-up latency since the figures before these; `None` where no cycle ran.
    pub recent_max_ns: Option<i64>,
    /// Sum of the wake-up latencies, early ones counted as 0.
    pub sum_ns: u64,
    /// How many wake-up latencies are at most each of [`WITHIN_NS`].
    pub within: Vec<u64>,
    /// Each thread on each CPU that it woke on.
    pub places: Vec<LivePlace>,
}

/// A thread's wake-up latencies on one CPU, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LivePlace {
    /// Number of the thread in its segment.
    pub thread: u16,
    /// The CPU.
    pub cpu: u16,
    /// Cycles that woke there.
    pub executed: u64,
    /// The latest latency.
    pub last_ns: i64,
    /// The smallest.
    pub min_ns: i64,
    /// The mean.
    pub mean_ns: i64,
    /// The largest.
    pub max_ns: i64,
}

/// Adds samples up as they come.
#[derive(Debug, Default)]
pub struct LiveTally {
    latencies: LatencyHistogram,
    max_as_scheduled_ns: i64,
    max_response_ns: i64,
    skipped: u64,
    missed: u64,
    recent_max_ns: Option<i64>,
    sum_ns: u64,
    within: [u64; WITHIN_NS.len()],
    threads: Vec<Thread>,
    places: BTreeMap<(u16, u16), Place>,
}

/// What is late for a thread, and where it is.
#[derive(Debug, Clone, Copy, Default)]
struct Thread {
    limits: Limits,
    /// Number and due time of its last cycle.
    last: Option<(u64, u64)>,
}

/// When a cycle has missed its due time, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Limits {
    /// Largest wake-up latency; `None` where any is allowed.
    pub latency_ns: Option<u64>,
    /// Largest response time; `None` where any is allowed.
    pub deadline_ns: Option<u64>,
}

impl Limits {
    fn are_missed_by(&self, sample: &Sample) -> bool {
        let above = |value: i64, limit: Option<u64>| {
            limit.is_some_and(|limit| i128::from(value) > i128::from(limit))
        };
        above(sample.latency_ns(), self.latency_ns)
            || above(sample.response_ns(), self.deadline_ns)
            || sample.flags.contains(SampleFlags::UNANSWERED)
    }
}

#[derive(Debug, Clone, Copy)]
struct Place {
    executed: u64,
    last_ns: i64,
    min_ns: i64,
    max_ns: i64,
    sum_ns: i64,
}

impl LiveTally {
    /// Of threads with these limits.
    pub fn of(limits: impl IntoIterator<Item = Limits>) -> Self {
        let thread = |limits| Thread { limits, last: None };
        Self {
            threads: limits.into_iter().map(thread).collect(),
            ..Self::default()
        }
    }

    /// Adds a thread's next samples.
    pub fn add(&mut self, thread: u16, samples: &[Sample]) {
        let Some(of) = self.threads.get_mut(usize::from(thread)) else {
            return;
        };
        for sample in samples {
            let last = of.last.replace((sample.cycle, sample.due_ns));
            // A program of the user's own may have written anything into a sample.
            let further = last.map_or(0, |(cycle, _)| sample.cycle.saturating_sub(cycle));
            let missing = further.saturating_sub(1);
            if sample.is_warm_up() {
                continue;
            }
            let latency_ns = sample.latency_ns();
            let suffered_ns = match last {
                // The first that was skipped waited longest.
                Some((_, due_ns)) if missing > 0 => {
                    let passed_ns = sample.due_ns.saturating_sub(due_ns);
                    let period_ns = passed_ns / further;
                    let first_ns = due_ns.saturating_add(period_ns);
                    sample.wake_ns.saturating_sub(first_ns).cast_signed()
                }
                _ => latency_ns,
            };
            self.max_as_scheduled_ns = self.max_as_scheduled_ns.max(suffered_ns);
            self.skipped = self.skipped.saturating_add(missing);
            let late = u64::from(of.limits.are_missed_by(sample));
            self.missed = self.missed.saturating_add(missing).saturating_add(late);
            self.latencies.record(latency_ns);
            let above_ns = latency_ns.max(0).cast_unsigned();
            self.sum_ns = self.sum_ns.saturating_add(above_ns);
            self.max_response_ns = self.max_response_ns.max(sample.response_ns());
            self.recent_max_ns = self.recent_max_ns.max(Some(latency_ns));
            let first = WITHIN_NS.partition_point(|&edge| edge < latency_ns);
            self.within[first..]
                .iter_mut()
                .for_each(|count| *count += 1);
            let place = self.places.entry((thread, sample.cpu)).or_insert(Place {
                executed: 0,
                last_ns: latency_ns,
                min_ns: latency_ns,
                max_ns: latency_ns,
                sum_ns: 0,
            });
            place.executed += 1;
            place.last_ns = latency_ns;
            place.min_ns = place.min_ns.min(latency_ns);
            place.max_ns = place.max_ns.max(latency_ns);
            place.sum_ns = place.sum_ns.saturating_add(latency_ns);
        }
    }

    /// The figures so far; the recent ones begin anew.
    pub fn figures(&mut self, segment: u32, lost: u64) -> LiveFigures {
        let places = self.places.iter().map(|(&(thread, cpu), of)| LivePlace {
            thread,
            cpu,
            executed: of.executed,
            last_ns: of.last_ns,
            min_ns: of.min_ns,
            mean_ns: of.sum_ns / of.executed.max(1).cast_signed(),
            max_ns: of.max_ns,
        });
        LiveFigures {
            segment,
            executed: self.latencies.count(),
            skipped: self.skipped,
            missed: self.missed,
            lost,
            min_ns: self.latencies.min().unwrap_or(0),
            median_ns: self.latencies.quantile(Quantile::P50).unwrap_or(0),
            max_ns: self.latencies.max().unwrap_or(0),
            max_as_scheduled_ns: self.max_as_scheduled_ns,
            max_response_ns: self.max_response_ns,
            recent_max_ns: self.recent_max_ns.take(),
            sum_ns: self.sum_ns,
            within: self.within.to_vec(),
            places: places.collect(),
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
        let mut tally = LiveTally::of([Limits {
            latency_ns: Some(5_000),
            deadline_ns: None,
        }]);
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
        // Cycle 2 was due 3 ms before cycle 5 woke, 7 µs late.
        assert_eq!(figures.max_as_scheduled_ns, 3_007_000);
        // Three skipped, one woken later than 5 µs.
        assert_eq!(figures.missed, 4);
        // Counted up to 5 µs: one; from 10 µs on: both.
        assert_eq!(figures.within[1..4], [0, 1, 2]);
        assert_eq!(
            (figures.sum_ns, figures.recent_max_ns),
            (10_000, Some(7_000))
        );
        assert_eq!(tally.figures(4, 2).recent_max_ns, None);
    }

    #[test]
    fn samples_that_something_wrote_over_are_added_up_all_the_same() {
        let judged = SampleFlags::default();
        let wild = Sample {
            cycle: u64::MAX,
            due_ns: 0,
            wake_ns: i64::MAX as u64,
            end_ns: u64::MAX,
            ..Sample::default()
        };
        let mut tally = LiveTally::of([Limits::default()]);
        tally.add(0, &[sample(1, 3_000, judged), wild, wild, wild]);
        tally.add(0, &[sample(1, 3_000, judged), wild]);
        let figures = tally.figures(0, 0);
        assert_eq!((figures.executed, figures.max_ns), (6, i64::MAX));
        assert_eq!((figures.skipped, figures.sum_ns), (u64::MAX, u64::MAX));
    }

    #[test]
    fn each_cpu_has_figures_of_its_own() {
        let mut tally = LiveTally::of([Limits::default(); 2]);
        let on = |cpu, cycle, latency_ns| Sample {
            cpu,
            ..sample(cycle, latency_ns, SampleFlags::default())
        };
        tally.add(0, &[on(1, 0, 4_000), on(1, 1, 2_000), on(3, 2, 9_000)]);
        tally.add(1, &[on(1, 0, 50_000)]);
        let of = |place: &LivePlace| {
            let LivePlace {
                thread,
                cpu,
                executed,
                last_ns,
                min_ns,
                mean_ns,
                max_ns,
            } = *place;
            (thread, cpu, executed, [last_ns, min_ns, mean_ns, max_ns])
        };
        let places: Vec<_> = tally.figures(0, 0).places.iter().map(of).collect();
        assert_eq!(
            places,
            [
                (0, 1, 2, [2_000, 2_000, 3_000, 4_000]),
                (0, 3, 1, [9_000; 4]),
                (1, 1, 1, [50_000; 4]),
            ]
        );
    }
}
