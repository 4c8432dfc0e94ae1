//! The recorded timing as the two quantities that matter to a loop: reaction and freshness.
//!
//! Wake-up latency alone is neither.

use super::schedule::Schedule;
use serde::Serialize;

/// Least, middle and greatest of some times, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Spread {
    /// Least.
    pub min_ns: u64,
    /// Median (the upper one of an even number).
    pub median_ns: u64,
    /// Greatest.
    pub max_ns: u64,
}

impl Spread {
    fn new(mut times: Vec<u64>) -> Option<Self> {
        let middle = times.len() / 2;
        let (min_ns, max_ns) = (*times.iter().min()?, *times.iter().max()?);
        Some(Self {
            min_ns,
            median_ns: *times.select_nth_unstable(middle).1,
            max_ns,
        })
    }
}

/// Timing of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Timing {
    /// The loop's period, ns.
    pub period_ns: u64,
    /// Due times, skipped ones included.
    pub due_times: u64,
    /// Due times without a command: skipped or killed.
    pub missed: u64,
    /// Largest number of these due times in succession.
    pub most_consecutive_missed: u64,
    /// Reaction time: from a due time to the first command worked out for it or a later one; so a
    /// missed due time counts with the wait it caused. (A miss at the very end counts until the
    /// end of the run.)
    pub reaction: Spread,
    /// Freshness time: age of the state that a command rests on when the command reaches the
    /// rotors, sample to actuation. `None` if no job ran.
    pub freshness: Option<Spread>,
    /// Mean delay: the age of the state used for the rotors' command, averaged over time, minus the
    /// half period of a loop without delay. A constant delay D gives D; a missed due time lets the
    /// command age and so counts. `None` if no job ran.
    pub mean_delay_ns: Option<u64>,
    /// Longest time for which a disturbance could go unanswered: from one sample, which just
    /// didn't see it, to the actuation of the next.
    pub longest_unanswered_ns: u64,
}

impl Timing {
    /// Timing of `schedule`.
    pub fn new(schedule: &Schedule) -> Self {
        let jobs = schedule.activations();
        let period = schedule.period_ns();
        let mut reactions = vec![];
        let (mut run, mut longest_run) = (0, 0);
        let mut next = 0;
        for k in 0..schedule.due_times() {
            let due = k.saturating_mul(period);
            while jobs.get(next).is_some_and(|job| job.due_ns < due) {
                next += 1;
            }
            let answer = jobs.get(next);
            let answered = answer.map_or(schedule.end_ns(), |job| job.actuate_ns);
            reactions.push(answered.saturating_sub(due));
            run = if answer.is_some_and(|job| job.due_ns == due) {
                0
            } else {
                run + 1
            };
            longest_run = longest_run.max(run);
        }
        let between = jobs
            .windows(2)
            .map(|pair| pair[1].actuate_ns - pair[0].sample_ns);
        Self {
            period_ns: period,
            due_times: schedule.due_times(),
            missed: schedule.due_times() - jobs.len() as u64,
            most_consecutive_missed: longest_run,
            reaction: Spread::new(reactions).unwrap_or(Spread {
                min_ns: 0,
                median_ns: 0,
                max_ns: 0,
            }),
            freshness: Spread::new(jobs.iter().map(|j| j.actuate_ns - j.sample_ns).collect()),
            mean_delay_ns: mean_delay(schedule),
            longest_unanswered_ns: between.max().unwrap_or(schedule.end_ns()),
        }
    }
}

/// From the first actuation to the last; beyond it only if the loop was away for longer than a
/// period, or the cut would change the mean. Sample-and-hold alone is a delay of half a period on
/// average (Åström and Wittenmark, Computer-Controlled Systems), which every loop has.
fn mean_delay(schedule: &Schedule) -> Option<u64> {
    let jobs = schedule.activations();
    let (period, end) = (schedule.period_ns(), schedule.end_ns());
    let last = jobs.last()?;
    let tail = (end.saturating_sub(last.actuate_ns) > period).then_some((last, end));
    let held = jobs.windows(2).map(|two| (&two[0], two[1].actuate_ns));
    let (mut twice_area, mut time) = (0_u128, 0_u128);
    for (job, until) in held.chain(tail) {
        let youngest = u128::from(job.actuate_ns.saturating_sub(job.sample_ns));
        let oldest = u128::from(until.saturating_sub(job.sample_ns)).max(youngest);
        twice_area += oldest * oldest - youngest * youngest;
        time += oldest - youngest;
    }
    let Some(twice_age) = twice_area.checked_div(time) else {
        return Some(last.actuate_ns.saturating_sub(last.sample_ns));
    };
    // With irregular times, rounding and the ends can make it less than half a period.
    let delay = twice_age.saturating_sub(u128::from(period)) / 2;
    Some(u64::try_from(delay).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::super::schedule::Activation;
    use super::*;

    #[test]
    fn a_missed_due_time_reacts_with_the_next_command_and_freshness_ignores_the_wake_up() {
        let job = |due_ns, sample_ns, actuate_ns| Activation {
            due_ns,
            sample_ns,
            actuate_ns,
        };
        let schedule = Schedule {
            period_ns: 100,
            due_times: 6,
            activations: vec![job(0, 30, 40), job(100, 101, 111), job(400, 450, 465)],
        };
        let timing = Timing::new(&schedule);
        // Due 200 and 300 wait for 465; 500 for the end.
        assert_eq!(
            timing.reaction,
            Spread {
                min_ns: 11,
                median_ns: 100,
                max_ns: 265
            }
        );
        assert_eq!(
            timing.freshness,
            Some(Spread {
                min_ns: 10,
                median_ns: 10,
                max_ns: 15
            })
        );
        assert_eq!((timing.missed, timing.most_consecutive_missed), (3, 2));
        assert_eq!(timing.longest_unanswered_ns, 465 - 101);
    }

    #[test]
    fn a_constant_delay_is_the_mean_delay_and_misses_add_to_it() {
        let mean = |schedule: Schedule| Timing::new(&schedule).mean_delay_ns;
        for delay in [0, 7, 99, 250] {
            assert_eq!(mean(Schedule::constant(100, 50, delay)), Some(delay));
        }
        // Every second due time missed: held for 200 ns each, 100 ns old on average.
        let mut every_other = Schedule::constant(100, 41, 0);
        every_other.activations.retain(|job| job.due_ns % 200 == 0);
        assert_eq!(mean(every_other), Some(50));
        // A loop that dies halfway: 50 periods of 0 and one of 50 periods' age.
        assert_eq!(
            mean(Schedule::constant(100, 100, 0).without(50, 50)),
            Some(1275)
        );
        assert_eq!(mean(Schedule::without_jobs(100, 5)), None);
    }
}
