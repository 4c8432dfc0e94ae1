//! Sample and actuate times for the plant, from a recording.
//!
//! In recorded order, never shuffled, because bursts are the hazard.

use super::choices::{Choices, OverrunRule, Sampling};
use super::recording::{ScheduleError, check};
use wakepath_timeline::{Sample, SampleFlags};

/// One job that ran: the state latched at `sample_ns` becomes the rotors' command at
/// `actuate_ns`. Nanoseconds from the first due time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Activation {
    /// When it was due.
    pub due_ns: u64,
    /// When it latched the state.
    pub sample_ns: u64,
    /// When its command reached the rotors; not before `sample_ns`.
    pub actuate_ns: u64,
}

/// The activations of a run, in order, with the due times that got none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    pub(super) period_ns: u64,
    pub(super) due_times: u64,
    pub(super) activations: Vec<Activation>,
}

/// A day at 1 kHz: more would be a slip in the numbers rather than a recording.
const MOST_DUE_TIMES: u64 = 86_400_000;

impl Schedule {
    /// Builds the schedule of a recording under explicit choices. Warm-up cycles are left out;
    /// gaps between cycle numbers are skipped periods.
    pub fn from_samples(
        samples: &[Sample],
        period_ns: u64,
        choices: Choices,
    ) -> Result<Self, ScheduleError> {
        let recorded = check(samples, period_ns)?;
        let first = recorded[0];
        let due_times = recorded[recorded.len() - 1].cycle - first.cycle + 1;
        if due_times > MOST_DUE_TIMES {
            return Err(ScheduleError::TooLong {
                due_times,
                limit: MOST_DUE_TIMES,
            });
        }
        // A timer can fire a little early: a time before the first due time counts as on it.
        let jobs = recorded.iter().map(|sample| Job {
            due: sample.due_ns - first.due_ns,
            wake: sample.wake_ns.saturating_sub(first.due_ns),
            end: sample.end_ns.saturating_sub(first.due_ns),
            held_up: sample.flags.contains(SampleFlags::DUE_ALREADY_PAST),
        });
        let jobs = match choices.overrun {
            OverrunRule::Skip => skip(jobs),
            OverrunRule::Queue => queue(jobs, due_times, period_ns),
            OverrunRule::Kill => kill(jobs, period_ns),
        };
        let activations = jobs
            .into_iter()
            .map(|job| Activation {
                due_ns: job.due,
                sample_ns: match choices.sampling {
                    Sampling::AtWake => job.wake,
                    Sampling::AtRelease => job.due.min(job.end),
                },
                actuate_ns: job.end,
            })
            .collect();
        Ok(Self {
            period_ns,
            due_times,
            activations,
        })
    }

    /// Every due time sampled and actuated `latency_ns` apart; with 0 the ideal loop. Latencies
    /// above the period overlap like the stages of a pipeline.
    pub fn constant(period_ns: u64, due_times: u64, latency_ns: u64) -> Self {
        let activations = (0..due_times)
            .map(|k| k.saturating_mul(period_ns))
            .map(|due_ns| Activation {
                due_ns,
                sample_ns: due_ns,
                actuate_ns: due_ns.saturating_add(latency_ns),
            })
            .collect();
        Self {
            period_ns: period_ns.max(1),
            due_times,
            activations,
        }
    }

    /// The ideal loop with the same number of due times.
    #[must_use]
    pub fn ideal(&self) -> Self {
        Self::constant(self.period_ns, self.due_times, 0)
    }

    /// The same, followed by ideal activations for at least `more_ns`.
    #[must_use]
    pub fn followed_by_ideal(mut self, more_ns: u64) -> Self {
        let more = more_ns.div_ceil(self.period_ns);
        // A last job that ends late would overlap them: its loop continues after it.
        let free_at = self.activations.last().map_or(0, |last| last.actuate_ns);
        let dues = (self.due_times..self.due_times.saturating_add(more))
            .map(|k| k.saturating_mul(self.period_ns));
        self.activations
            .extend(dues.filter(|due| *due >= free_at).map(|due_ns| Activation {
                due_ns,
                sample_ns: due_ns,
                actuate_ns: due_ns,
            }));
        self.due_times = self.due_times.saturating_add(more);
        self
    }

    /// The same without the `count` activations due from due time number `first` on.
    #[must_use]
    pub fn without(mut self, first: u64, count: u64) -> Self {
        let gone = first..first.saturating_add(count);
        let period = self.period_ns;
        self.activations
            .retain(|activation| !gone.contains(&(activation.due_ns / period)));
        self
    }

    /// The loop's period, ns.
    pub fn period_ns(&self) -> u64 {
        self.period_ns
    }

    /// Number of due times, skipped ones included.
    pub fn due_times(&self) -> u64 {
        self.due_times
    }

    /// Length of the run, ns.
    pub fn end_ns(&self) -> u64 {
        self.due_times.saturating_mul(self.period_ns)
    }

    /// The activations, in order.
    pub fn activations(&self) -> &[Activation] {
        &self.activations
    }
}

#[derive(Clone, Copy)]
struct Job {
    due: u64,
    wake: u64,
    end: u64,
    held_up: bool,
}

/// A loop that skips serves no due time that had passed when its last job ended.
fn skip(jobs: impl Iterator<Item = Job>) -> Vec<Job> {
    let mut kept: Vec<Job> = vec![];
    for job in jobs {
        if kept.last().is_none_or(|last| job.due > last.end) {
            kept.push(job);
        }
    }
    kept
}

fn queue(jobs: impl Iterator<Item = Job>, due_times: u64, period: u64) -> Vec<Job> {
    let jobs: Vec<Job> = jobs.collect();
    let mut lengths: Vec<u64> = jobs.iter().map(|job| job.end - job.wake).collect();
    let middle = lengths.len() / 2;
    let usual = *lengths.select_nth_unstable(middle).1;
    let mut recorded = jobs.into_iter().peekable();
    let mut free_at = 0;
    (0..due_times)
        .map(|k| {
            let due = k * period;
            let own = recorded.next_if(|job| job.due == due);
            let (wake, length) = own.map_or((due, usual), |job| (job.wake, job.end - job.wake));
            let wake = wake.max(free_at);
            free_at = wake.saturating_add(length);
            Job {
                due,
                wake,
                end: free_at,
                held_up: false,
            }
        })
        .collect()
}

/// A job that was held up by a killed one starts when the killed one ends.
fn kill(jobs: impl Iterator<Item = Job>, period: u64) -> Vec<Job> {
    let mut free_at = 0;
    let mut kept = vec![];
    for mut job in jobs {
        let length = job.end - job.wake;
        if job.held_up {
            job.wake = job.due.max(free_at);
            job.end = job.wake.saturating_add(length);
        }
        let next_due = job.due.saturating_add(period);
        free_at = job.end.min(next_due);
        if job.end <= next_due {
            kept.push(job);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: u64 = 100;

    fn sample(cycle: u64, wake: u64, end: u64) -> Sample {
        let due_ns = 1_000 + cycle * PERIOD;
        Sample {
            cycle,
            due_ns,
            wake_ns: 1_000 + wake,
            end_ns: 1_000 + end,
            ..Sample::default()
        }
    }

    /// Due times 0 to 5; cycle 1 ends at 330, so 2 and 3 are skipped.
    fn recording() -> Vec<Sample> {
        vec![
            sample(0, 5, 15),
            sample(1, 120, 330),
            sample(4, 410, 420),
            sample(5, 501, 520),
        ]
    }

    fn built(samples: &[Sample], sampling: Sampling, overrun: OverrunRule) -> Vec<[u64; 3]> {
        let choices = Choices {
            sampling,
            overrun,
            ..Choices::default()
        };
        let schedule = Schedule::from_samples(samples, PERIOD, choices).unwrap();
        assert_eq!((schedule.due_times(), schedule.end_ns()), (6, 600));
        schedule
            .activations
            .iter()
            .map(|a| [a.due_ns, a.sample_ns, a.actuate_ns])
            .collect()
    }

    #[test]
    fn a_recording_of_a_loop_that_skips_is_replayed_as_it_happened() {
        assert_eq!(
            built(&recording(), Sampling::AtWake, OverrunRule::Skip),
            [
                [0, 5, 15],
                [100, 120, 330],
                [400, 410, 420],
                [500, 501, 520]
            ]
        );
        assert_eq!(
            built(&recording(), Sampling::AtRelease, OverrunRule::Skip)[1],
            [100, 100, 330]
        );
    }

    #[test]
    fn a_queue_serves_every_due_time_late_but_in_order() {
        // Median execution time of 10, 210, 10, 19 is 19 (upper median).
        assert_eq!(
            built(&recording(), Sampling::AtWake, OverrunRule::Queue),
            [
                [0, 5, 15],
                [100, 120, 330],
                [200, 330, 349],
                [300, 349, 368],
                [400, 410, 420],
                [500, 501, 520]
            ]
        );
    }

    #[test]
    fn a_killed_job_gives_no_command_and_frees_those_it_held_up() {
        assert_eq!(
            built(&recording(), Sampling::AtWake, OverrunRule::Kill),
            [[0, 5, 15], [400, 410, 420], [500, 501, 520]]
        );
        let mut caught_up = vec![sample(0, 5, 15), sample(1, 120, 330), sample(2, 331, 341)];
        caught_up.extend([
            sample(3, 342, 352),
            sample(4, 410, 420),
            sample(5, 501, 520),
        ]);
        caught_up[2].flags = SampleFlags::DUE_ALREADY_PAST;
        caught_up[3].flags = SampleFlags::DUE_ALREADY_PAST;
        let kept = built(&caught_up, Sampling::AtWake, OverrunRule::Kill);
        assert_eq!(kept[1..3], [[200, 200, 210], [300, 300, 310]]);
        let skipped = built(&caught_up, Sampling::AtWake, OverrunRule::Skip);
        assert_eq!(skipped[2], [400, 410, 420]);
    }

    #[test]
    fn each_unusable_recording_gets_one_clear_line() {
        let refuse = |samples: &[Sample], period| {
            let choices = Choices::default();
            Schedule::from_samples(samples, period, choices)
                .unwrap_err()
                .to_string()
        };
        let mut warm = sample(0, 5, 15);
        warm.flags = SampleFlags::WARM_UP;
        assert!(refuse(&[warm], PERIOD).starts_with("the recording holds no cycle"));
        assert!(refuse(&recording(), 0).starts_with("the loop's period is 0"));
        let blank = Sample {
            wake_ns: 0,
            ..sample(3, 1, 2)
        };
        assert!(refuse(&[blank], PERIOD).starts_with("cycle 3 has no sample instant"));
        assert!(refuse(&[sample(0, 9, 4)], PERIOD).contains("ends 5 ns before it wakes"));
        assert!(refuse(&[sample(1, 105, 106), sample(1, 107, 108)], PERIOD).contains("must rise"));
        assert!(refuse(&recording(), 99).contains("doesn't fit a period of 99 ns"));
        assert!(refuse(&[sample(0, 5, 150), sample(1, 140, 160)], PERIOD).contains("10 ns before"));
        let far = refuse(
            &[sample(0, 5, 9), sample(1 << 40, 1 << 50, 1 << 51)],
            PERIOD,
        );
        assert!(far.starts_with("the recording spans"), "{far}");
    }

    #[test]
    fn a_timer_that_fires_early_does_not_begin_before_time_0() {
        let early = Sample {
            wake_ns: 990,
            ..sample(0, 5, 15)
        };
        let schedule = Schedule::from_samples(&[early], PERIOD, Choices::default()).unwrap();
        assert_eq!(schedule.activations[0].sample_ns, 0);
    }
}
