//! Sleeps for a time within the work of a loop that sleeps until instants, as a `usleep` is with which it polls for an
//! answer. They begin no cycle.

use super::activation::Activation;
use foldhash::{HashMap, HashMapExt};

/// Turns that show a row, at least.
const LEAST: usize = 10;
/// Turns in which a row is looked for, those in the middle.
const LOOKED_AT: usize = 2_048;
/// Sleeps within a cycle, at most, for its due time to be compared with the next one's.
const MOST_WITHIN: usize = 32;
/// Of ten that the most frequent distance of due times has, the number that a shorter one needs to be the period.
const SHORTER_OF_TEN: usize = 8;
/// Of ten due times of a row, the number at which the thread must have been woken: one that passes while it works is
/// served without a sleep.
const WOKEN_OF_TEN: usize = 5;

/// Due times whole periods apart, to the nanosecond, in nanoseconds.
struct ExactRow {
    period_ns: u64,
    /// Their common remainder, when divided by the period.
    phase_ns: u64,
    /// The earliest and the latest.
    first_ns: u64,
    last_ns: u64,
}

/// The cycles of a thread, with its further sleeps put into those in which they fall; unchanged if it keeps no row, or
/// those sleeps keep one of their own. A timer that outlives sleeps has cycles of its own.
pub(super) fn cycles(activations: Vec<Activation>) -> Vec<Activation> {
    let dues = activations.iter().filter_map(|of| of.programmed_ns);
    let dues: Vec<u64> = dues.collect();
    let Some(row) = ExactRow::new(&dues) else {
        return activations;
    };
    let others = dues.iter().copied().filter(|due_ns| !row.has(*due_ns));
    let others: Vec<u64> = others.collect();
    if others.is_empty() || ExactRow::new(&others).is_some() {
        return activations;
    }
    let mut cycles: Vec<Activation> = Vec::with_capacity(activations.len());
    for of in activations {
        let due_ns = of.programmed_ns.filter(|_| of.timer.is_none());
        let is_within = due_ns.is_some_and(|due_ns| row.is_passed_by(due_ns));
        match cycles.last_mut().filter(|_| is_within) {
            Some(cycle) => cycle.go_on(&of),
            None => cycles.push(of),
        }
    }
    cycles
}

impl ExactRow {
    fn new(dues_ns: &[u64]) -> Option<Self> {
        let begin = dues_ns.len().saturating_sub(LOOKED_AT) / 2;
        let looked_at = &dues_ns[begin..dues_ns.len().min(begin + LOOKED_AT)];
        let mut distances: HashMap<u64, usize> = HashMap::new();
        for (place, from_ns) in looked_at.iter().enumerate() {
            for to_ns in looked_at[place + 1..].iter().take(MOST_WITHIN) {
                *distances.entry(to_ns.saturating_sub(*from_ns)).or_default() += 1;
            }
        }
        distances.remove(&0);
        let most = distances.values().copied().max()?;
        let frequent = distances
            .iter()
            .filter(|(_, count)| **count * 10 >= most * SHORTER_OF_TEN);
        let period_ns = frequent.map(|(distance_ns, _)| *distance_ns).min()?;
        let mut phases: HashMap<u64, usize> = HashMap::new();
        for due_ns in dues_ns {
            *phases.entry(due_ns % period_ns).or_default() += 1;
        }
        let best = phases
            .into_iter()
            .max_by_key(|(phase, count)| (*count, *phase));
        let (phase_ns, count) = best?;
        let mut on_row = dues_ns
            .iter()
            .filter(|due_ns| *due_ns % period_ns == phase_ns);
        let first_ns = *on_row.next()?;
        let last_ns = *on_row.next_back()?;
        let passed = last_ns.saturating_sub(first_ns) / period_ns + 1;
        let is_row = count >= LEAST && count as u64 * 10 >= passed * WOKEN_OF_TEN as u64;
        is_row.then_some(Self {
            period_ns,
            phase_ns,
            first_ns,
            last_ns,
        })
    }

    fn has(&self, due_ns: u64) -> bool {
        due_ns % self.period_ns == self.phase_ns
    }

    /// Whether a sleep until then lies within a cycle of the row.
    fn is_passed_by(&self, due_ns: u64) -> bool {
        let end_ns = self.last_ns + self.period_ns;
        !self.has(due_ns) && (self.first_ns..end_ns).contains(&due_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::{NotPeriodic, Task, ThreadActivity};
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    fn turn(due_ns: u64, ran_ns: u64) -> Activation {
        Activation {
            programmed_ns: Some(due_ns),
            asked_at_ns: Some(due_ns.saturating_sub(200_000)),
            expiry_ns: due_ns + 2_000,
            switched_in_ns: due_ns + 30_000,
            end_ns: due_ns + 30_000 + ran_ns,
            run_ns: ran_ns,
            ..Activation::default()
        }
    }

    fn tasks(activations: Vec<Activation>) -> Result<Vec<Task>, NotPeriodic> {
        ThreadActivity {
            activations: cycles(activations),
            ..ThreadActivity::default()
        }
        .tasks()
    }

    proptest! {
        #[test]
        fn a_loop_that_polls_in_its_work_has_its_own_period(
            period_us in 2_000..50_000_u64,
            phase_ns in 0..1_000_000_u64,
            naps in prop::collection::vec(0..6_usize, 60..200),
            work_us in 40..90_u64,
        ) {
            let period_ns = period_us * 1_000;
            let mut all = Vec::new();
            for (cycle, naps) in (1..).zip(&naps) {
                let due_ns = 1_000 * MS + phase_ns + cycle * period_ns;
                all.push(turn(due_ns, work_us * 1_000));
                let mut now_ns = all[all.len() - 1].end_ns;
                for nap in 0..*naps as u64 {
                    // No two turns of a real loop are equally long.
                    let odd = (cycle * 64 + nap + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
                    all.push(turn(now_ns + 200_000 + odd % 31_000, 10_000));
                    now_ns = all[all.len() - 1].end_ns;
                }
            }
            let found = tasks(all.clone()).unwrap();
            prop_assert_eq!(found.len(), 1);
            prop_assert_eq!(found[0].rhythm.period_ns, period_ns);
            let row = found[0].row();
            prop_assert_eq!((row.samples.len(), row.left_out), (naps.len(), 0));
            let ran = |all: &[Activation]| all.iter().map(|of| of.run_ns).sum::<u64>();
            prop_assert_eq!(ran(&found[0].turns), ran(&all));
        }
    }

    #[test]
    fn two_rows_in_one_thread_both_begin_cycles() {
        let mut all: Vec<Activation> = (100..400)
            .flat_map(|cycle| {
                [
                    turn(cycle * 10 * MS, 50_000),
                    turn(cycle * 10 * MS + 3 * MS + 7, 50_000),
                ]
            })
            .collect();
        assert_eq!(cycles(all.clone()), all);
        all.truncate(8);
        assert_eq!(cycles(all.clone()), all);
    }

    #[test]
    fn what_a_thread_sleeps_before_and_after_its_row_is_no_part_of_it() {
        let odd = |number: u64| turn(500 * MS + number * 1_300_000 + number * number, 50_000);
        let late = |number: u64| turn(9_000 * MS + number * 1_300_000 + number * number, 50_000);
        let row = (100..400).map(|cycle| turn(cycle * 10 * MS, 50_000));
        let all: Vec<_> = (0..20)
            .map(odd)
            .chain(row)
            .chain((0..20).map(late))
            .collect();
        assert_eq!(cycles(all.clone()), all);
    }
}
