//! Where a timer's due times lie: by rcl's rule from when it was made, or, where its callbacks do not fit that, from
//! the latest row of whole periods that they fit.

use crate::Row;
use wakepath_ros2::{Run, due_cycles};
use wakepath_timeline::{DueTimes, Sample};

/// How due times were worked out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    FromInit,
    Latest,
}

impl How {
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::FromInit => "whole periods after ros2:rcl_timer_init, as rcl's timers go",
            Self::Latest => {
                "estimated: the latest row of whole periods before which no callback began; what \
                 every callback was late by is not known"
            }
        }
    }
}

/// The cycles of a timer with its making and period, in nanoseconds. `None` if they fit no row.
pub(super) fn row((made_ns, period_ns): (u64, u64), runs: &[Run], lost: u64) -> Option<(Row, How)> {
    if let Some(row) = on_row(made_ns, period_ns, runs, lost) {
        return Some((row, How::FromInit));
    }
    // Where in the period callbacks begin: the row begins after the widest gap.
    let mut phases: Vec<u64> = runs
        .iter()
        .filter_map(|run| run.from_ns.checked_rem(period_ns))
        .collect();
    phases.sort_unstable();
    let wrapped = phases.first()?.checked_add(period_ns)?;
    let after = phases.iter().skip(1).copied().chain([wrapped]);
    let gaps = phases.iter().zip(after).map(|(at, next)| (next - at, next));
    let (_, phase) = gaps.max()?;
    let first = runs.first()?.from_ns;
    let start_ns = (first.checked_add(period_ns)? - phase % period_ns) / period_ns * period_ns;
    let start_ns = (start_ns + phase % period_ns).checked_sub(period_ns.checked_mul(2)?)?;
    on_row(start_ns, period_ns, runs, lost).map(|row| (row, How::Latest))
}

/// Due a period after `made_ns` for the first time.
fn on_row(made_ns: u64, period_ns: u64, runs: &[Run], lost: u64) -> Option<Row> {
    let starts: Vec<u64> = runs.iter().map(|run| run.from_ns).collect();
    let (cycles, _) = due_cycles(made_ns, period_ns, &starts)?;
    let due = DueTimes {
        start_ns: made_ns.checked_add(period_ns)?,
        period_ns,
    };
    let mut samples: Vec<Sample> = Vec::with_capacity(runs.len());
    for (run, cycle) in runs.iter().zip(cycles) {
        // A few may be put where the one before is.
        let cycle = cycle.max(samples.last().map_or(0, |last| last.cycle + 1));
        samples.push(Sample {
            cycle,
            due_ns: due.due_ns(cycle),
            wake_ns: run.from_ns,
            end_ns: run.to_ns,
            cpu: run.cpu,
            ..Sample::default()
        });
    }
    Some(Row {
        due,
        samples,
        lost,
        judged: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(starts: &[u64]) -> Vec<Run> {
        let run = |from_ns: &u64| Run {
            callback: 0,
            thread: 1,
            cpu: 0,
            from_ns: *from_ns,
            to_ns: from_ns + 10,
            message: None,
        };
        starts.iter().map(run).collect()
    }

    /// When it was made, and its period.
    const TIMER: (u64, u64) = (1_000_000, 1_000);

    #[test]
    fn a_timer_goes_on_from_where_it_was_made_and_skips_what_it_missed() {
        let starts = [1_001_005, 1_002_010, 1_004_900, 1_005_020];
        let (row, how) = row(TIMER, &runs(&starts), 0).unwrap();
        assert_eq!(how, How::FromInit);
        let found: Vec<_> = row
            .samples
            .iter()
            .map(|s| (s.cycle, s.latency_ns()))
            .collect();
        assert_eq!(found, [(0, 5), (1, 10), (2, 1_900), (4, 20)]);
    }

    #[test]
    fn a_timer_that_was_reset_is_put_on_the_latest_row_that_fits() {
        // Well before whole periods after it was made.
        let starts: Vec<u64> = (1..100)
            .map(|k| 1_000_000 + k * 1_000 - 400 + k % 3 * 50)
            .collect();
        let (row, how) = row(TIMER, &runs(&starts), 0).unwrap();
        assert_eq!(how, How::Latest);
        assert!(
            row.samples
                .iter()
                .all(|s| (0..=100).contains(&s.latency_ns()))
        );
        assert_eq!(row.samples.iter().map(|s| s.latency_ns()).min(), Some(0));
    }

    #[test]
    fn callbacks_that_come_more_often_than_the_period_fit_no_row() {
        let starts: Vec<u64> = (1..100).map(|k| 1_000_000 + k * 300).collect();
        assert!(row(TIMER, &runs(&starts), 0).is_none());
    }
}
