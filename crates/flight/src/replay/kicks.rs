//! Sweeps a kick over the worst bursts of a run.
//!
//! The same kick at many times around the places where the loop was latest, because a kick in a
//! quiet stretch shows nothing. Some are aimed: just after the sample before the longest silence,
//! when nothing responds for longest.

use super::events::Event;
use super::flight::{Flight, Kick, Notes};
use super::schedule::Schedule;
use crate::Trajectory;
use crate::noise::uniform;
use serde::{Deserialize, Serialize};

/// How the kick is swept.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// Size of the kick: change of the body rate about a horizontal axis, rad/s.
    pub rate_rad_s: f64,
    /// Number of bursts: the worst stretches that don't overlap.
    pub bursts: usize,
    /// Length of a burst, ns.
    pub burst_ns: u64,
    /// Kicks per burst, spread evenly over it, each in a random direction; as many are aimed at the
    /// longest silence, in evenly spread directions. A larger number includes the kicks of a
    /// smaller one.
    pub phases: usize,
    /// How long the vehicle has to recover, ns.
    pub horizon_ns: u64,
    /// Tilt below which it counts as recovered, degrees.
    pub recovered_deg: f64,
    /// Seed of the phases and directions.
    pub seed: u64,
}

impl Sweep {
    /// Largest number of kicks: a short run has fewer bursts.
    pub fn most_kicks(&self) -> usize {
        (self.bursts + 1).saturating_mul(self.phases)
    }
}

impl Default for Sweep {
    fn default() -> Self {
        Self {
            rate_rad_s: 5.0,
            bursts: 8,
            burst_ns: 200_000_000,
            phases: 24,
            horizon_ns: 3_000_000_000,
            recovered_deg: 2.0,
            seed: 0,
        }
    }
}

/// Result of the sweep.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct KickOutcome {
    /// Number of kicks flown.
    pub kicks: u64,
    /// Number of kicks that lost the vehicle.
    pub lost: u64,
    /// Number of kicks without recovery by the horizon (the lost ones included).
    pub not_recovered: u64,
    /// Greatest tilt reached after any kick, degrees (until the loss, for one that was lost).
    pub peak_tilt_deg: f64,
    /// When that kick fell, ns from the first due time.
    pub worst_kick_ns: u64,
    /// Longest time from a kick to the last time with a tilt above the recovered one, ns, among
    /// those that recovered.
    pub slowest_recovery_ns: u64,
}

/// The hover before each kick, ns: enough for a zeroed actuation to have its effect.
const BEFORE_NS: u64 = 100_000_000;

/// (√5 − 1) / 2.
const GOLDEN_RATIO: f64 = 0.618_033_988_749_894_9;

/// The number of the longest silence among the seeds of the bursts.
const SILENCE: u64 = u32::MAX as u64;

/// The kicks: seeded times within the worst bursts, then those at the longest silence.
pub(super) fn kicks(schedule: &Schedule, sweep: &Sweep) -> Vec<Kick> {
    let mut kicks = vec![];
    let bursts = worst_bursts(schedule, sweep.burst_ns, sweep.bursts);
    for (b, start_ns) in bursts.into_iter().enumerate() {
        for phase in 0..sweep.phases {
            let counter = (b as u64) << 32;
            // Multiples of the golden ratio fill an interval evenly for any number.
            let part = (uniform(sweep.seed, counter) + phase as f64 * GOLDEN_RATIO).fract();
            let turn = uniform(sweep.seed, counter + 1 + phase as u64);
            let (sin, cos) = (std::f64::consts::TAU * turn).sin_cos();
            kicks.push(Kick {
                at_ns: start_ns + (part * sweep.burst_ns as f64) as u64,
                rate: [sweep.rate_rad_s * cos, sweep.rate_rad_s * sin, 0.0],
            });
        }
    }
    let at_ns = longest_silence(schedule);
    let first = uniform(sweep.seed, SILENCE << 32);
    kicks.extend((0..sweep.phases).map(|phase| {
        let turn = (first + phase as f64 * GOLDEN_RATIO).fract();
        let (sin, cos) = (std::f64::consts::TAU * turn).sin_cos();
        let rate = [sweep.rate_rad_s * cos, sweep.rate_rad_s * sin, 0.0];
        Kick { at_ns, rate }
    }));
    kicks
}

/// Time at which a kick goes unanswered for longest: just after the sample that missed it, or the
/// start if no sample came before. The earlier of equal ones.
fn longest_silence(schedule: &Schedule) -> u64 {
    let jobs = schedule.activations();
    let samples = jobs.iter().map(|job| job.sample_ns.saturating_add(1));
    let answers = jobs.iter().map(|job| job.actuate_ns);
    let silences = std::iter::once(0)
        .chain(samples)
        .zip(answers.chain(std::iter::once(schedule.end_ns())))
        .map(|(from, until)| (until.saturating_sub(from), from));
    let longest = silences.max_by_key(|(length, from)| (*length, std::cmp::Reverse(*from)));
    longest.map_or(0, |(_, from)| from)
}

/// Flies every kick from hover and summarises. The events must continue for the horizon after the
/// run.
pub(super) fn sweep(
    flight: &Flight,
    events: &[Event],
    kicks: &[Kick],
    horizon_ns: u64,
) -> KickOutcome {
    let trajectory = Trajectory::Hover {
        position: flight.trajectory.start(),
    };
    let mut outcome = KickOutcome {
        kicks: 0,
        lost: 0,
        not_recovered: 0,
        peak_tilt_deg: 0.0,
        worst_kick_ns: 0,
        slowest_recovery_ns: 0,
    };
    for kick in kicks {
        let at_ns = kick.at_ns;
        let end_ns = at_ns.saturating_add(horizon_ns);
        let flown = Flight {
            trajectory: &trajectory,
            kick: Some(*kick),
            ..*flight
        };
        let notes: Notes = flown.fly(events, at_ns.saturating_sub(BEFORE_NS), end_ns);
        outcome.kicks += 1;
        outcome.lost += u64::from(notes.loss.is_some());
        let tilt = notes.peak_tilt.to_degrees();
        if tilt > outcome.peak_tilt_deg {
            (outcome.peak_tilt_deg, outcome.worst_kick_ns) = (tilt, at_ns);
        }
        if notes.loss.is_some() || notes.last_tilted_ns >= notes.end_ns {
            outcome.not_recovered += 1;
        } else {
            let recovery = notes.last_tilted_ns.saturating_sub(at_ns);
            outcome.slowest_recovery_ns = outcome.slowest_recovery_ns.max(recovery);
        }
    }
    outcome
}

/// Starts of the `count` stretches of `burst_ns` with the largest sum of reaction times that don't
/// overlap, the worst first; the earlier of equal ones first.
fn worst_bursts(schedule: &Schedule, burst_ns: u64, count: usize) -> Vec<u64> {
    let period = schedule.period_ns();
    let length = (burst_ns / period).clamp(1, schedule.due_times().max(1)) as usize;
    let mut reactions = vec![0_u64; schedule.due_times() as usize];
    let mut next_actuation = schedule.end_ns();
    let mut jobs = schedule.activations().iter().rev().peekable();
    for (k, reaction) in reactions.iter_mut().enumerate().rev() {
        let due = k as u64 * period;
        if let Some(job) = jobs.next_if(|job| job.due_ns >= due) {
            next_actuation = job.actuate_ns;
        }
        // No later than the end, so that sums stay far from overflow whatever was recorded.
        *reaction = next_actuation.min(schedule.end_ns()).saturating_sub(due);
    }
    let mut sum: u64 = reactions.iter().take(length).sum();
    let mut sums = vec![(sum, 0_usize)];
    for start in 1..=reactions.len().saturating_sub(length) {
        sum = sum + reactions[start + length - 1] - reactions[start - 1];
        sums.push((sum, start));
    }
    sums.sort_by_cached_key(|(sum, start)| (std::cmp::Reverse(*sum), *start));
    let mut chosen: Vec<usize> = vec![];
    for (_, start) in sums {
        if chosen.len() == count {
            break;
        }
        if chosen.iter().all(|other| other.abs_diff(start) >= length) {
            chosen.push(start);
        }
    }
    chosen
        .into_iter()
        .map(|start| start as u64 * period)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_bursts_hold_the_outages_and_do_not_overlap() {
        let schedule = Schedule::constant(100, 50, 7).without(20, 3).without(40, 1);
        let bursts = worst_bursts(&schedule, 500, 3);
        // Five due times each: the outage of three, then that of one, then the first quiet one.
        assert!(bursts[0] <= 2_000 && bursts[0] + 500 >= 2_300, "{bursts:?}");
        assert!(bursts[1] <= 4_000 && bursts[1] + 500 > 4_000, "{bursts:?}");
        assert_eq!(bursts.len(), 3);
        assert!(bursts[2].abs_diff(bursts[0]) >= 500 && bursts[2].abs_diff(bursts[1]) >= 500);
    }

    #[test]
    fn a_run_shorter_than_a_burst_is_one_burst() {
        assert_eq!(worst_bursts(&Schedule::constant(100, 3, 0), 10_000, 8), [0]);
    }

    #[test]
    fn the_same_seed_kicks_at_the_same_instants() {
        let schedule = Schedule::constant(4_000_000, 2_500, 50_000);
        let at = |seed| {
            kicks(
                &schedule,
                &Sweep {
                    seed,
                    ..Sweep::default()
                },
            )
        };
        assert_eq!(at(4), at(4));
        assert_ne!(at(4), at(5));
        assert_eq!(at(4).len(), 9 * 24);
        assert_eq!(at(4).len(), Sweep::default().most_kicks());
    }

    #[test]
    fn kicks_are_aimed_just_after_the_sample_that_the_longest_silence_begins_with() {
        // Due 19 is sampled at 1900; the next command reaches the rotors at 2307.
        let schedule = Schedule::constant(100, 50, 7).without(20, 3).without(40, 1);
        let sweep = Sweep {
            phases: 4,
            ..Sweep::default()
        };
        let all = kicks(&schedule, &sweep);
        let aimed: Vec<&Kick> = all.iter().rev().take(4).collect();
        assert!(aimed.iter().all(|kick| kick.at_ns == 1_901), "{aimed:?}");
        // All round: no half-plane without a kick.
        for axis in [0, 1] {
            assert!(aimed.iter().any(|kick| kick.rate[axis] > 0.0));
            assert!(aimed.iter().any(|kick| kick.rate[axis] < 0.0));
        }
        assert_eq!(longest_silence(&Schedule::without_jobs(100, 5)), 0);
        // The last sample is never answered within the run.
        assert_eq!(
            longest_silence(&Schedule::constant(100, 9, 7).without(4, 5)),
            301
        );
    }

    #[test]
    fn a_larger_sweep_holds_the_kicks_of_a_smaller_one_evenly_spread() {
        let schedule = Schedule::constant(4_000_000, 2_500, 50_000);
        let of = |bursts, phases| {
            let sweep = Sweep {
                bursts,
                phases,
                ..Sweep::default()
            };
            kicks(&schedule, &sweep)
        };
        let large = of(8, 24);
        assert!(of(4, 6).iter().all(|kick| large.contains(kick)));
        let mut burst: Vec<u64> = large[..24].iter().map(|kick| kick.at_ns).collect();
        burst.sort_unstable();
        let widest = burst.windows(2).map(|two| two[1] - two[0]).max();
        // Three times the even distance would be a hole.
        assert!(widest.unwrap() < 3 * 200_000_000 / 24, "{burst:?}");
    }
}
