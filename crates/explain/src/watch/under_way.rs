//! Cycles of a loop that computes its own time-outs which come due while it is at something else, such as another of
//! its tasks: it serves them without a sleep, so no event shows when they begin.

use super::activation::{Activation, TimedWait};
use super::rhythm::Rhythm;
use super::row::due_ns;
use std::collections::BTreeMap;

/// The turns for something else in which a cycle comes due, with their places: each counts from that due time, and not
/// for what it did before. Turns by timers that outlive sleeps are none, as each of their expiries is read; nor is one
/// whose cycle has a turn of its own. `is_own`: whether the turn at a place is one of the rhythm's cycles.
pub(super) fn cycles_under_way(
    turns: &[Activation],
    rhythm: Rhythm,
    is_own: impl Fn(usize) -> bool,
) -> BTreeMap<usize, Activation> {
    let is_by_sleeps = rhythm.programmed && turns.iter().all(|of| of.timer.is_none());
    let Some(anchor_ns) = rhythm.anchor_ns.filter(|_| is_by_sleeps) else {
        return BTreeMap::new();
    };
    let [anchor_ns, period_ns] = [anchor_ns, rhythm.period_ns].map(u64::cast_signed);
    // Number of the last due time at that instant.
    let number = |at_ns: u64| (at_ns.cast_signed() - anchor_ns).div_euclid(period_ns);
    let own = (0..turns.len()).filter(|place| is_own(*place));
    let dues = own.filter_map(|place| due_ns(turns, place, rhythm));
    let mut served: Vec<i64> = dues.map(|at| number(at + rhythm.beside_ns)).collect();
    served.sort_unstable();
    let mut found = BTreeMap::new();
    for (place, of) in turns.iter().enumerate() {
        let next = number(of.expiry_ns.saturating_sub(1)) + 1;
        let next_ns = (anchor_ns + next * period_ns).cast_unsigned();
        // Near a row, a due time may come a little earlier. A turn of its own would follow if this one had not served it.
        let passes = next_ns.saturating_sub(rhythm.beside_ns) < of.end_ns;
        if !passes || is_own(place) || served.binary_search(&next).is_ok() {
            continue;
        }
        let begin_ns = of.switched_in_ns.max(next_ns).min(of.end_ns);
        let cycle = Activation {
            programmed_ns: Some(next_ns),
            asked_at_ns: None,
            expiry_ns: next_ns,
            switched_in_ns: begin_ns,
            run_ns: of.run_ns.min(of.end_ns.saturating_sub(begin_ns)),
            ..*of
        };
        found.insert(place, cycle);
    }
    found
}

/// Divides the turns in which the thread waited for its next due time, was woken by something else before that, and served
/// the cycle then due without a sleep: that is a cycle of its own, which begins when it is due.
pub(super) fn divided(turns: Vec<Activation>, rhythm: Rhythm) -> Vec<Activation> {
    let mut found = Vec::with_capacity(turns.len());
    for (place, of) in turns.iter().enumerate() {
        let next = cycle_after_wait(of, due_ns(&turns, place, rhythm), rhythm);
        let Some((next, wait)) = next.zip(of.timed_wait) else {
            found.push(*of);
            continue;
        };
        found.push(Activation {
            end_ns: wait.end_ns,
            run_ns: wait.run_ns,
            ..*of
        });
        found.push(next);
    }
    found
}

/// The cycle after one that was due at `due_ns`, if it is in the same turn.
fn cycle_after_wait(of: &Activation, due_ns: Option<u64>, rhythm: Rhythm) -> Option<Activation> {
    let TimedWait {
        for_ns,
        end_ns,
        run_ns,
    } = of.timed_wait?;
    let next_ns = due_ns? + rhythm.period_ns;
    let is_for_next = rhythm.anchor_ns.is_some() && for_ns.abs_diff(next_ns) <= rhythm.beside_ns;
    let is_other = is_for_next && end_ns <= next_ns && for_ns + rhythm.beside_ns < of.end_ns;
    is_other.then(|| Activation {
        programmed_ns: Some(for_ns),
        asked_at_ns: None,
        expiry_ns: for_ns,
        switched_in_ns: for_ns,
        run_ns: (of.run_ns - run_ns.min(of.run_ns)).min(of.end_ns - for_ns),
        waited_ns: 0,
        input_ns: 0,
        first_wait: None,
        timed_wait: None,
        ..*of
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn turn(due_us: u64, lasts_us: u64) -> Activation {
        let due_ns = due_us * 1_000;
        Activation {
            programmed_ns: Some(due_ns),
            asked_at_ns: Some(due_ns.saturating_sub(2 * MS)),
            expiry_ns: due_ns + 2_000,
            switched_in_ns: due_ns + 30_000,
            end_ns: due_ns + 30_000 + lasts_us * 1_000,
            run_ns: lasts_us * 1_000,
            ..Activation::default()
        }
    }

    /// Cycles of 5 ms; after every twentieth one comes a turn 2.3 ms later that lasts this long.
    fn turns(lasts_us: u64) -> Vec<Activation> {
        let mut turns: Vec<Activation> = Vec::new();
        for number in 1..400 {
            let due_us = number * 5_000;
            if turns.last().is_some_and(|of| of.end_ns > due_us * 1_000) {
                continue;
            }
            turns.push(turn(due_us, 100));
            if number % 20 == 0 {
                turns.push(turn(due_us + 2_300, lasts_us));
            }
        }
        turns
    }

    fn under_way(turns: &[Activation]) -> BTreeMap<usize, Activation> {
        let rhythm = Rhythm::new(turns).unwrap();
        assert_eq!(rhythm.period_ns, 5 * MS);
        cycles_under_way(turns, rhythm, |place| {
            due_ns(turns, place, rhythm).is_some()
        })
    }

    #[test]
    fn a_cycle_that_comes_due_in_a_turn_for_something_else_counts_from_then() {
        let found = under_way(&turns(6_000));
        assert_eq!(found.len(), 19);
        let first = found.values().next().unwrap();
        let due_ns = 105 * MS;
        assert_eq!(
            (first.programmed_ns, first.switched_in_ns),
            (Some(due_ns), due_ns)
        );
        assert_eq!((first.end_ns, first.run_ns), (108_330_000, 3_330_000));
    }

    #[test]
    fn a_due_time_right_before_a_late_turn_of_another_row_is_served_by_it() {
        // Python's time-outs are for up to 2.5 ms after a due time of its own.
        let rhythm = Rhythm {
            period_ns: 10 * MS,
            anchor_ns: Some(10 * MS + 1_250_000),
            beside_ns: 1_250_000,
            ..Rhythm::new(&turns(2_000)).unwrap()
        };
        let late = Activation {
            expiry_ns: 20 * MS + 690_000,
            switched_in_ns: 20 * MS + 700_000,
            ..turn(15_400, 6_150)
        };
        let found = cycles_under_way(
            &[turn(10_500, 300), late, turn(30_500, 300)],
            rhythm,
            |of| of != 1,
        );
        let served = found.get(&1).map(|of| (of.programmed_ns, of.end_ns));
        assert_eq!(served, Some((Some(21_250_000), late.end_ns)));
    }

    #[test]
    fn a_cycle_that_comes_due_while_an_event_is_served_is_not_the_one_before() {
        let turn = |wait_for_ms: u64, served_us: u64| Activation {
            timed_wait: Some(TimedWait {
                for_ns: wait_for_ms * MS,
                end_ns: 5 * MS + 130_000,
                run_ns: 100_000,
            }),
            run_ns: 100_000 + served_us * 1_000,
            ..turn(5_000, 4_900 + served_us)
        };
        let rhythm = Rhythm {
            anchor_ns: Some(0),
            ..Rhythm::new(&turns(2_000)).unwrap()
        };
        let ends = |of: Activation| {
            let turns = divided(vec![of], rhythm).into_iter();
            turns.map(|of| of.end_ns / 1_000).collect::<Vec<u64>>()
        };
        assert_eq!(ends(turn(10, 400)), [5_130, 10_330]);
        // Served before the due time; a wait within the cycle's work, for something else.
        assert_eq!(ends(turn(10, 20)), [9_950]);
        assert_eq!(ends(turn(55, 400)), [10_330]);
    }

    #[test]
    fn a_turn_between_two_cycles_or_at_one_with_a_turn_of_its_own_is_none() {
        assert!(under_way(&turns(2_000)).is_empty());
        let mut turns = turns(2_800);
        assert_eq!(under_way(&turns).len(), 19);
        // It asks for the time that has passed, and does not sleep.
        for number in (1..20).rev() {
            let due_us = number * 100_000 + 5_000;
            let place = turns.partition_point(|of| of.expiry_ns < due_us * 1_000);
            turns.insert(place, turn(due_us, 100));
        }
        assert!(under_way(&turns).is_empty());
    }
}
