//! Sleeps for a few different times, as two `usleep` calls in turn are. Such due times follow from the thread's work and
//! not from a grid, even if they happen to lie near one.

use super::activation::Activation;
use super::near_row::{MS, NearRow, rounded_twice};
use super::sleep_call::TO_START_NS;
use super::sorted::Sorted;

/// A time is asked for in this share of the sleeps or more, one in so many.
const LEAST_SHARE: usize = 10;
/// In this share or more for a time that shows rounding, one in so many.
const LEAST_SHARE_NEXT: usize = 50;
/// Of ten sleeps, the number that must be for one of those times.
const ALIKE_OF_TEN: usize = 9;
/// Turns that take less than this together, in nanoseconds, don't show whether sleeps make up for them.
const LEAST_TURNS_NS: u64 = 2 * MS;
/// A loop that keeps due times has time for each of them, but for this share of its sleeps, one in so many.
const SKIPPED_SHARE: usize = 4;

/// A sleep. In nanoseconds.
struct Nap {
    asked_ns: u64,
    /// From the due time before to the request.
    turn_ns: u64,
}

/// Whether a thread asks for several times by turns, whatever its turns take. One that keeps due times asks for less
/// after a longer turn, or if it rounds to milliseconds for one less now and then.
pub(super) fn are_naps(turns: &[Activation]) -> bool {
    let naps: Vec<Nap> = turns.windows(2).filter_map(nap).collect();
    let times = times(&naps, LEAST_SHARE);
    let time_of = |nap: &Nap| {
        times
            .iter()
            .position(|time_ns| is_for(nap.asked_ns, *time_ns))
    };
    let of_one = |number: usize| naps.iter().filter(move |nap| time_of(nap) == Some(number));
    let alike: usize = (0..times.len()).map(|number| of_one(number).count()).sum();
    if times.len() < 2 || alike * 10 < naps.len() * ALIKE_OF_TEN || are_intervals_alike(&naps) {
        return false;
    }
    let is_fixed = |number| {
        let spread = |figure: fn(&Nap) -> u64| {
            Sorted::new(of_one(number).map(figure).collect()).map_or(0, |of| of.spread())
        };
        spread(|nap| nap.asked_ns) * 2 <= spread(|nap| nap.asked_ns + nap.turn_ns)
    };
    if !(0..times.len()).all(is_fixed) {
        return false;
    }
    let is_whole = |ns: &u64| ns.next_multiple_of(MS) - ns <= TO_START_NS;
    !times.iter().all(is_whole) || !may_be_rounded(&naps, alike)
}

/// Whether these sleeps of whole milliseconds may be rounded times to due times. Their turns then sum up to a millisecond
/// now and then, and a sleep for one less makes up for it.
fn may_be_rounded(naps: &[Nap], alike: usize) -> bool {
    // A millisecond apart, or two with one between them that Python never asks for.
    let is_next = |two: &[u64]| {
        let [low_ms, high_ms] = [two[0], two[1]].map(|ns| ns.div_ceil(MS));
        [low_ms + 1, rounded_twice(low_ms + 1)].contains(&high_ms)
    };
    let turns_ns: u64 = naps.iter().map(|nap| nap.turn_ns.min(MS)).sum();
    let others_ns = (naps.len() - alike) as u64 * MS;
    let times = times(naps, LEAST_SHARE_NEXT);
    times.windows(2).any(is_next) || turns_ns < LEAST_TURNS_NS || others_ns * 2 >= turns_ns
}

/// Whether due times come more evenly than what is asked for differs.
fn are_intervals_alike(naps: &[Nap]) -> bool {
    let spread = |figure: fn(&Nap) -> u64| {
        Sorted::new(naps.iter().map(figure).collect()).map_or(0, |of| of.spread())
    };
    spread(|nap| nap.asked_ns + nap.turn_ns) * 2 <= spread(|nap| nap.asked_ns)
}

fn nap(two: &[Activation]) -> Option<Nap> {
    let (due_ns, asked_at_ns) = (two[1].programmed_ns?, two[1].asked_at_ns?);
    Some(Nap {
        asked_ns: due_ns.checked_sub(asked_at_ns)?,
        turn_ns: asked_at_ns.saturating_sub(two[0].programmed_ns?),
    })
}

fn is_for(asked_ns: u64, time_ns: u64) -> bool {
    asked_ns <= time_ns && time_ns - asked_ns <= TO_START_NS
}

/// The times that this share of these sleeps are for, one in so many, in ascending order.
fn times(naps: &[Nap], share: usize) -> Vec<u64> {
    let mut asked_ns: Vec<u64> = naps.iter().map(|nap| nap.asked_ns).collect();
    asked_ns.sort_unstable();
    let mut times = Vec::new();
    while let Some(time_ns) = asked_ns.pop() {
        let from = asked_ns.partition_point(|ns| !is_for(*ns, time_ns));
        let count = asked_ns.drain(from..).count() + 1;
        if count * share >= naps.len() {
            times.push(time_ns);
        }
    }
    times.reverse();
    times
}

/// Whether a thread would often sleep past due times of this row although it had time for them: the row is none.
pub(super) fn are_passed_by(turns: &[Activation], row: &NearRow) -> bool {
    let is_past = |two: &&[Activation]| {
        let [Some(from_ns), Some(to_ns)] = [two[0].programmed_ns, two[1].programmed_ns] else {
            return false;
        };
        let next_ns = from_ns + row.period_ns;
        let in_time = |asked_ns| asked_ns + row.beside_ns * 2 < next_ns;
        to_ns > next_ns + row.period_ns / 2 && two[1].asked_at_ns.is_some_and(in_time)
    };
    let past = turns.windows(2).filter(is_past).count();
    past * SKIPPED_SHARE > turns.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::{Rhythm, ThreadActivity};
    use proptest::prelude::*;

    /// A thread that sleeps for these times by turns, in microseconds, and works and wakes up for `turn_us` in between.
    fn sleeper(times_us: &[u64], turn_us: u64, count: usize) -> Vec<Activation> {
        let (mut now_ns, mut turns) = (1_000_000_000, Vec::new());
        for (number, time_us) in (0..count as u64).zip(times_us.iter().cycle()) {
            let programmed_ns = now_ns + time_us * 1_000;
            turns.push(Activation {
                programmed_ns: Some(programmed_ns),
                asked_at_ns: Some(now_ns + 300 + number % 5 * 100),
                expiry_ns: programmed_ns + 2_000,
                switched_in_ns: programmed_ns + 20_000,
                ..Activation::default()
            });
            // No two turns of a real loop are equally long.
            now_ns = programmed_ns + turn_us * 1_000 + (number * 7_919) % 31_000;
        }
        turns
    }

    proptest! {
        #[test]
        fn sleeps_for_two_times_by_turns_are_on_no_grid(
            long_ms in 20..300_u64,
            short_ms in 3..18_u64,
            turn_us in 60..400_u64,
            count in 40..400_usize,
        ) {
            let turns = sleeper(&[long_ms * 1_000, short_ms * 1_000], turn_us, count);
            prop_assert!(are_naps(&turns));
            let tasks = ThreadActivity { activations: turns, ..ThreadActivity::default() }.tasks();
            prop_assert!(tasks.is_err(), "{tasks:?}");
        }
    }

    #[test]
    fn sleeps_of_190_and_14_ms_have_no_period_of_a_fourteenth_of_their_sum() {
        let turns = sleeper(&[190_000, 14_000], 100, 50);
        assert!(Rhythm::new(&turns).is_err());
        // Turns too short to show what sleeps make up for.
        let short = sleeper(&[190_000, 14_000], 5, 50);
        assert!(!are_naps(&short) && Rhythm::new(&short).is_err());
    }

    #[test]
    fn three_sleeps_that_are_no_whole_milliseconds_are_on_no_grid() {
        let turns = sleeper(&[1_300, 2_600, 5_200], 20, 300);
        assert!(are_naps(&turns) && Rhythm::new(&turns).is_err());
    }

    #[test]
    fn a_loop_that_makes_up_for_its_turns_keeps_due_times() {
        // Due every 10 ms, at once and after 3 ms; a sleep is as long as what is left.
        let (mut now_ns, mut turns) = (1_000_000_000, Vec::new());
        for number in 1..300_u64 {
            let due_ns = 1_000_000_000 + number / 2 * 10 * MS + number % 2 * 3 * MS;
            turns.push(Activation {
                programmed_ns: Some(due_ns),
                asked_at_ns: Some(now_ns),
                ..Activation::default()
            });
            now_ns = due_ns + 90_000 + number * 7_919 % 12_000;
        }
        assert!(!are_naps(&turns));
    }
}
