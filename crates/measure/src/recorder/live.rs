//! Figures of the segment under way, for a person to watch. The verdict never uses them: it is
//! computed from the recording.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use wakepath_statistics::{LatencyHistogram, Quantile};
use wakepath_timeline::{DueTimes, Sample};
use wakepath_verdict::{Account, DueTally, Fate, Gaps, JudgedWindow, Limits};

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
    /// Periods skipped after the warm-up; `None` if nothing shows them.
    pub skipped: Option<u64>,
    /// Due times missed after the warm-up: skipped, woken or ended too late; `None` without a limit.
    pub missed: Option<u64>,
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
    /// Largest wake-up latency since the figures before these; `None` if no cycle ran.
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
    threads: Vec<Thread>,
    seen: Seen,
}

/// Latencies of the cycles that ran, over all threads.
#[derive(Debug, Default)]
struct Seen {
    latencies: LatencyHistogram,
    recent_max_ns: Option<i64>,
    sum_ns: u64,
    within: [u64; WITHIN_NS.len()],
    places: BTreeMap<(u16, u16), Place>,
}

/// What must be known of a thread before its first sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveThread {
    /// When it is late.
    pub limits: Limits,
    /// Its period in nanoseconds.
    pub period_ns: u64,
    /// Its judged cycles; from its first sample on if it is not known.
    pub judged: Option<Range<u64>>,
}

#[derive(Debug)]
struct Thread {
    of: LiveThread,
    /// Number in its segment.
    number: u16,
    account: Account,
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
    /// Of these threads.
    pub fn new(threads: impl IntoIterator<Item = LiveThread>) -> Self {
        let thread = |(number, of): (u16, LiveThread)| Thread {
            account: Account::new(of.limits),
            number,
            of,
        };
        Self {
            threads: (0..).zip(threads).map(thread).collect(),
            seen: Seen::default(),
        }
    }

    /// Adds a thread's next samples. What contradicts itself is left out: a program of the user's
    /// own may have written anything into a sample.
    pub fn add(&mut self, thread: u16, samples: &[Sample]) {
        let Some(thread) = self.threads.get_mut(usize::from(thread)) else {
            return;
        };
        for sample in samples {
            if !thread.account.is_open() {
                let due = due_times(sample, thread.of.period_ns);
                thread.begin(due, sample.cycle, Gaps::Skipped);
            }
            let _ = thread.account.add(sample, |fate| {
                if let Fate::Ran { sample, .. } = fate {
                    self.seen.ran(thread.number, sample);
                }
            });
        }
    }

    /// Adds a thread's next samples, each with its own due time: those of a watched thread.
    pub fn add_as_due(&mut self, thread: u16, period_ns: u64, gaps: Gaps, samples: &[Sample]) {
        for sample in samples {
            if let Some(thread) = self.threads.get_mut(usize::from(thread)) {
                let due = due_times(sample, period_ns);
                if thread.account.is_open() {
                    thread.account.is_due(due, gaps)
                } else {
                    thread.begin(due, sample.cycle, gaps)
                }
            }
            self.add(thread, std::slice::from_ref(sample));
        }
    }

    /// Adds `samples` more lost samples of a thread.
    pub fn lose(&mut self, thread: u16, samples: u64) {
        if let Some(thread) = self.threads.get_mut(usize::from(thread)) {
            thread.account.lose(samples);
        }
    }

    /// The figures so far; the recent ones begin again.
    pub fn figures(&mut self, segment: u32, lost: u64) -> LiveFigures {
        let places = self.seen.places.iter();
        let places = places.map(|(&(thread, cpu), of)| LivePlace {
            thread,
            cpu,
            executed: of.executed,
            last_ns: of.last_ns,
            min_ns: of.min_ns,
            mean_ns: of.sum_ns / of.executed.max(1).cast_signed(),
            max_ns: of.max_ns,
        });
        let places = places.collect();
        let mut tally = DueTally::default();
        for thread in &self.threads {
            tally.merge(&thread.account.tally());
        }
        let limits = self.threads.iter().map(|thread| thread.of.limits);
        let has_limits = limits.into_iter().any(|limits| limits != Limits::default());
        let seen = &mut self.seen;
        LiveFigures {
            segment,
            executed: tally.executed,
            skipped: (!tally.skips_unknown).then_some(tally.skipped),
            missed: has_limits.then_some(tally.misses.missed),
            lost,
            min_ns: seen.latencies.min().unwrap_or(0),
            median_ns: seen.latencies.quantile(Quantile::P50).unwrap_or(0),
            max_ns: tally.largest_latency_ns.unwrap_or(0),
            max_as_scheduled_ns: tally.largest_suffered_ns.unwrap_or(0),
            max_response_ns: tally.largest_response_ns.unwrap_or(0),
            recent_max_ns: seen.recent_max_ns.take(),
            sum_ns: seen.sum_ns,
            within: seen.within.to_vec(),
            places,
        }
    }
}

impl Thread {
    fn begin(&mut self, due: DueTimes, cycle: u64, gaps: Gaps) {
        let judged = self.of.judged.clone().unwrap_or(cycle..u64::MAX);
        self.account.begin(JudgedWindow {
            due,
            first_judged_cycle: judged.start,
            end_cycle: judged.end,
            thread: self.number.into(),
            lost: 0,
            gaps,
        });
    }
}

/// The due times of which a sample is one.
fn due_times(sample: &Sample, period_ns: u64) -> DueTimes {
    DueTimes {
        start_ns: sample
            .due_ns
            .saturating_sub(sample.cycle.saturating_mul(period_ns)),
        period_ns,
    }
}

impl Seen {
    fn ran(&mut self, thread: u16, sample: &Sample) {
        let latency_ns = sample.latency_ns();
        self.latencies.record(latency_ns);
        let above_ns = latency_ns.max(0).cast_unsigned();
        self.sum_ns = self.sum_ns.saturating_add(above_ns);
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

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_timeline::SampleFlags;

    fn thread(limits: Limits, judged: Option<Range<u64>>) -> LiveThread {
        LiveThread {
            limits,
            period_ns: 1_000_000,
            judged,
        }
    }

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
        let limits = Limits {
            latency_ns: Some(5_000),
            deadline_ns: None,
        };
        let mut tally = LiveTally::new([thread(limits, Some(1..10))]);
        tally.add(
            0,
            &[
                sample(0, 900_000, SampleFlags::WARM_UP),
                sample(1, 3_000, judged),
            ],
        );
        tally.add(0, &[sample(5, 7_000, judged)]);
        let figures = tally.figures(4, 2);
        assert_eq!((figures.executed, figures.skipped), (2, Some(3)));
        assert_eq!(figures.lost, 2);
        assert_eq!((figures.min_ns, figures.max_ns), (3_000, 7_000));
        assert_eq!(figures.max_response_ns, 7_500);
        // Cycle 2 was due 3 ms before cycle 5 woke, 7 µs late.
        assert_eq!(figures.max_as_scheduled_ns, 3_007_000);
        // Three skipped, one woken later than 5 µs.
        assert_eq!(figures.missed, Some(4));
        // Counted up to 5 µs: one; from 10 µs on: both.
        assert_eq!(figures.within[1..4], [0, 1, 2]);
        assert_eq!(
            (figures.sum_ns, figures.recent_max_ns),
            (10_000, Some(7_000))
        );
        assert_eq!(tally.figures(4, 2).recent_max_ns, None);
    }

    #[test]
    fn a_stall_over_the_beginning_of_the_judged_cycles_is_skipped_from_there_on() {
        let mut tally = LiveTally::new([thread(Limits::default(), Some(5..100))]);
        tally.add(0, &[sample(0, 3_000, SampleFlags::WARM_UP)]);
        tally.add(0, &[sample(9, 3_000, SampleFlags::default())]);
        let figures = tally.figures(0, 0);
        assert_eq!((figures.executed, figures.skipped), (1, Some(4)));
        assert_eq!(figures.missed, None, "no limit was given");
        assert_eq!(figures.max_as_scheduled_ns, 4_003_000);
    }

    #[test]
    fn samples_that_something_wrote_over_are_left_out() {
        let judged = SampleFlags::default();
        let wild = Sample {
            cycle: u64::MAX,
            due_ns: 0,
            wake_ns: i64::MAX as u64,
            end_ns: u64::MAX,
            ..Sample::default()
        };
        let far = sample(1 << 40, 3_000, judged);
        let mut tally = LiveTally::new([thread(Limits::default(), None)]);
        tally.add(0, &[sample(1, 3_000, judged), wild, far, wild]);
        tally.add(0, &[sample(1, 3_000, judged), sample(2, 4_000, judged)]);
        let figures = tally.figures(0, 0);
        assert_eq!((figures.executed, figures.max_ns), (2, 4_000));
        assert_eq!((figures.skipped, figures.sum_ns), (Some(0), 7_000));
    }

    #[test]
    fn each_cpu_has_figures_of_its_own() {
        let mut tally = LiveTally::new([0; 2].map(|_| thread(Limits::default(), None)));
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
