//! Due times of a thread that computes the time to its next due time and sleeps for that, as `rclcpp::Rate` and most
//! loops in Python do: a whole number of periods apart, except for what passes between its look at the clock and the
//! kernel's.

use super::activation::Activation;
use super::sleep_call::TO_START_NS;
use super::sorted::Sorted;
use std::collections::{BTreeMap, BTreeSet};

/// Of a hundred due times, the number that must be near one row.
const NEAR_OF_HUNDRED: usize = 90;
/// A due time is near its row within this share of the period, one in so many.
const NEAR: u64 = 100;
/// The shortest intervals are a period, but for this share of it, one in so many.
const ROUNDED: u64 = 500;
/// A time-out between two due times may be counted as one: so far off is the mean then, one in so many.
const MISCOUNTED: u64 = 100;

/// Unit in which `epoll_wait` and `poll` take their time-outs, in nanoseconds.
pub(super) const MS: u64 = 1_000_000;
/// Of a hundred time-outs, the number of whole milliseconds, and the most that may be alike: a thread that always asks
/// for the same time sleeps for that.
const WHOLE_OF_HUNDRED: usize = 90;
const ALIKE_OF_HUNDRED: usize = 97;
/// Half of the millisecond by which such due times come late, and a little, in nanoseconds.
const HALF_NS: u64 = 600_000;
/// Time by which due times come late at most that are rounded up twice, and a little, in nanoseconds.
pub(crate) const ROUNDED_BY_NS: u64 = 2_200_000;

/// From the call to the event of its timer it takes no longer than this, even if the thread is held up, in nanoseconds.
const HELD_UP_NS: u64 = 100_000;

/// A row that due times lie near. In nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NearRow {
    pub(super) period_ns: u64,
    /// One of its due times.
    pub(super) anchor_ns: u64,
    /// Allowed distance of due times from it.
    pub(super) beside_ns: u64,
}

impl NearRow {
    /// The row of these due times, which have these intervals; `None` if they are on none.
    pub(super) fn new(dues_ns: &[u64], intervals: &Sorted) -> Option<Self> {
        let period_ns = round(intervals.at(1))?;
        Self::with(dues_ns, period_ns, period_ns / NEAR, |places| places.at(5))
    }

    /// The row of an event loop that rounds the time to its next due time up to whole milliseconds, as asyncio does:
    /// each due time is late by less than one, and the remainder is made up for later.
    pub(super) fn in_milliseconds(turns: &[Activation]) -> Option<Self> {
        let dues_ns = time_outs(turns)?;
        let twice = || are_rounded_twice(turns).then(|| Self::late_by(&dues_ns, ROUNDED_BY_NS / 2));
        Self::late_by_milliseconds(&dues_ns).or_else(|| twice()?)
    }

    /// The row of due times each of which is late by less than a millisecond.
    pub(super) fn late_by_milliseconds(dues_ns: &[u64]) -> Option<Self> {
        Self::late_by(dues_ns, HALF_NS)
    }

    /// The row of due times each of which is late by less than twice this time.
    fn late_by(dues_ns: &[u64], half_ns: u64) -> Option<Self> {
        let between = dues_ns.windows(2).map(|two| two[1].saturating_sub(two[0]));
        let usual_ns = Sorted::intervals(dues_ns).at(5).max(1);
        let (single, single_ns) = between
            .clone()
            .filter(|ns| *ns * 2 > usual_ns && *ns * 2 < usual_ns * 3)
            .fold((0, 0), |(count, all), ns| (count + 1, all + ns));
        let mean_ns = single_ns.checked_div(single)?.max(1);
        let periods: u64 = between.map(|ns| (ns + mean_ns / 2) / mean_ns).sum();
        let all_ns = dues_ns.last()?.saturating_sub(*dues_ns.first()?);
        let mean_ns = all_ns.checked_div(periods)?;
        // As exactly as that number of periods shows it, or less so: some intervals fit two numbers.
        let near = [
            (half_ns * 2).div_ceil(periods),
            mean_ns / ROUNDED,
            mean_ns / MISCOUNTED,
        ]
        .into_iter();
        near.filter_map(|distance_ns| round_within(mean_ns, distance_ns))
            .filter(|period_ns| *period_ns > 4 * half_ns)
            .find_map(|period_ns| {
                // They need not lie evenly within that time.
                let middle_ns = |places: &Sorted| places.densest(half_ns * 2);
                Self::with(dues_ns, period_ns, half_ns, middle_ns)
            })
    }

    /// The row of this period through the place that `middle_ns` gives for the places of due times in it.
    fn with(
        dues_ns: &[u64],
        period_ns: u64,
        beside_ns: u64,
        middle_ns: impl FnOnce(&Sorted) -> u64,
    ) -> Option<Self> {
        let first_ns = *dues_ns.first()?;
        let half_ns = period_ns / 2;
        // Around the middle of a period, so that none is cut at its end.
        let place = |due: &u64| (due.saturating_sub(first_ns) + half_ns) % period_ns;
        let places = Sorted::new(dues_ns.iter().map(place).collect())?;
        // The first can itself be off the row.
        let anchor_ns = (first_ns + middle_ns(&places)).saturating_sub(half_ns);
        let near = dues_ns
            .iter()
            .filter(|due| beside(**due, anchor_ns, period_ns) <= beside_ns);
        (near.count() * 100 >= dues_ns.len() * NEAR_OF_HUNDRED).then_some(Self {
            period_ns,
            anchor_ns,
            beside_ns,
        })
    }
}

/// The due times of turns that begin with time-outs of whole milliseconds, which are not all for the same time.
pub(super) fn time_outs(turns: &[Activation]) -> Option<Vec<u64>> {
    let asked = turns.iter().filter_map(|of| {
        let due_ns = of.programmed_ns?;
        Some((due_ns, due_ns.checked_sub(of.asked_at_ns?)?))
    });
    let (dues_ns, asked_ns): (Vec<u64>, Vec<u64>) = asked.unzip();
    let mut alike: BTreeMap<u64, usize> = BTreeMap::new();
    for ns in &asked_ns {
        let milliseconds = ns.div_ceil(MS);
        if milliseconds * MS - ns <= TO_START_NS {
            *alike.entry(milliseconds).or_default() += 1;
        }
    }
    let (whole, most) = (alike.values().sum::<usize>(), *alike.values().max()?);
    let is_so =
        whole * 100 >= turns.len() * WHOLE_OF_HUNDRED && most * 100 <= whole * ALIKE_OF_HUNDRED;
    is_so.then_some(dues_ns)
}

/// Milliseconds for which Python's event loop asks when it wants to wait for so many. It rounds up twice, to milliseconds
/// and from a double of seconds: for 9 it asks for 10, as 9 · 0.001 is a little more than 0.009.
pub(super) fn rounded_twice(milliseconds: u64) -> u64 {
    ((milliseconds as f64 * 1e-3 * 1e9).ceil() as u64).div_ceil(MS)
}

/// Whether such rounding gives all times for which these turns ask, and made some of them longer. Their due times come late
/// by up to two milliseconds.
pub(super) fn are_rounded_twice(turns: &[Activation]) -> bool {
    let asked = turns.iter().filter_map(|of| {
        let ns = of.programmed_ns?.checked_sub(of.asked_at_ns?)?;
        Some(ns.div_ceil(MS))
    });
    let asked: BTreeSet<u64> = asked.collect();
    let is_given = |ms: &u64| rounded_twice(*ms) == *ms || may_be_one_less(*ms);
    asked.iter().all(is_given) && asked.iter().any(|ms| may_be_one_less(*ms))
}

/// Whether a turn began with a time-out of whole milliseconds for which Python's event loop asks when it wants to wait for
/// one less.
pub(super) fn may_want_one_less(of: &Activation) -> bool {
    let asked_ns = || of.programmed_ns?.checked_sub(of.asked_at_ns?);
    asked_ns().is_some_and(|ns| {
        let milliseconds = ns.div_ceil(MS);
        milliseconds * MS - ns <= HELD_UP_NS && may_be_one_less(milliseconds)
    })
}

fn may_be_one_less(milliseconds: u64) -> bool {
    let less = milliseconds.checked_sub(1);
    less.is_some_and(|less| rounded_twice(less) == milliseconds)
}

/// Distance of a due time from a row, in nanoseconds.
pub(super) fn beside(due_ns: u64, anchor_ns: u64, period_ns: u64) -> u64 {
    let off_ns = due_ns.abs_diff(anchor_ns) % period_ns;
    off_ns.min(period_ns - off_ns)
}

/// The round time that an interval is next to; `None` next to none.
fn round(interval_ns: u64) -> Option<u64> {
    round_within(interval_ns, interval_ns / ROUNDED)
}

/// The roundest time within this distance of an interval.
fn round_within(interval_ns: u64, distance_ns: u64) -> Option<u64> {
    let units = [1_000_000, 100_000, 10_000, 1_000];
    let rounded = units.map(|unit: u64| (interval_ns + unit / 2) / unit * unit);
    let is_near = |of: &u64| *of > 0 && of.abs_diff(interval_ns) <= distance_ns;
    rounded.into_iter().find(is_near)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Rhythm;
    use proptest::prelude::*;

    /// Turns of an event loop with this period, whose time-outs are rounded up to milliseconds and asked for as `asked`
    /// gives them, `turn_ns` after each expiry.
    fn event_loop(
        period_ns: u64,
        asked: fn(u64) -> u64,
        turn_ns: impl Fn(u64) -> u64,
    ) -> Vec<Activation> {
        let (mut now_ns, mut turns) = (1_000_000_000, Vec::new());
        for number in 1..300_u64 {
            let due_ns = 1_000_000_000 + number * period_ns;
            if due_ns <= now_ns {
                continue;
            }
            let programmed_ns = now_ns + asked((due_ns - now_ns).div_ceil(MS)) * MS;
            turns.push(Activation {
                programmed_ns: Some(programmed_ns),
                asked_at_ns: Some(now_ns + 1_500),
                expiry_ns: programmed_ns + 2_000,
                ..Activation::default()
            });
            now_ns = programmed_ns + turn_ns(number);
        }
        turns
    }

    proptest! {
        #[test]
        fn time_outs_in_milliseconds_of_a_loop_that_keeps_its_period_show_that(
            period_ms in 3..200_u64,
            turn_us in 50..900_u64,
            late in proptest::option::of(1..40_u64),
            in_python in any::<bool>(),
        ) {
            let period_ns = period_ms * MS;
            let turn_ns = |number: u64| match late {
                Some(late) if number % 50 == 7 => late * MS,
                _ => turn_us * 1_000 + number % 40 * 1_000,
            };
            let asked = if in_python { rounded_twice } else { |of| of };
            let turns = event_loop(period_ns, asked, turn_ns);
            let rhythm = Rhythm::new(&turns).unwrap();
            prop_assert_eq!((rhythm.period_ns, rhythm.sleeps_ns), (period_ns, None));
            prop_assert!(rhythm.anchor_ns.is_some());
        }
    }

    #[test]
    fn nine_milliseconds_of_a_double_are_ten() {
        let more: Vec<u64> = (1..30).filter(|ms| rounded_twice(*ms) > *ms).collect();
        assert_eq!(more, [9, 13, 18, 26]);
        let turns = event_loop(10 * MS, rounded_twice, |_| 360_000);
        let rhythm = Rhythm::new(&turns).unwrap();
        assert_eq!((rhythm.period_ns, rhythm.sleeps_ns), (10 * MS, None));
    }

    #[test]
    fn a_few_time_outs_for_something_else_hide_no_row() {
        for half_us in 4_000..6_000 {
            let mut dues_ns = Vec::new();
            for number in 0..500_u64 {
                let due_ns = number * 10 * MS;
                dues_ns.push(due_ns + number * 377_000 % MS);
                if number % 21 == 7 {
                    dues_ns.push(due_ns + half_us * 1_000 + number * 191_000 % MS);
                }
            }
            let found = NearRow::late_by_milliseconds(&dues_ns);
            assert_eq!(found.map(|of| of.period_ns), Some(10 * MS), "{half_us} us");
        }
    }

    #[test]
    fn a_loop_that_always_asks_for_the_same_time_sleeps_for_that() {
        let (mut now_ns, mut turns) = (1_000_000_000, Vec::new());
        for number in 0..300_u64 {
            let programmed_ns = now_ns + 10 * MS;
            turns.push(Activation {
                programmed_ns: Some(programmed_ns),
                asked_at_ns: Some(now_ns + 1_500),
                expiry_ns: programmed_ns + 2_000,
                switched_in_ns: programmed_ns + 20_000,
                run_ns: 280_000,
                ..Activation::default()
            });
            now_ns = programmed_ns + 300_000 + number % 7 * 1_000;
        }
        assert_eq!(Rhythm::new(&turns).unwrap().sleeps_ns, Some(10 * MS));
    }
}
