//! Sleeps for a fixed time within the work of a loop that computes the time to its next due time: a pause between two
//! requests, or one for no time, which lets other threads run. They begin no cycle.

use super::activation::Activation;
use super::one_call::WokenIn;
use super::rhythm::Rhythm;
use super::sleep_call::TO_START_NS;
use std::ops::Range;

/// Of ten turns, the number that must begin with sleeps.
const SLEEPS_OF_TEN: usize = 9;
/// A time is asked for in this percentage of the sleeps or more.
const LEAST_PERCENT: usize = 2;
/// Different times that are tried.
const MOST_TIMES: usize = 4;
/// Of ten due times of a row, the number at which the thread must have been woken.
const WOKEN_OF_TEN: u64 = 5;
/// Turns that show a row, at least.
const LEAST: u64 = 10;
/// Turns in which the times are looked for, those in the middle.
const LOOKED_AT: usize = 2_048;

/// The cycles of a thread, with its sleeps for a fixed time put into those in which they fall; unchanged if its other
/// sleeps are near no row, or these are, too.
pub(super) fn cycles(activations: Vec<Activation>) -> Vec<Activation> {
    let asked: Vec<Option<u64>> = activations.iter().map(asked_ns).collect();
    let sleeps = asked.iter().flatten().count();
    let is_near_all = |rhythm: Rhythm| activations.iter().all(|of| is_on_row(of, rhythm));
    if sleeps * 10 < activations.len() * SLEEPS_OF_TEN
        || Rhythm::new(&activations).is_ok_and(is_near_all)
    {
        return activations;
    }
    let begin = activations.len().saturating_sub(LOOKED_AT) / 2;
    let looked_at = begin..activations.len().min(begin + LOOKED_AT);
    let times = times(asked[looked_at.clone()].iter().copied().flatten().collect());
    let fixed = |set: u32, turns: Range<usize>| -> Vec<bool> {
        let is_in = |number: usize| set & (1 << number) != 0;
        let is_fixed = |place: usize| match asked[place] {
            Some(ns) => (0..times.len()).any(|at| is_in(at) && is_for(ns, times[at])),
            // A time-out of another call, as of a wait for Python's lock, is no sleep for the next cycle.
            None => ![WokenIn::Sleep, WokenIn::Unknown].contains(&activations[place].woken_in),
        };
        turns.map(is_fixed).collect()
    };
    // The set that leaves the fewest off the row, and of those the smallest.
    let off_row = |set: &u32| {
        let turns = &activations[looked_at.clone()];
        let (off_row, _) = with_fixed_within(turns, &fixed(*set, looked_at.clone()))?;
        Some((off_row, set.count_ones()))
    };
    let sets = (1..1 << times.len()).filter_map(|set| Some((off_row(&set)?, set)));
    let best = sets.min().map(|(_, set)| fixed(set, 0..activations.len()));
    let found = best.and_then(|fixed| with_fixed_within(&activations, &fixed));
    found.map_or(activations, |(_, cycles)| cycles)
}

/// The cycles if the turns that begin with such sleeps lie within those of the others, which are near a row; and how many
/// cycles are off it.
fn with_fixed_within(turns: &[Activation], fixed: &[bool]) -> Option<(usize, Vec<Activation>)> {
    let others = turns.iter().zip(fixed).filter(|(_, is_fixed)| !**is_fixed);
    let others: Vec<Activation> = others.map(|(turn, _)| *turn).collect();
    let rhythm = Rhythm::new(&others).ok()?;
    if rhythm.anchor_ns.is_none() || rhythm.beside_ns == 0 {
        return None;
    }
    let on_row = others.iter().filter(|of| is_on_row(of, rhythm)).count() as u64;
    let first_ns = others.first()?.programmed_ns?;
    let lasted_ns = others.last()?.programmed_ns?.saturating_sub(first_ns);
    let dues = lasted_ns / rhythm.period_ns + 1;
    if on_row < LEAST || on_row * 10 < dues * WOKEN_OF_TEN {
        return None;
    }
    let mut cycles: Vec<Activation> = Vec::with_capacity(others.len());
    for (of, is_fixed) in turns.iter().zip(fixed) {
        // Soon after a due time a further one is near the row, too.
        let is_soon = |cycle: &Activation| {
            let times = cycle.programmed_ns.zip(of.programmed_ns);
            times.is_some_and(|(due_ns, for_ns)| {
                for_ns.saturating_sub(due_ns) < rhythm.period_ns / 2
            })
        };
        let is_within = |cycle: &Activation| is_soon(cycle) || !is_on_row(of, rhythm);
        match cycles
            .last_mut()
            .filter(|cycle| *is_fixed && is_within(cycle))
        {
            Some(cycle) => cycle.go_on(of),
            None => cycles.push(*of),
        }
    }
    let within = turns.len() - cycles.len();
    let off_row = cycles.iter().filter(|of| !is_on_row(of, rhythm)).count();
    (within * 2 > turns.len() - others.len()).then_some((off_row, cycles))
}

fn is_on_row(of: &Activation, rhythm: Rhythm) -> bool {
    of.programmed_ns
        .is_some_and(|for_ns| rhythm.is_on_row(for_ns))
}

/// For how long a turn's sleep was: not at all for an instant that had passed. `None` of another wait.
fn asked_ns(of: &Activation) -> Option<u64> {
    let is_sleep = of.woken_in == WokenIn::Sleep && of.timer.is_none();
    let times = of.programmed_ns.zip(of.asked_at_ns).filter(|_| is_sleep);
    times.map(|(for_ns, asked_at_ns)| for_ns.saturating_sub(asked_at_ns))
}

fn is_for(asked_ns: u64, time_ns: u64) -> bool {
    asked_ns <= time_ns && time_ns - asked_ns <= TO_START_NS
}

/// The times that are asked for often and exactly, the most frequent first. The rest until a due time differs by what
/// turns take.
fn times(mut asked_ns: Vec<u64>) -> Vec<u64> {
    asked_ns.sort_unstable();
    let runs = asked_ns.chunk_by(|a, b| b - a <= TO_START_NS);
    let fixed = runs.filter_map(|run| {
        let time_ns = *run.last()?;
        let is_fixed =
            is_for(*run.first()?, time_ns) && run.len() * 100 >= asked_ns.len() * LEAST_PERCENT;
        is_fixed.then_some((run.len(), time_ns))
    });
    let mut times: Vec<(usize, u64)> = fixed.collect();
    times.sort_unstable_by_key(|(count, _)| std::cmp::Reverse(*count));
    times.truncate(MOST_TIMES);
    times.into_iter().map(|(_, time_ns)| time_ns).collect()
}

#[cfg(test)]
mod tests {
    use super::super::near_row::MS;
    use super::*;
    use proptest::prelude::*;

    /// A loop in Python with a due time each 40 ms: in the cycles that `pauses` picks it sleeps for 7 ms between two parts
    /// of its work, and after each it sleeps for no time if `yields`.
    fn turns(pauses: fn(u64) -> bool, yields: bool, is_row: bool) -> Vec<Activation> {
        let (mut now_ns, mut turns) = (1_000 * MS, Vec::new());
        let mut sleep = |now_ns: &mut u64, time_ns: u64, more_ns: u64| {
            let number = turns.len() as u64;
            let for_ns = *now_ns + time_ns + 900 + number * 211 % 1_700;
            *now_ns += 3_000 + number * 37 % 900 + more_ns;
            turns.push(Activation {
                programmed_ns: Some(for_ns),
                asked_at_ns: Some(*now_ns),
                expiry_ns: for_ns.max(*now_ns),
                switched_in_ns: for_ns.max(*now_ns) + 60_000,
                woken_in: WokenIn::Sleep,
                ..Activation::default()
            });
            *now_ns = for_ns.max(*now_ns) + 60_000 + number * 7_919 % 31_000;
        };
        for number in 1..200_u64 {
            let due_ns = (1_000 + number * 40) * MS;
            let left_ns = if is_row { due_ns - now_ns } else { 33 * MS };
            sleep(&mut now_ns, left_ns, 0);
            if pauses(number) {
                sleep(&mut now_ns, 7 * MS, 0);
            }
            now_ns += 200_000 + number * 104_729 % 800_000;
            if yields {
                sleep(&mut now_ns, 0, number * 31 % 100_000);
            }
        }
        turns
    }

    fn period_ms(turns: Vec<Activation>) -> Option<u64> {
        let cycles = cycles(turns);
        let rhythm = Rhythm::new(&cycles).ok()?;
        let is_whole = cycles.len() == 199 && rhythm.anchor_ns.is_some();
        is_whole.then_some(rhythm.period_ns / MS)
    }

    #[test]
    fn a_pause_in_the_work_of_a_loop_begins_no_cycle() {
        let [always, seldom] = [|_| true, |number: u64| number.is_multiple_of(7)];
        for pauses in [always, seldom] {
            assert_eq!(period_ms(turns(pauses, false, true)), Some(40));
            assert_eq!(period_ms(turns(pauses, true, true)), Some(40));
        }
        assert_eq!(period_ms(turns(|_| false, false, true)), Some(40));
    }

    proptest! {
        #[test]
        fn sleeps_for_fixed_times_alone_stay_as_they_are(pause in 0..3_usize, yields: bool) {
            let pauses: [fn(u64) -> bool; 3] = [|_| true, |number| number.is_multiple_of(7), |_| false];
            let turns = turns(pauses[pause], yields, false);
            prop_assert_eq!(cycles(turns.clone()).len(), turns.len());
        }
    }
}
