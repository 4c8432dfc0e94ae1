//! Cycles mapped to due times by when they began, not by counting them: a gap between two wake-ups
//! is as many due times as fit into it. It reads no file.

use crate::Row;
use wakepath_explain::watch::{Activation, Rhythm};
use wakepath_timeline::{DueTimes, Sample, SampleFlags};

/// A wake-up may be early on the grid by a fourth of a period; the rest of it is lateness.
const EARLY: i64 = 4;
/// A run of cycles longer than this does not move to make room for one.
const MOST_MOVED: usize = 64;
/// The grid follows an eighth of each wake-up's error: clocks drift, and periods are rounded.
const FOLLOWS: i64 = 8;

/// A cycle with its place among the due times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Placed {
    number: i64,
    /// Whether its own due time is on the grid to the nanosecond: it is not moved.
    fixed: bool,
}

/// Numbers of the due times that wake-ups at these instants are of, ascending from 0. A wake-up is
/// late rather than early, and one that would share its due time has it; the one before takes an
/// earlier one that is free.
pub(crate) fn numbers(instants_ns: &[u64], period_ns: u64) -> Vec<u64> {
    let period = i64::try_from(period_ns).unwrap_or(i64::MAX).max(1);
    let mut placed: Vec<Placed> = Vec::with_capacity(instants_ns.len());
    let (mut grid_ns, mut at) = (0_i64, 0_i64);
    for instant in instants_ns {
        let since = i64::try_from(instant.saturating_sub(instants_ns[0])).unwrap_or(i64::MAX);
        let off_ns = since.saturating_sub(grid_ns);
        let ahead = off_ns.saturating_add(period / EARLY).div_euclid(period);
        let number = at.saturating_add(ahead);
        let fixed = false;
        let number = if make_room(&mut placed, number) {
            number
        } else {
            placed
                .last()
                .map_or(number, |last| last.number.saturating_add(1))
        };
        placed.push(Placed { number, fixed });
        let moved = number.saturating_sub(at).saturating_mul(period);
        let error = off_ns.saturating_sub(moved);
        let error = error.clamp(-period / EARLY, period / EARLY);
        grid_ns = grid_ns
            .saturating_add(moved)
            .saturating_add(error / FOLLOWS);
        at = number;
    }
    let first = placed.first().map_or(0, |first| first.number);
    let from_first = |of: &Placed| of.number.abs_diff(first);
    placed.iter().map(from_first).collect()
}

/// Whether `number` is free after the cycles so far, or they could be moved to earlier numbers.
fn make_room(placed: &mut [Placed], number: i64) -> bool {
    let Some(last) = placed.last() else {
        return true;
    };
    if last.number < number {
        return true;
    }
    if last.number > number {
        return false;
    }
    // The run of numbers without a gap that ends here moves down by one, into the gap before it.
    let mut first = placed.len() - 1;
    while first > 0 && placed[first - 1].number == placed[first].number.saturating_sub(1) {
        first -= 1;
        if placed.len() - first > MOST_MOVED {
            return false;
        }
    }
    let run = &mut placed[first..];
    if run.iter().any(|of| of.fixed) {
        return false;
    }
    run.iter_mut()
        .for_each(|of| of.number = of.number.saturating_sub(1));
    true
}

/// The earliest number at which a cycle of this latency can begin: on an even grid it begins when
/// the one before has ended there too, however long that was. `before` is its number and response.
pub(crate) fn earliest(before: Option<(u64, i64)>, latency_ns: i64, period_ns: u64) -> u64 {
    let Some((number, response_ns)) = before else {
        return 0;
    };
    let over = u64::try_from(response_ns.saturating_sub(latency_ns)).unwrap_or(0);
    number.saturating_add(over.div_ceil(period_ns.max(1)).max(1))
}

/// A thread's turns on the grid of its due times.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OnGrid {
    pub(crate) row: Row,
    /// Cycles whose own due time is off the grid, and by how much at most.
    pub(crate) moved: u64,
    pub(crate) furthest_ns: u64,
}

/// The turns of a thread with this rhythm as cycles. Latency, execution and response stay as they are; a
/// due time off the grid is moved onto it. Turns without a free place there count as lost.
pub(crate) fn on_grid(turns: &[Activation], rhythm: Rhythm, asked_ns: Option<u64>) -> OnGrid {
    // Only a due time that is on its grid to the nanosecond stays in place.
    let anchor_ns = rhythm.anchor_ns.filter(|_| rhythm.beside_ns == 0);
    let rhythm = Rhythm {
        anchor_ns,
        ..rhythm
    };
    let period_ns = match rhythm.anchor_ns {
        Some(_) => rhythm.period_ns,
        None => asked_ns.unwrap_or(rhythm.period_ns),
    };
    let due_ns = |of: &Activation| match (rhythm.programmed, of.programmed_ns) {
        (true, Some(at)) => at,
        _ => of.expiry_ns,
    };
    let all = turns.len();
    let mut turns: Vec<&Activation> = turns.iter().collect();
    let mut latest_ns = None;
    turns.retain(|of| {
        let later = latest_ns.is_none_or(|latest| latest < due_ns(of));
        latest_ns = latest_ns.max(Some(due_ns(of)));
        later
    });
    let instants: Vec<u64> = turns.iter().map(|of| due_ns(of)).collect();
    let (start_ns, places) = match rhythm.anchor_ns {
        Some(anchor_ns) => fixed(&turns, &instants, anchor_ns, period_ns),
        None => {
            let placed = |number| Some((number, false));
            let numbers = numbers(&instants, period_ns).into_iter().map(placed);
            (instants.first().copied().unwrap_or(0), numbers.collect())
        }
    };
    let due = DueTimes {
        start_ns,
        period_ns,
    };
    let mut samples: Vec<Sample> = Vec::with_capacity(turns.len());
    let mut lost = (all - turns.len()) as u64;
    let (mut moved, mut furthest_ns) = (0, 0);
    for ((of, own_due_ns), place) in turns.into_iter().zip(instants).zip(places) {
        let Some((number, is_fixed)) = place else {
            lost += 1;
            continue;
        };
        // Where the timer's own time was not seen, the grid has it.
        let unseen = rhythm.anchor_ns.is_some() && of.programmed_ns.is_none();
        let is_late_there = unseen && due.due_ns(number) <= of.switched_in_ns;
        let own_due_ns = if is_late_there {
            due.due_ns(number)
        } else {
            own_due_ns
        };
        let latency = difference(of.switched_in_ns, own_due_ns);
        let response = difference(of.end_ns, own_due_ns);
        let before = samples.last().map(|last| (last.cycle, last.response_ns()));
        let earliest = earliest(before, latency, period_ns);
        let number = match rhythm.anchor_ns {
            Some(_) if number < earliest => {
                // A moved cycle yields to one that is already in its place.
                lost += 1;
                if !is_fixed {
                    continue;
                }
                samples.pop();
                number
            }
            _ => number.max(earliest),
        };
        let due_ns = due.due_ns(number);
        let off_ns = own_due_ns.abs_diff(due_ns);
        moved += u64::from(off_ns > 0);
        furthest_ns = off_ns.max(furthest_ns);
        let mut flags = SampleFlags::HAS_CPU_TIME.with(SampleFlags::HAS_SWITCHES);
        if samples.last().is_some_and(|before| before.end_ns > due_ns) {
            flags = flags.with(SampleFlags::DUE_ALREADY_PAST);
        }
        samples.push(Sample {
            cycle: number,
            due_ns,
            wake_ns: due_ns.saturating_add_signed(latency),
            end_ns: due_ns.saturating_add_signed(response),
            cpu_time_ns: u32::try_from(of.run_ns).unwrap_or(u32::MAX),
            involuntary_switches: u16::try_from(of.preemptions).unwrap_or(u16::MAX),
            cpu: of.cpu,
            flags,
            ..Sample::default()
        });
    }
    let row = Row {
        due,
        samples,
        lost,
        judged: None,
    };
    OnGrid {
        row,
        moved,
        furthest_ns,
    }
}

/// The turns of a thread that sleeps for a time, one after the other: between them no due time can be called skipped.
pub(crate) fn in_order(turns: &[Activation], rhythm: Rhythm) -> OnGrid {
    let found = wakepath_explain::watch::row(turns, rhythm);
    OnGrid {
        row: Row {
            due: found.due,
            samples: found.even(),
            lost: found.left_out,
            judged: None,
        },
        moved: 0,
        furthest_ns: 0,
    }
}

fn difference(later_ns: u64, earlier_ns: u64) -> i64 {
    let difference = i128::from(later_ns) - i128::from(earlier_ns);
    i64::try_from(difference).unwrap_or(if difference < 0 { i64::MIN } else { i64::MAX })
}

/// Places on a grid that is known to the nanosecond: its first due time, and for each cycle its number and
/// whether it is due there exactly; `None` for one off the grid without a free number.
fn fixed(
    turns: &[&Activation],
    instants_ns: &[u64],
    anchor_ns: u64,
    period_ns: u64,
) -> (u64, Vec<Option<(u64, bool)>>) {
    let period = i64::try_from(period_ns).unwrap_or(i64::MAX).max(1);
    let mut placed: Vec<Placed> = Vec::with_capacity(turns.len());
    let mut taken: Vec<usize> = Vec::with_capacity(turns.len());
    for (index, (of, instant)) in turns.iter().zip(instants_ns).enumerate() {
        let off_ns = difference(*instant, anchor_ns);
        let fixed = of.programmed_ns.is_some() && off_ns.rem_euclid(period) == 0;
        // Off the grid it belongs to the due time before it.
        let mut number = off_ns.div_euclid(period);
        while !make_room(&mut placed, number) {
            if !fixed {
                number = placed
                    .last()
                    .map_or(number, |last| last.number.saturating_add(1));
            } else if placed.pop().is_some() {
                taken.pop();
            }
        }
        placed.push(Placed { number, fixed });
        taken.push(index);
    }
    let first = placed.first().map_or(0, |first| first.number);
    let start_ns = anchor_ns.saturating_add_signed(first.saturating_mul(period));
    let mut places = vec![None; turns.len()];
    for (of, index) in placed.iter().zip(taken) {
        places[index] = Some((of.number.abs_diff(first), of.fixed));
    }
    (start_ns, places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_explain::watch::BegunBy;

    const MS: u64 = 1_000_000;

    fn of(millis: &[f64]) -> Vec<u64> {
        let ns = |ms: &f64| 7_000 * MS + (ms * 1e6) as u64;
        numbers(&millis.iter().map(ns).collect::<Vec<_>>(), MS)
    }

    #[test]
    fn a_gap_is_as_many_due_times_as_fit_into_it() {
        assert_eq!(of(&[0.0, 1.0, 2.0, 6.0, 7.0]), [0, 1, 2, 6, 7]);
        assert_eq!(of(&[0.0, 11.0, 52.0, 53.0]), [0, 11, 52, 53]);
        assert!(of(&[]).is_empty());
    }

    #[test]
    fn a_late_wake_up_has_the_due_time_before_it_even_where_it_is_the_first() {
        assert_eq!(of(&[0.0, 1.0, 2.6, 3.0, 4.0]), [0, 1, 2, 3, 4]);
        assert_eq!(of(&[0.0, 1.0, 2.95, 3.0, 4.0]), [0, 1, 2, 3, 4]);
        assert_eq!(of(&[0.9, 1.0, 2.0, 3.0]), [0, 1, 2, 3]);
        // Caught up: three due times had passed.
        assert_eq!(of(&[0.0, 3.1, 3.2, 3.3, 4.0]), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_clock_that_drifts_and_a_new_phase_leave_no_gap() {
        let drifting: Vec<f64> = (0..20_000).map(|k| f64::from(k) * 1.0005).collect();
        assert_eq!(of(&drifting).last(), Some(&19_999));
        let shifted: Vec<f64> = (0..1_000)
            .map(|k| f64::from(k) + if k > 500 { 0.6 } else { 0.0 })
            .collect();
        assert_eq!(of(&shifted).last(), Some(&999));
    }

    #[test]
    fn wake_ups_that_come_far_too_often_are_numbered_in_order_and_at_once() {
        let often: Vec<u64> = (0..200_000).map(|k| 7_000 * MS + k).collect();
        let found = numbers(&often, MS);
        assert!(found.is_sorted_by(|one, next| one < next));
    }

    fn turn(programmed_ns: u64, latency_ns: u64) -> Activation {
        Activation {
            programmed_ns: Some(programmed_ns),
            expiry_ns: programmed_ns + 2_000,
            switched_in_ns: programmed_ns + latency_ns,
            end_ns: programmed_ns + latency_ns + 50_000,
            run_ns: 50_000,
            cpu: 1,
            ..Activation::default()
        }
    }

    fn exact(anchor_ns: u64) -> Rhythm {
        Rhythm {
            period_ns: MS,
            anchor_ns: Some(anchor_ns),
            programmed: true,
            begun_by: BegunBy::Timer,
            beside_ns: 0,
            sleeps_ns: None,
            is_periodic: true,
        }
    }

    #[test]
    fn a_cycle_beside_the_grid_keeps_its_latency_and_is_moved() {
        let mut turns: Vec<Activation> = (0..22).map(|k| turn(k * MS, 13_000)).collect();
        turns.push(turn(22 * MS + 300_000, 902_000));
        turns.push(turn(24 * MS, 13_000));
        let found = on_grid(&turns, exact(5 * MS), None);
        let numbers: Vec<u64> = found.row.samples.iter().map(|of| of.cycle).collect();
        let expected: Vec<u64> = (0..23).chain([24]).collect();
        assert_eq!(numbers, expected);
        assert_eq!(found.row.samples[22].latency_ns(), 902_000);
        assert_eq!(
            (found.moved, found.furthest_ns, found.row.lost),
            (1, 300_000, 0)
        );
    }

    #[test]
    fn a_cycle_that_finds_no_place_on_the_grid_is_counted_as_lost() {
        let mut turns: Vec<Activation> = (0..20).map(|k| turn(k * MS, 13_000)).collect();
        turns.insert(11, turn(10 * MS + 500_000, 20_000));
        let found = on_grid(&turns, exact(5 * MS), None);
        assert_eq!((found.row.samples.len(), found.row.lost), (20, 1));
        assert!(
            found
                .row
                .samples
                .iter()
                .all(|of| of.due_ns == of.cycle * MS)
        );
    }

    #[test]
    fn a_cycle_begins_where_the_one_before_has_ended() {
        assert_eq!(earliest(None, 5, 10), 0);
        assert_eq!(earliest(Some((2, 5)), 5, 10), 3);
        assert_eq!(earliest(Some((2, 33)), 1, 10), 6);
        assert_eq!(earliest(Some((2, 31)), 1, 10), 5);
    }
}
