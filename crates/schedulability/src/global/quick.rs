//! Whether global earliest deadline first is shown to hold, for many sets: the equations of
//! [`responses`](super::responses) without allocation once the first set is through.
//!
//! Whole nanoseconds below 2⁵⁰ are exact in floating point, and so are their products here, which
//! stay below 2⁵³: the same numbers come out as in integers, several at a time. A quotient q that
//! should be ⌊r / T⌋ may come out one too small where T divides r; there q · C + min(r − q · T, C) is
//! the same for both.

use super::{GlobalTask, Order, responses, window};

/// Rounds after which slack that still grows is given up.
const MOST_ROUNDS: u32 = 1000;

/// Above this, numbers aren't exact.
const LONGEST_NS: u64 = 1 << 50;

/// Added and taken off again, it leaves the nearest whole number.
const TO_WHOLE: f64 = 6_755_399_441_055_744.0;

/// Memory to work in.
#[derive(Debug, Clone, Default)]
pub struct Slacks {
    others: Vec<Others>,
    bounded: Vec<bool>,
}

/// Tasks that are computed together.
const LANES: usize = 4;

/// Some tasks as they interfere with another one. Lanes without a task do nothing.
#[derive(Debug, Clone, Copy, Default)]
struct Others {
    execution_ns: [f64; LANES],
    period_ns: [f64; LANES],
    deadline_ns: [f64; LANES],
    slack_ns: [f64; LANES],
    /// 1 / period.
    rate: [f64; LANES],
    /// D − C − slack: how far its first job reaches into the window.
    ahead_ns: [f64; LANES],
    /// The most that it does before the deadline of the task at hand, whatever the window.
    until_ns: [f64; LANES],
}

/// Of numbers, not of what is none: one instruction.
#[inline]
fn least(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

#[inline]
fn most(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The greatest whole number not above `x`, or one less where `x` is whole; from 0 to 2⁵⁰.
#[inline]
fn whole(x: f64) -> f64 {
    (x - 0.5 + TO_WHOLE) - TO_WHOLE
}

impl Slacks {
    /// Whether a response within its deadline is found for every task (Bertogna and Cirinei 2007).
    pub fn hold(&mut self, tasks: &[GlobalTask], cpus: u32) -> bool {
        let exact = |task: &GlobalTask| {
            task.period_ns < LONGEST_NS
                && task.execution_ns <= task.deadline_ns
                && task.deadline_ns <= task.period_ns
                && task.latest_deadline_ns == task.deadline_ns
        };
        if !tasks.iter().all(exact) || tasks.len() > 1000 {
            let found = responses(tasks, cpus, Order::EarliestDeadline);
            return found.iter().all(Option::is_some);
        }
        self.others.clear();
        self.others
            .resize(tasks.len().div_ceil(LANES), Others::default());
        for (place, task) in tasks.iter().enumerate() {
            let (others, lane) = (&mut self.others[place / LANES], place % LANES);
            others.execution_ns[lane] = task.execution_ns as f64;
            others.period_ns[lane] = task.period_ns as f64;
            others.deadline_ns[lane] = task.deadline_ns as f64;
            others.rate[lane] = 1.0 / task.period_ns as f64;
        }
        self.bounded.clear();
        self.bounded.resize(tasks.len(), false);
        let mut asked = false;
        for _ in 0..MOST_ROUNDS {
            let mut changed = false;
            for (place, task) in tasks.iter().enumerate() {
                let Some(response_ns) = self.response(task, place, cpus, false) else {
                    // Not even if all others end as early as they can: no slack ever helps. The
                    // first that fails is asked for that, since the others cost as much.
                    if !asked && self.response(task, place, cpus, true).is_none() {
                        return false;
                    }
                    asked = true;
                    continue;
                };
                let left_ns = (task.deadline_ns - response_ns) as f64;
                let slack_ns = &mut self.others[place / LANES].slack_ns[place % LANES];
                changed |= left_ns > *slack_ns || !self.bounded[place];
                *slack_ns = most(*slack_ns, left_ns);
                self.bounded[place] = true;
            }
            // More slack only makes further bounds shorter.
            if self.bounded.iter().all(|bounded| *bounded) {
                return true;
            }
            if !changed {
                return false;
            }
        }
        false
    }

    /// The least R = C + ⌊I(R) / M⌋ of one task, if it is within the deadline; with the slack that
    /// the others have, or the most that they can ever have.
    fn response(
        &mut self,
        task: &GlobalTask,
        place: usize,
        cpus: u32,
        most_slack: bool,
    ) -> Option<u64> {
        let deadline_ns = task.deadline_ns as f64;
        for one in &mut self.others {
            for lane in 0..LANES {
                let execution_ns = one.execution_ns[lane];
                let room_ns = one.deadline_ns[lane] - execution_ns;
                let slack_ns = if most_slack {
                    room_ns
                } else {
                    one.slack_ns[lane]
                };
                one.ahead_ns[lane] = room_ns - slack_ns;
                let beyond_ns = deadline_ns - one.deadline_ns[lane];
                let within = whole(most(beyond_ns, 0.0) * one.rate[lane]) + 1.0;
                let jobs = if beyond_ns >= 0.0 { within } else { 0.0 };
                let carried_ns = deadline_ns - jobs * one.period_ns[lane] - slack_ns;
                let carried_ns = least(most(carried_ns, 0.0), execution_ns);
                one.until_ns[lane] = jobs * execution_ns + carried_ns;
            }
        }
        // It does not interfere with itself.
        self.others[place / LANES].until_ns[place % LANES] = 0.0;
        let mut reached_ns = task.execution_ns;
        while reached_ns <= task.deadline_ns {
            let window_ns = reached_ns as f64;
            let free_ns = window_ns - task.execution_ns as f64 + 1.0;
            let mut cut = [0.0; LANES];
            let mut least_ns = [f64::MAX; LANES];
            let mut rest_ns = [0.0; LANES];
            for one in &self.others {
                for lane in 0..LANES {
                    let execution_ns = one.execution_ns[lane];
                    let reach_ns = window_ns + one.ahead_ns[lane];
                    let jobs = whole(reach_ns * one.rate[lane]);
                    let last_ns = least(reach_ns - jobs * one.period_ns[lane], execution_ns);
                    let most_ns = least(jobs * execution_ns + last_ns, one.until_ns[lane]);
                    let is_cut = most_ns >= free_ns;
                    cut[lane] += if is_cut { 1.0 } else { 0.0 };
                    least_ns[lane] = least(if is_cut { most_ns } else { f64::MAX }, least_ns[lane]);
                    rest_ns[lane] += if is_cut { 0.0 } else { most_ns };
                }
            }
            let terms = (
                cut.iter().sum::<f64>() as u64,
                least_ns.into_iter().fold(f64::MAX, least) as u64,
                rest_ns.iter().sum::<f64>() as u64,
            );
            let next_ns = window::leap(task.execution_ns, cpus, reached_ns, terms)?;
            if next_ns == reached_ns {
                return Some(reached_ns);
            }
            reached_ns = next_ns;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::Random;

    #[test]
    fn it_says_what_the_responses_say() {
        let mut random = Random::new(3, 0, 0);
        let mut next = |below: u64| random.bits() % below;
        let (mut slacks, mut found) = (Slacks::default(), [0_u32; 2]);
        for _ in 0..20_000 {
            let cpus = 2 + next(3) as u32;
            let set: Vec<GlobalTask> = (0..u64::from(cpus) + next(5))
                .map(|_| {
                    let period_ns = 10 + next(90);
                    let execution_ns = 1 + next(period_ns) / 2;
                    let deadline_ns = period_ns - next(period_ns - execution_ns + 1) * next(2);
                    GlobalTask {
                        execution_ns,
                        period_ns,
                        deadline_ns,
                        latest_deadline_ns: deadline_ns,
                    }
                })
                .collect();
            let all = responses(&set, cpus, Order::EarliestDeadline);
            let expected = all.iter().all(Option::is_some);
            assert_eq!(slacks.hold(&set, cpus), expected, "{set:?} on {cpus}");
            found[usize::from(expected)] += 1;
        }
        assert!(found.iter().all(|count| *count > 1000), "{found:?}");
    }
}
