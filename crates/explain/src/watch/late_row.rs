//! Due times of a thread that sleeps until instants and is late in most of its cycles: each passes due times, and the time
//! between two turns is several periods.

use super::activation::Activation;
use std::collections::BTreeSet;

/// Most periods that usually pass between two turns.
const MOST_PERIODS: u64 = 16;
/// Of a hundred intervals, the number that must be whole periods: instants on a row are exact to the nanosecond.
const WHOLE_OF_HUNDRED: usize = 95;
/// Of ten turns, the number that must ask for the first due time that is still to come.
const NEXT_OF_TEN: usize = 9;

/// The period, in nanoseconds, of turns that usually begin `usual_ns` after the one before, if they show it: intervals
/// of another number of periods are among them, and turns ask for the next due time, whichever passed before. `None` if
/// it is the usual interval itself.
pub(super) fn period_ns(turns: &[Activation], usual_ns: u64) -> Option<u64> {
    let dues = turns.iter().filter_map(|of| of.programmed_ns);
    let dues_ns: Vec<u64> = dues.collect();
    let intervals = dues_ns.windows(2).map(|two| two[1].saturating_sub(two[0]));
    let different: BTreeSet<u64> = intervals.clone().collect();
    // No two times have so large a divisor by chance.
    let period_ns = different.into_iter().fold(usual_ns, |period_ns, ns| {
        let common_ns = common_divisor(period_ns, ns);
        let is_period = common_ns.saturating_mul(MOST_PERIODS) >= usual_ns;
        if is_period { common_ns } else { period_ns }
    });
    if period_ns == 0 || period_ns == usual_ns {
        return None;
    }
    let whole = intervals.filter(|ns| ns.is_multiple_of(period_ns)).count();
    let is_for_next = |of: &&Activation| {
        let times = of.programmed_ns.zip(of.asked_at_ns);
        times.is_some_and(|(for_ns, asked_ns)| for_ns.saturating_sub(asked_ns) <= period_ns)
    };
    let for_next = turns.iter().filter(is_for_next).count();
    let is_row = whole * 100 >= (dues_ns.len() - 1) * WHOLE_OF_HUNDRED
        && for_next * 10 >= turns.len() * NEXT_OF_TEN;
    is_row.then_some(period_ns)
}

fn common_divisor(a: u64, b: u64) -> u64 {
    match b {
        0 => a,
        _ => common_divisor(b, a % b),
    }
}

#[cfg(test)]
mod tests {
    use super::super::near_row::MS;
    use crate::watch::{Activation, Rhythm};

    /// Turns that take these times in turn, in milliseconds, of a loop with a due time every 20 ms: each asks for the first
    /// that is still to come, or for a later one.
    fn turns(lasting_ms: &[u64], later_ms: u64) -> Vec<Activation> {
        let (mut now_ns, mut turns) = (MS, Vec::new());
        for lasts_ms in lasting_ms.iter().cycle().take(200) {
            let for_ns = (now_ns + 1).next_multiple_of(20 * MS) + later_ms * MS;
            turns.push(Activation {
                programmed_ns: Some(for_ns),
                asked_at_ns: Some(now_ns),
                expiry_ns: for_ns + 2_000,
                switched_in_ns: for_ns + 50_000,
                ..Activation::default()
            });
            now_ns = for_ns + lasts_ms * MS + 137_219 + turns.len() as u64 * 31;
        }
        turns
    }

    fn period_ms(turns: &[Activation]) -> Option<u64> {
        let rhythm = Rhythm::new(turns).ok()?;
        rhythm.anchor_ns.map(|_| rhythm.period_ns / MS)
    }

    #[test]
    fn a_loop_that_passes_due_times_in_each_cycle_has_their_period() {
        // Usually two due times pass, now and then three.
        let mostly_late = [43, 47, 52, 44, 45, 55, 49, 43, 44, 65];
        assert_eq!(period_ms(&turns(&mostly_late, 0)), Some(20));
        // Nothing shows that two pass.
        assert_eq!(period_ms(&turns(&[43, 47], 0)), Some(60));
        assert_eq!(period_ms(&turns(&[3, 7, 12, 25], 0)), Some(20));
    }

    #[test]
    fn a_loop_that_chooses_later_due_times_has_its_usual_period() {
        let by_choice = turns(&[43, 47, 52, 44, 45, 55, 49, 43, 44, 65], 20);
        assert_ne!(period_ms(&by_choice), Some(20));
    }
}
