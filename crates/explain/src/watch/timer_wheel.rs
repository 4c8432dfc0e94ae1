//! The wheel in which tokio keeps its timers, 64 slots of a millisecond each
//! (<https://docs.rs/tokio/latest/src/tokio/runtime/time/wheel/mod.rs.html>): a worker wakes after each round to put later
//! timers into slots. No task is due then.

use super::activation::Activation;
use super::several_rows::RowOfTurns;
use super::sorted::Sorted;

/// Its round, in nanoseconds.
const ROUND_NS: u64 = 64_000_000;
/// Its turns take less than this share of those of any task, one in so many.
const SHARE: u64 = 4;

/// The rows of tasks, and whether one was left out that is likely such a wheel's.
pub(super) fn without(mut rows: Vec<RowOfTurns>, turns: &[Activation]) -> (Vec<RowOfTurns>, bool) {
    let usual_ns = |(_, numbers): &RowOfTurns| {
        let run_ns = numbers.iter().map(|number| turns[*number].run_ns).collect();
        Sorted::new(run_ns).map_or(0, |of| of.at(5))
    };
    let is_round = |row: &RowOfTurns| row.0.period_ns == ROUND_NS;
    let tasks = rows.iter().filter(|row| !is_round(row));
    let Some(least_ns) = tasks.map(usual_ns).min() else {
        return (rows, false);
    };
    let before = rows.len();
    rows.retain(|row| !is_round(row) || usual_ns(row) * SHARE >= least_ns);
    let is_any = rows.len() < before;
    (rows, is_any)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::near_row::{MS, NearRow};
    use crate::watch::rhythm::Rhythm;

    /// Periods that are left of rows of 10 and 64 ms, and whether a wheel was, if the turns of the latter run for so long and
    /// those of the former for 300 microseconds.
    fn left(run_us: u64) -> (Vec<u64>, bool) {
        let turn = |number: u64| Activation {
            run_ns: if number < 20 { 300_000 } else { run_us * 1_000 },
            ..Activation::default()
        };
        let turns: Vec<Activation> = (0..40).map(turn).collect();
        let row = |period_ms: u64, numbers: std::ops::Range<usize>| {
            let near = NearRow {
                period_ns: period_ms * MS,
                anchor_ns: 0,
                beside_ns: MS,
            };
            (Rhythm::near(near), numbers.collect())
        };
        let (rows, is_any) = without(vec![row(10, 0..20), row(64, 20..40)], &turns);
        let periods = rows.iter().map(|(of, _)| of.period_ns / MS);
        (periods.collect(), is_any)
    }

    #[test]
    fn a_round_with_little_work_is_the_wheel_s_and_one_with_much_a_task_s() {
        assert_eq!(left(30), (vec![10], true));
        assert_eq!(left(200), (vec![10, 64], false));
    }
}
