//! Several periods in one thread without timers of their own, as an event loop in Python has them: each of its time-outs is
//! for the nearest due time of any, rounded up to whole milliseconds.

use super::activation::Activation;
use super::near_row::{MS, NearRow, time_outs};
use super::rhythm::Rhythm;

/// Rows in one thread, at most.
const MOST_ROWS: usize = 8;
/// Due times in which they are looked for.
const LOOKED_AT: usize = 1_000;
/// Shorter periods would fit any due times: each is late by up to a millisecond.
const SHORTEST_NS: u64 = 3 * MS;
/// Longest period in milliseconds, and lowest rate in Hz, that are tried.
const LONGEST_MS: u64 = 2_000;
/// Highest rate that is tried.
const HIGHEST_HZ: u64 = 1_000_000_000 / SHORTEST_NS;
/// A row has this number of due times or more.
const LEAST_DUES: usize = 15;
/// Of ten due times of a row, the number at which the loop must have been woken: one that comes while it runs is served
/// without a time-out.
const WOKEN_OF_TEN: usize = 8;
/// Of ten of those, the number that no row before explains: another's every second due time is no row.
const OWN_OF_TEN: usize = 4;
/// Of a hundred due times, the number that the rows must explain together.
const EXPLAINED_OF_HUNDRED: usize = 95;
/// Of a hundred due times that the best row explains, the number that another one explains which is as good.
const AS_MUCH_OF_HUNDRED: usize = 95;
/// Width of a place in a period, in nanoseconds, and the number of places that a millisecond and a little cover.
const PLACE_NS: u64 = MS / 4;
const WIDE: usize = 5;
const WIDE_NS: u64 = WIDE as u64 * PLACE_NS;

/// The rows of a thread's time-outs, with the numbers of the turns on each; none for one that has a single row or due times
/// on none of them.
pub(super) fn rows(turns: &[Activation]) -> Vec<(Rhythm, Vec<usize>)> {
    let Some(dues_ns) = time_outs(turns) else {
        return Vec::new();
    };
    let first = &dues_ns[..dues_ns.len().min(LOOKED_AT)];
    let mut rows: Vec<Candidate> = Vec::new();
    let mut is_explained = vec![false; first.len()];
    let are_explained = |known: &[bool]| {
        let count = known.iter().filter(|known| **known).count();
        count * 100 >= known.len() * EXPLAINED_OF_HUNDRED
    };
    while rows.len() < MOST_ROWS && !are_explained(&is_explained) {
        let Some(best) = best(first, &is_explained) else {
            break;
        };
        for (known, due_ns) in is_explained.iter_mut().zip(first) {
            *known |= best.holds(*due_ns);
        }
        rows.push(best);
    }
    if rows.len() < 2 || !are_explained(&is_explained) {
        return Vec::new();
    }
    rows.sort_by_key(|row| row.period_ns);
    let with_turns = rows.iter().map(|row| {
        let on_row =
            |(_, of): &(usize, &Activation)| of.programmed_ns.is_some_and(|at| row.holds(at));
        let numbers = (0..).zip(turns).filter(on_row).map(|(number, _)| number);
        (Rhythm::near(row.near()), numbers.collect())
    });
    with_turns.collect()
}

/// A row on trial.
#[derive(Clone, Copy)]
struct Candidate {
    period_ns: u64,
    /// Its earliest due time after the first of all, less that.
    phase_ns: u64,
    first_ns: u64,
}

impl Candidate {
    fn holds(&self, due_ns: u64) -> bool {
        let place_ns = due_ns.saturating_sub(self.first_ns) % self.period_ns;
        let after_ns = (place_ns + self.period_ns - self.phase_ns) % self.period_ns;
        after_ns < WIDE_NS
    }

    fn near(&self) -> NearRow {
        NearRow {
            period_ns: self.period_ns,
            anchor_ns: self.first_ns + self.phase_ns + WIDE_NS / 2,
            beside_ns: WIDE_NS / 2,
        }
    }
}

/// The row that explains most due times that none before explains.
fn best(dues_ns: &[u64], is_explained: &[bool]) -> Option<Candidate> {
    let milliseconds = (SHORTEST_NS / MS..=LONGEST_MS).map(|number| number * MS);
    let rates = (1..=HIGHEST_HZ).map(|rate| 1_000_000_000 / rate);
    let tried = milliseconds.chain(rates);
    let found = tried.filter_map(|period_ns| row(dues_ns, is_explained, period_ns));
    let found: Vec<(usize, Candidate)> = found.collect();
    let most = found.iter().map(|(own, _)| *own).max()?;
    // A multiple explains as much where another row has all the others of its due times.
    let as_much = found
        .into_iter()
        .filter(|(own, _)| own * 100 >= most * AS_MUCH_OF_HUNDRED);
    as_much.map(|(_, row)| row).min_by_key(|row| row.period_ns)
}

/// The best row of this period, with the number of due times that it alone explains.
fn row(dues_ns: &[u64], is_explained: &[bool], period_ns: u64) -> Option<(usize, Candidate)> {
    let (first_ns, last_ns) = (*dues_ns.first()?, *dues_ns.last()?);
    let expected = usize::try_from((last_ns - first_ns) / period_ns).ok()?;
    if expected < LEAST_DUES {
        return None;
    }
    let places = usize::try_from(period_ns / PLACE_NS).ok()?;
    let (mut all, mut own) = (vec![0_usize; places], vec![0_usize; places]);
    for (due_ns, is_explained) in dues_ns.iter().zip(is_explained) {
        let place = usize::try_from((due_ns - first_ns) % period_ns / PLACE_NS).ok()?;
        all[place.min(places - 1)] += 1;
        own[place.min(places - 1)] += usize::from(!is_explained);
    }
    let within = |counts: &[usize], from: usize| -> usize {
        (0..WIDE).map(|next| counts[(from + next) % places]).sum()
    };
    let (from, own) = (0..places)
        .map(|from| (from, within(&own, from)))
        .max_by_key(|(from, count)| (*count, within(&all, *from)))?;
    let is_row =
        within(&all, from) * 10 >= expected * WOKEN_OF_TEN && own * 10 >= expected * OWN_OF_TEN;
    let candidate = Candidate {
        period_ns,
        phase_ns: from as u64 * PLACE_NS,
        first_ns,
    };
    is_row.then_some((own, candidate))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Turns of an event loop with tasks of these periods and offsets, in microseconds.
    fn event_loop(tasks: &[(u64, u64)], turn_us: u64) -> Vec<Activation> {
        let mut next: Vec<u64> = tasks
            .iter()
            .map(|(_, offset)| MS + offset * 1_000)
            .collect();
        let (mut now_ns, mut turns) = (0, Vec::new());
        while now_ns < 8_000 * MS {
            let Some(nearest_ns) = next.iter().min().copied() else {
                break;
            };
            if nearest_ns > now_ns {
                let programmed_ns = now_ns + (nearest_ns - now_ns).div_ceil(MS) * MS;
                turns.push(Activation {
                    programmed_ns: Some(programmed_ns),
                    asked_at_ns: Some(now_ns + 1_500),
                    expiry_ns: programmed_ns + 2_000,
                    ..Activation::default()
                });
                now_ns = programmed_ns;
            }
            for (due_ns, (period, _)) in next.iter_mut().zip(tasks) {
                if *due_ns <= now_ns {
                    *due_ns += period * 1_000;
                }
            }
            now_ns += turn_us * 1_000;
        }
        turns
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn tasks_have_their_own_periods_or_none(
            short in 4..9_u64,
            middle in 15..40_u64,
            offset in 0..3_000_u64,
            turn_us in 50..200_u64,
        ) {
            prop_assume!(middle % short != 0);
            let turns = event_loop(&[(short * 1_000, 0), (middle * 1_000, offset)], turn_us);
            let periods: Vec<u64> = rows(&turns).iter().map(|(rhythm, _)| rhythm.period_ns / MS).collect();
            prop_assert!(periods.is_empty() || periods == [short, middle], "{periods:?}");
        }
    }

    #[test]
    fn three_tasks_as_in_a_python_program_have_their_periods() {
        let turns = event_loop(&[(10_000, 40), (33_000, 80), (4_000, 120)], 90);
        let found = rows(&turns);
        let periods: Vec<u64> = found
            .iter()
            .map(|(rhythm, _)| rhythm.period_ns / MS)
            .collect();
        assert_eq!(periods, [4, 10, 33]);
        let least = [1_900, 780, 235];
        assert!(
            found
                .iter()
                .zip(least)
                .all(|((_, numbers), least)| numbers.len() >= least)
        );
    }

    #[test]
    fn one_task_or_time_outs_at_random_are_no_rows() {
        assert!(rows(&event_loop(&[(10_000, 0)], 100)).is_empty());
        let (mut state, mut now_ns, mut turns) = (7_u64, MS, Vec::new());
        for _ in 0..600 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let programmed_ns = now_ns + (1 + (state >> 33) % 40) * MS;
            turns.push(Activation {
                programmed_ns: Some(programmed_ns),
                asked_at_ns: Some(now_ns + 1_500),
                ..Activation::default()
            });
            now_ns = programmed_ns + (state >> 40) % 700_000;
        }
        assert!(rows(&turns).is_empty());
    }
}
