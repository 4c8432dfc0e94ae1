//! Several periods in one thread without timers of their own, as an event loop in Python has them: each of its time-outs is
//! for the nearest due time of any, rounded up to whole milliseconds.

use super::activation::Activation;
use super::near_row::{MS, NearRow, are_rounded_twice, time_outs};
use super::rhythm::Rhythm;

/// Rows in one thread, at most.
const MOST_ROWS: usize = 8;
/// Due times in which they are looked for.
const LOOKED_AT: usize = 1_000;
/// Longest period in milliseconds, and lowest rate in Hz, that are tried.
const LONGEST_MS: u64 = 2_000;
/// A row has this number of due times or more.
const LEAST_DUES: usize = 15;
/// Of ten due times of a row, the number at which the loop must have been woken: one that comes while it runs is served
/// without a time-out.
const WOKEN_OF_TEN: usize = 8;
/// The same of a further row, as the turns of those before serve some of its due times.
const WOKEN_OF_TEN_BESIDE: usize = 6;
/// Of ten of those, the number that no row before explains: another's every second due time is no row.
const OWN_OF_TEN: usize = 4;
/// Of a hundred due times, the number that the rows must explain together.
const EXPLAINED_OF_HUNDRED: usize = 95;
/// Of a hundred due times that the best row explains, the number that another one explains which is as good.
const AS_MUCH_OF_HUNDRED: usize = 95;
/// Width of a place in a period, in nanoseconds.
const PLACE_NS: u64 = MS / 4;

/// By how much due times come late.
#[derive(Clone, Copy)]
struct Rounding {
    /// Number of places that it covers, and a little.
    places: usize,
    /// Shorter periods would fit any due times, in nanoseconds.
    shortest_ns: u64,
}

/// By up to a millisecond.
const ONCE: Rounding = Rounding {
    places: 5,
    shortest_ns: 3 * MS,
};
/// By up to two.
const TWICE: Rounding = Rounding {
    places: 10,
    shortest_ns: 6 * MS,
};

impl Rounding {
    fn wide_ns(self) -> u64 {
        self.places as u64 * PLACE_NS
    }
}

/// A row with the numbers of the turns on it.
pub(super) type RowOfTurns = (Rhythm, Vec<usize>);

/// The rows of a thread's time-outs; none if too many are on none of them.
pub(super) fn rows(turns: &[Activation]) -> Vec<RowOfTurns> {
    let Some(dues_ns) = time_outs(turns) else {
        return Vec::new();
    };
    let first = &dues_ns[..dues_ns.len().min(LOOKED_AT)];
    let rounding = if are_rounded_twice(turns) {
        TWICE
    } else {
        ONCE
    };
    let mut rows: Vec<Candidate> = Vec::new();
    let mut is_explained = vec![false; first.len()];
    let are_explained = |known: &[bool]| {
        let count = known.iter().filter(|known| **known).count();
        count * 100 >= known.len() * EXPLAINED_OF_HUNDRED
    };
    // A second one may have few of them.
    while rows.len() < 2 || (rows.len() < MOST_ROWS && !are_explained(&is_explained)) {
        let Some(best) = best(first, &is_explained, rounding) else {
            break;
        };
        rows.push(best);
        refit(&mut rows, first);
        is_explained = explained(rows.iter(), first);
    }
    if rows.is_empty() || !are_explained(&is_explained) {
        return Vec::new();
    }
    let with_one = (0..turns.len()).filter(|number| turns[*number].programmed_ns.is_some());
    let with_one: Vec<usize> = with_one.collect();
    let programmed = turns.iter().filter_map(|of| of.programmed_ns);
    let programmed: Vec<u64> = programmed.collect();
    let mut is_explained = vec![false; programmed.len()];
    let with_turns = rows.iter().map(|row| {
        let held = row.explain(&programmed, &mut is_explained).into_iter();
        (
            Rhythm::near(row.near()),
            held.map(|number| with_one[number]).collect(),
        )
    });
    let mut with_turns: Vec<RowOfTurns> = with_turns.collect();
    with_turns.sort_by_cached_key(|(rhythm, _)| rhythm.period_ns);
    with_turns
}

/// Moves each row onto most of the time-outs that no other explains: it was found before all of them were
/// known.
fn refit(rows: &mut [Candidate], time_outs_ns: &[u64]) {
    for number in 0..rows.len() {
        let others = rows.iter().enumerate().filter(|(of, _)| *of != number);
        let is_explained = explained(others.map(|(_, row)| row), time_outs_ns);
        let Candidate {
            period_ns,
            rounding,
            ..
        } = rows[number];
        if let Some(tried) = row(time_outs_ns, &is_explained, period_ns, rounding, 100) {
            rows[number] = tried.row;
        }
    }
}

/// Which time-outs these rows explain.
fn explained<'a>(rows: impl Iterator<Item = &'a Candidate>, time_outs_ns: &[u64]) -> Vec<bool> {
    let mut is_explained = vec![false; time_outs_ns.len()];
    for row in rows {
        row.explain(time_outs_ns, &mut is_explained);
    }
    is_explained
}

/// A row on trial.
#[derive(Clone, Copy)]
struct Candidate {
    period_ns: u64,
    rounding: Rounding,
    /// Its earliest due time after the first of all, less that.
    phase_ns: u64,
    first_ns: u64,
}

impl Candidate {
    /// The time-outs for its due times, one for each: the first that no row explains, otherwise the first.
    fn held(&self, time_outs_ns: &[u64], is_explained: &[bool]) -> Vec<usize> {
        let (mut held, mut last): (Vec<usize>, Option<u64>) = (Vec::new(), None);
        for (number, due_ns) in time_outs_ns.iter().enumerate() {
            // The row begins a period early, as its first due time may be a little before the first of all.
            let after_ns = due_ns.saturating_sub(self.first_ns) + self.period_ns - self.phase_ns;
            if after_ns % self.period_ns >= self.rounding.wide_ns() {
                continue;
            }
            let due = after_ns / self.period_ns;
            match held.last_mut() {
                Some(first) if last == Some(due) => {
                    if is_explained[*first] && !is_explained[number] {
                        *first = number;
                    }
                }
                _ => held.push(number),
            }
            last = Some(due);
        }
        held
    }

    /// Marks the time-outs for its due times as explained.
    fn explain(&self, time_outs_ns: &[u64], is_explained: &mut [bool]) -> Vec<usize> {
        let held = self.held(time_outs_ns, is_explained);
        for number in &held {
            is_explained[*number] = true;
        }
        held
    }

    fn near(&self) -> NearRow {
        let beside_ns = self.rounding.wide_ns() / 2;
        NearRow {
            period_ns: self.period_ns,
            anchor_ns: self.first_ns + self.phase_ns + beside_ns,
            beside_ns,
        }
    }
}

/// The row that explains most due times that none before explains.
fn best(dues_ns: &[u64], is_explained: &[bool], rounding: Rounding) -> Option<Candidate> {
    let milliseconds = (rounding.shortest_ns / MS..=LONGEST_MS).map(|number| number * MS);
    let highest_hz = 1_000_000_000 / rounding.shortest_ns;
    let rates = (1..=highest_hz).map(|rate| 1_000_000_000 / rate);
    let tried = milliseconds.chain(rates);
    let found = tried.filter_map(|period_ns| {
        row(
            dues_ns,
            is_explained,
            period_ns,
            rounding,
            AS_MUCH_OF_HUNDRED,
        )
    });
    let mut found: Vec<Tried> = found.collect();
    let most = found.iter().map(|of| of.own).max()?;
    // A multiple explains as much where another row has all the others of its due times.
    found.retain(|of| of.own * 100 >= most * AS_MUCH_OF_HUNDRED);
    let is_multiple = |more: &Tried, of: &Tried| {
        let [more_ns, ns] = [more, of].map(|of| of.row.period_ns);
        more_ns > ns && more_ns.is_multiple_of(ns)
    };
    // A divisor has further due times, at which the loop must have been woken too.
    let has_others = |of: &&Tried| {
        let mut multiples = found.iter().filter(|more| is_multiple(more, of));
        multiples.all(|more| {
            let others = of.expected - more.expected;
            of.all.saturating_sub(more.all) * 10 >= others * WOKEN_OF_TEN
        })
    };
    let kept = found.iter().filter(has_others);
    kept.map(|of| of.row).min_by_key(|row| row.period_ns)
}

/// The best row of a period.
struct Tried {
    row: Candidate,
    /// Its due times, whether the loop was woken at them or not.
    expected: usize,
    /// The due times that it explains.
    all: usize,
    /// Of these, those that no row before explains.
    own: usize,
}

/// The best row of this period.
fn row(
    dues_ns: &[u64],
    is_explained: &[bool],
    period_ns: u64,
    rounding: Rounding,
    as_much: usize,
) -> Option<Tried> {
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
        (0..rounding.places)
            .map(|next| counts[(from + next) % places])
            .sum()
    };
    let most = (0..places).map(|from| within(&own, from)).max()?;
    // Of places that are about as good, the one at which most due times are served, by turns of other rows too.
    let is_as_good = |from: &usize| within(&own, *from) * 100 >= most * as_much;
    let from = (0..places)
        .filter(is_as_good)
        .max_by_key(|from| (within(&all, *from), within(&own, *from)))?;
    let row = Candidate {
        period_ns,
        rounding,
        phase_ns: from as u64 * PLACE_NS,
        first_ns,
    };
    let held = row.held(dues_ns, is_explained);
    let own = held.iter().filter(|number| !is_explained[**number]).count();
    let all = held.len();
    let woken = match is_explained.contains(&true) {
        true => WOKEN_OF_TEN_BESIDE,
        false => WOKEN_OF_TEN,
    };
    let is_row = all * 10 >= expected * woken && own * 10 >= expected * OWN_OF_TEN;
    is_row.then_some(Tried {
        row,
        expected,
        all,
        own,
    })
}

#[cfg(test)]
mod tests;
