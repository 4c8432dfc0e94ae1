//! Summarises a loop's due times minute by minute.
//!
//! Pure: it reads no clock and writes nothing. It gives the same result for samples from a ring and
//! from a segment on disk, so that a killed recorder's minutes can be restored.

use crate::history::Minute;
use wakepath_scenario::Criterion;
use wakepath_statistics::LatencyHistogram;
use wakepath_timeline::{DueTimes, Sample};
use wakepath_verdict::{Account, Fate, Gaps, Inconsistency, JudgedWindow, Limits, Until};

const MINUTE_NS: u64 = 60_000_000_000;

/// One loop.
#[derive(Debug)]
pub struct Minutes {
    name: String,
    account: Account,
    period_ns: u64,
    /// From `CLOCK_MONOTONIC` to the time since 1970.
    offset_ns: i128,
    histogram: LatencyHistogram,
    sum_ns: u64,
    /// Number of the minute under way.
    number: Option<u64>,
    /// When its first cycle was due, in nanoseconds since 1970; of an empty one, when it would begin.
    at_ns: u64,
    before: Before,
}

/// State before the first sample.
#[derive(Debug, Clone, Copy, Default)]
struct Before {
    /// Samples dropped.
    lost: u64,
    /// First cycle that another recorder had not processed; cycles from there to the first sample
    /// are unknown.
    resumes: Option<u64>,
}

impl Minutes {
    /// For a new loop. Without a criterion only skipped due times count as missed.
    pub fn new(name: &str, criterion: Option<&Criterion>, period_ns: u64, offset_ns: i128) -> Self {
        Self {
            name: name.into(),
            account: Account::new(criterion.map_or(Limits::default(), Limits::new)),
            period_ns,
            offset_ns,
            histogram: LatencyHistogram::new(),
            sum_ns: 0,
            number: None,
            at_ns: 0,
            before: Before::default(),
        }
    }

    /// Its due times are those of this window.
    pub fn begin(&mut self, window: JudgedWindow) {
        self.at_ns = self.since_1970(window.due.due_ns(window.first_judged_cycle));
        self.account.begin(window);
    }

    /// Another recorder has processed all before this cycle. `dropped` samples were dropped so far.
    pub fn resume(&mut self, cycle: u64, dropped: u64) {
        self.before = Before {
            lost: dropped,
            resumes: Some(cycle),
        };
    }

    /// Counts further dropped samples.
    pub fn lose(&mut self, samples: u64) {
        if self.account.is_open() {
            self.account.lose(samples)
        } else {
            self.before.lost = self.before.lost.saturating_add(samples)
        }
    }

    /// Adds the next sample. Returns the minute that has ended with it, and the number of cycles
    /// lost just before the sample, or the sample's contradiction with itself or earlier ones; it
    /// is then not counted.
    pub fn add(&mut self, sample: &Sample) -> (Option<Minute>, Result<u64, Inconsistency>) {
        if !self.account.is_open() {
            self.begin_at(sample);
        }
        let at_ns = self.since_1970(sample.due_ns);
        let number = at_ns / MINUTE_NS;
        let is_another = self.number.is_some_and(|before| before != number);
        let ended = is_another.then(|| self.take()).flatten();
        let Self {
            account,
            histogram,
            sum_ns,
            ..
        } = self;
        let mut lost = 0;
        let outcome = account.add(sample, |fate| match fate {
            Fate::Ran { sample, .. } => {
                let latency_ns = sample.latency_ns();
                histogram.record(latency_ns);
                *sum_ns = sum_ns.saturating_add(latency_ns.max(0).cast_unsigned());
            }
            Fate::Unknown(gap) => lost = gap.count,
            Fate::Skipped(_) => {}
        });
        if outcome.is_ok() {
            if self.number.is_none() {
                self.at_ns = at_ns;
            }
            self.number = Some(number);
        }
        (ended, outcome.map(|()| lost))
    }

    fn begin_at(&mut self, sample: &Sample) {
        let Before { lost, resumes } = std::mem::take(&mut self.before);
        self.begin(JudgedWindow {
            due: self.due_times(sample),
            first_judged_cycle: resumes.unwrap_or(sample.cycle),
            end_cycle: u64::MAX,
            thread: 0,
            lost: 0,
            gaps: Gaps::Skipped,
        });
        match resumes {
            Some(_) => self.account.lose_all_until_next(lost),
            None => self.account.lose(lost),
        }
    }

    fn due_times(&self, sample: &Sample) -> DueTimes {
        let before_ns = sample.cycle.saturating_mul(self.period_ns);
        DueTimes {
            start_ns: sample.due_ns.saturating_sub(before_ns),
            period_ns: self.period_ns,
        }
    }

    /// Begins a new segment with this sample, whose due times are now the reference. The clock of
    /// the day might have been set.
    pub fn turn(&mut self, sample: &Sample, offset_ns: i128) {
        self.offset_ns = offset_ns;
        let due = self.due_times(sample);
        self.account.is_due(due, Gaps::Skipped);
    }

    /// The current minute, if it has any data; begins another.
    pub fn take(&mut self) -> Option<Minute> {
        let tally = self.account.take();
        self.number = None;
        let counts = [
            tally.samples,
            tally.scheduled(),
            tally.lost,
            tally.lost_elsewhere,
        ];
        if counts == [0; 4] {
            return None;
        }
        let mut minute = Minute {
            name: self.name.clone(),
            at_ns: self.at_ns,
            tally,
            sum_ns: std::mem::take(&mut self.sum_ns),
            ..Minute::default()
        };
        minute.put(&self.histogram);
        self.histogram = LatencyHistogram::new();
        Some(minute)
    }

    /// No more samples follow.
    pub fn end(&mut self, until: Until) {
        self.account.end(until, |_| ());
    }

    fn since_1970(&self, ns: u64) -> u64 {
        (i128::from(ns) + self.offset_ns).max(0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_scenario::PoliciesNeeded;
    use wakepath_timeline::SampleFlags;
    use wakepath_verdict::DueTally;

    fn sample(cycle: u64, latency_ns: u64) -> Sample {
        let due_ns = 1_000_000_000 + cycle * 1_000_000;
        Sample {
            cycle,
            due_ns,
            wake_ns: due_ns + latency_ns,
            end_ns: due_ns + latency_ns + 1_000,
            ..Sample::default()
        }
    }

    fn minutes() -> Minutes {
        let criterion = Criterion {
            latency_ns: Some(200_000),
            deadline_ns: 1_000_000,
            miss_fraction: 0.0,
            evidence: None,
            confidence: 0.95,
            consecutive_misses: None,
            outage_ns: None,
            mode_switches: 0.0,
            policies: PoliciesNeeded::Any,
        };
        Minutes::new("loop", Some(&criterion), 1_000_000, 0)
    }

    fn add(minutes: &mut Minutes, cycle: u64, latency_ns: u64) -> Option<Minute> {
        let (ended, outcome) = minutes.add(&sample(cycle, latency_ns));
        outcome.unwrap();
        ended
    }

    #[test]
    fn skipped_and_lost_cycles_are_told_apart_and_all_are_accounted_for() {
        let mut minutes = minutes();
        for cycle in [0, 1, 5] {
            add(&mut minutes, cycle, 300_000);
        }
        minutes.lose(4);
        add(&mut minutes, 10, 7_000);
        add(&mut minutes, 12, 7_000);
        let minute = minutes.take().unwrap();
        let tally = &minute.tally;
        // Cycles 2 to 4 and 11 were skipped, 6 to 9 lost.
        assert_eq!((tally.executed, tally.skipped, tally.lost), (5, 4, 4));
        assert_eq!((tally.misses.due, tally.misses.missed), (9, 3 + 4));
        assert_eq!(tally.misses.longest_run, 6);
        assert_eq!(tally.longest_outage.unwrap().length_ns, 4_000_000);
        assert_eq!((minute.min_ns, minute.max_ns()), (7_000, 300_000));
        add(&mut minutes, 13, 7_000);
        minutes.lose(2);
        minutes.end(Until::LastCycle);
        assert_eq!(
            minutes.take().unwrap().tally.lost_elsewhere,
            2,
            "at its end"
        );
    }

    #[test]
    fn a_minute_ends_where_the_next_one_s_first_cycle_is_due() {
        let mut minutes = minutes();
        let ended = (0..120_000).filter_map(|cycle| add(&mut minutes, cycle, 5_000));
        let ended: Vec<u64> = ended.map(|minute| minute.tally.executed).collect();
        // The first due time is one second into its minute.
        assert_eq!(ended, [59_000, 60_000]);
        assert_eq!(minutes.take().unwrap().tally.executed, 1_000);
        assert_eq!(minutes.take(), None);
    }

    #[test]
    fn minutes_add_up_to_one_account_of_the_whole_loop() {
        let of = |cycle: u64| match cycle {
            59_990..59_999 | 60_100 => None,
            59_999..=60_003 => Some(sample(cycle, 300_000)),
            70_000 => Some(Sample {
                flags: SampleFlags::UNANSWERED,
                ..sample(cycle, 5_000)
            }),
            80_000 => Some(Sample {
                flags: SampleFlags::MODE_SWITCH,
                ..sample(cycle, 5_000)
            }),
            _ => Some(sample(cycle, 5_000)),
        };
        let (mut split, mut whole) = (minutes(), minutes());
        whole.begin_at(&sample(0, 5_000));
        let mut merged = DueTally::default();
        for one in (0..150_000).filter_map(of) {
            let (ended, _) = split.add(&one);
            ended
                .into_iter()
                .for_each(|minute| merged.merge(&minute.tally));
            whole.account.add(&one, |_| ()).unwrap();
        }
        merged.merge(&split.take().unwrap().tally);
        assert_eq!(merged, whole.account.tally());
        assert_eq!(
            (merged.misses.missed, merged.misses.longest_run),
            (9 + 5 + 1 + 1, 14)
        );
        assert_eq!(merged.mode_switches, 1);
    }

    #[test]
    fn samples_that_no_loop_writes_are_noted_and_not_counted() {
        let mut minutes = minutes();
        add(&mut minutes, 9, 5_000);
        let early = Sample {
            end_ns: 0,
            ..sample(10, 5_000)
        };
        let mut tally = DueTally::default();
        for wild in [sample(9, 5_000), sample(1 << 40, 5_000), early] {
            let (ended, outcome) = minutes.add(&wild);
            assert!(outcome.is_err());
            ended.iter().for_each(|minute| tally.merge(&minute.tally));
        }
        tally.merge(&minutes.take().unwrap().tally);
        assert_eq!(tally.executed, 1);
        assert!(tally.inconsistency.is_some());
    }

    #[test]
    fn what_came_while_no_recorder_was_there_is_lost() {
        let mut minutes = minutes();
        minutes.resume(100, 7);
        add(&mut minutes, 160, 5_000);
        add(&mut minutes, 162, 5_000);
        let tally = minutes.take().unwrap().tally;
        assert_eq!((tally.executed, tally.skipped, tally.lost), (2, 0, 61));
        assert_eq!(tally.longest_outage.map(|of| of.length_ns), None);
    }
}
