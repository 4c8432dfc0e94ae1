//! Where a timer's due times lie: whole periods from when it was made, or, where its callbacks do not fit
//! those, the latest row that they fit.

use super::Timer;
use crate::Row;
use wakepath_timeline::{DueTimes, Sample};

/// Of a hundred callbacks so many at least have a period of their own on a row that is right.
const ALONE_OF_HUNDRED: usize = 95;

#[derive(Debug, Clone, Copy)]
pub(super) struct Cycle {
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) cpu: u16,
}

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

/// The cycles on the row that the timer's making begins; where they do not fit it, on the latest that
/// they fit. `None` where they fit none.
pub(super) fn row(timer: &Timer, cycles: &[Cycle], lost: u64) -> Option<(Row, How)> {
    let period_ns = timer.period_ns;
    let from_init = timer.made_ns.checked_add(period_ns)?;
    if let Some(row) = on_row(from_init, period_ns, cycles, lost) {
        return Some((row, How::FromInit));
    }
    // Where in the period callbacks begin: the row begins behind the widest gap.
    let mut phases: Vec<u64> = cycles
        .iter()
        .map(|cycle| cycle.start_ns % period_ns)
        .collect();
    phases.sort_unstable();
    let wrapped = phases.first()? + period_ns;
    let after = phases.iter().skip(1).copied().chain([wrapped]);
    let gaps = phases.iter().zip(after).map(|(at, next)| (next - at, next));
    let (_, phase) = gaps.max()?;
    let first = cycles.first()?.start_ns;
    let start_ns = (first + period_ns - phase % period_ns) / period_ns * period_ns;
    let start_ns = (start_ns + phase % period_ns).checked_sub(period_ns)?;
    on_row(start_ns, period_ns, cycles, lost).map(|row| (row, How::Latest))
}

/// Each callback serves the latest due time before it; one that would serve another's is of the next,
/// and early. `None` where too many would be.
fn on_row(start_ns: u64, period_ns: u64, cycles: &[Cycle], lost: u64) -> Option<Row> {
    let due = DueTimes {
        start_ns,
        period_ns,
    };
    let mut samples: Vec<Sample> = Vec::with_capacity(cycles.len());
    let mut alone = 0;
    for of in cycles {
        let latest = of
            .start_ns
            .checked_sub(start_ns)
            .map(|since| since / period_ns);
        let next = samples.last().map_or(0, |last| last.cycle + 1);
        let cycle = latest.unwrap_or(0).max(next);
        alone += usize::from(latest == Some(cycle));
        let due_ns = due.due_ns(cycle);
        samples.push(Sample {
            cycle,
            due_ns,
            wake_ns: of.start_ns,
            end_ns: of.end_ns,
            cpu: of.cpu,
            ..Sample::default()
        });
    }
    (alone * 100 >= cycles.len() * ALONE_OF_HUNDRED).then_some(Row {
        due,
        samples,
        lost,
        judged: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycles(starts: &[u64]) -> Vec<Cycle> {
        let cycle = |start_ns: &u64| Cycle {
            start_ns: *start_ns,
            end_ns: start_ns + 10,
            cpu: 0,
        };
        starts.iter().map(cycle).collect()
    }

    fn timer() -> Timer {
        Timer {
            handle: (0, 1),
            made_ns: 1_000_000,
            period_ns: 1_000,
        }
    }

    #[test]
    fn a_timer_goes_on_from_where_it_was_made_and_skips_what_it_missed() {
        let starts = [1_001_005, 1_002_010, 1_004_900, 1_006_020];
        let (row, how) = row(&timer(), &cycles(&starts), 0).unwrap();
        assert_eq!(how, How::FromInit);
        let found: Vec<_> = row
            .samples
            .iter()
            .map(|s| (s.cycle, s.latency_ns()))
            .collect();
        assert_eq!(found, [(0, 5), (1, 10), (3, 900), (5, 20)]);
    }

    #[test]
    fn a_timer_that_was_reset_is_put_on_the_latest_row_that_fits() {
        // About whole periods after it was made, now before and now after.
        let starts: Vec<u64> = (1..100)
            .map(|k| 1_000_000 + k * 1_000 - 50 + k % 3 * 50)
            .collect();
        let (row, how) = row(&timer(), &cycles(&starts), 0).unwrap();
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
        assert!(row(&timer(), &cycles(&starts), 0).is_none());
    }
}
