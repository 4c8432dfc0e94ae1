//! Lines of one thread as cycles on an even row of due times. It reads no cell.

use crate::{ImportError, MOST_VALUES, Row};
use wakepath_timeline::count::counted;
use wakepath_timeline::{DueTimes, Sample};

/// Fewer lines tell no period.
const LEAST_LINES: usize = 10;
/// Due times of an import that has none count from here; 0 would mean that it was never measured.
const START_NS: i64 = 1_000_000_000;

/// A line's data about its cycle.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    pub(super) due_ns: Option<i64>,
    pub(super) latency_ns: i64,
    pub(super) execution_ns: Option<i64>,
    pub(super) cycle: Option<u64>,
    /// Of the line's thread: the first cycle that is judged, and the one after the last due time.
    pub(super) judged: Option<(u64, u64)>,
    /// What else is known; its instants are not.
    pub(super) sample: Sample,
}

/// A thread's lines so far.
#[derive(Debug, Default)]
pub(super) struct Growing {
    lines: Vec<Line>,
    first_line: usize,
}

/// A thread's cycles.
pub(super) struct Made {
    pub(super) row: Row,
    /// Whether due times were moved onto the row.
    pub(super) is_uneven: bool,
    /// Whether it is known when work ended.
    pub(super) has_work: bool,
}

/// So few lines without numbers tell no period.
#[derive(Debug, thiserror::Error)]
#[error("{} no period: give --period", counted(*.0, "line tells", "lines tell"))]
struct TooFewLines(u64);

impl Growing {
    pub(super) fn take(&mut self, number: usize, line: Line) -> Result<(), ImportError> {
        if let Some(before) = self.lines.last() {
            let due_falls = line.due_ns.is_some() && line.due_ns <= before.due_ns;
            let cycle_falls = line.cycle.is_some() && line.cycle <= before.cycle;
            if due_falls || cycle_falls {
                let what = if due_falls { "due time" } else { "cycle" };
                let why = format!("its {what} is not after that of the line before");
                return Err(ImportError::at(number, why));
            }
        } else {
            self.first_line = number;
        }
        if line.cycle.is_some_and(|cycle| cycle >= MOST_VALUES) {
            return Err(ImportError::at(
                number,
                "more due times than a run can have",
            ));
        }
        if let Some((first, end)) = line.judged {
            let is_same = self.lines.first().is_none_or(|of| of.judged == line.judged);
            if !is_same || first > end || end > MOST_VALUES || line.cycle >= Some(end) {
                let why = format!(
                    "first_judged_cycle {first} and end_cycle {end} are not those of a thread with \
                     this cycle and the lines before"
                );
                return Err(ImportError::at(number, why));
            }
        }
        self.lines.push(line);
        Ok(())
    }

    /// The cycles, by their own numbers or by how far apart they were due.
    pub(super) fn row(self, name: &str, asked_ns: Option<u64>) -> Result<Made, ImportError> {
        let refused =
            |why: String| ImportError::at(self.first_line, format!("thread {name:?}: {why}"));
        let period_ns = match asked_ns {
            Some(asked) => i64::try_from(asked).ok(),
            None => self.period_ns().map_err(|few| refused(few.to_string()))?,
        };
        let period_ns = period_ns.filter(|ns| *ns > 0);
        let period_ns = period_ns.ok_or_else(|| refused("has no period: give --period".into()))?;
        let beyond = || refused("its due times are out of range".into());
        let mut cycle = self.lines.first().and_then(|line| line.cycle).unwrap_or(0);
        let first_ns = match self.lines.first().and_then(|line| line.due_ns) {
            None => START_NS,
            Some(due) => {
                let before = i64::try_from(cycle)
                    .ok()
                    .and_then(|c| c.checked_mul(period_ns));
                before
                    .and_then(|before| due.checked_sub(before))
                    .ok_or_else(beyond)?
            }
        };
        // Times that count from the beginning of a log: never 0, nor woken before it.
        let shift_ns = if first_ns <= 0 {
            START_NS - first_ns
        } else {
            0
        };
        let start_ns = u64::try_from(first_ns + shift_ns).map_err(|_| beyond())?;
        let due = DueTimes {
            start_ns,
            period_ns: period_ns.unsigned_abs(),
        };
        let judged = self.lines.first().and_then(|line| line.judged);
        let mut samples: Vec<Sample> = Vec::with_capacity(self.lines.len());
        let (mut is_uneven, mut has_work) = (false, true);
        let mut before_ns = None;
        // How far numbers of the file are behind those of due times that are made up.
        let mut behind = 0_u64;
        for line in &self.lines {
            cycle = match (line.cycle, line.due_ns, before_ns) {
                (Some(own), None, _) => {
                    let least = samples.last().map_or(0, |last| after(last, due.period_ns));
                    let wanted = own.saturating_add(behind);
                    behind = behind.saturating_add(least.saturating_sub(wanted));
                    wanted.max(least)
                }
                (Some(cycle), ..) => cycle,
                (None, Some(due), Some(before)) => {
                    let apart = due.checked_sub(before).ok_or_else(beyond)?;
                    let periods = (apart.saturating_add(period_ns / 2) / period_ns).max(1);
                    cycle + periods.unsigned_abs()
                }
                (None, None, _) => samples
                    .last()
                    .map_or(cycle, |last| after(last, due.period_ns)),
                _ => cycle,
            };
            if cycle >= MOST_VALUES {
                return Err(refused(
                    "more due times than a run can have: is --period right?".into(),
                ));
            }
            before_ns = line.due_ns;
            let due_ns = due.period_ns.checked_mul(cycle);
            let due_ns = due_ns.and_then(|ns| ns.checked_add(due.start_ns));
            let instant = |ns: u64, later: i64| ns.checked_add_signed(later);
            let made = due_ns.and_then(|due_ns| {
                let wake_ns = instant(due_ns, line.latency_ns)?;
                let end_ns = instant(wake_ns, line.execution_ns.unwrap_or(0))?;
                let small = |ns: u64| i64::try_from(ns).is_ok();
                (small(wake_ns) && small(end_ns)).then_some((due_ns, wake_ns, end_ns))
            });
            let (due_ns, wake_ns, end_ns) = made.ok_or_else(beyond)?;
            let told = line.due_ns.map(|told| told.saturating_add(shift_ns));
            is_uneven |= told.is_some_and(|told| u64::try_from(told) != Ok(due_ns));
            has_work &= line.execution_ns.is_some();
            samples.push(Sample {
                cycle,
                due_ns,
                wake_ns,
                end_ns,
                ..line.sample
            });
        }
        Ok(Made {
            row: Row {
                due,
                samples,
                lost: 0,
                judged: judged.map(|(first, end)| first..end),
            },
            is_uneven,
            has_work,
        })
    }

    /// By the cycles' numbers, else the median between two due times, in nanoseconds.
    fn period_ns(&self) -> Result<Option<i64>, TooFewLines> {
        let pairs = || self.lines.windows(2);
        let numbered = pairs().find_map(|two| {
            let cycles = two[1].cycle?.checked_sub(two[0].cycle?)?;
            let apart = two[1].due_ns?.checked_sub(two[0].due_ns?)?;
            let cycles = i64::try_from(cycles).ok().filter(|cycles| *cycles > 0)?;
            Some((apart + cycles / 2) / cycles)
        });
        if numbered.is_some() {
            return Ok(numbered);
        }
        if self.lines.len() < LEAST_LINES {
            return Err(TooFewLines(self.lines.len() as u64));
        }
        let apart = pairs().filter_map(|two| two[1].due_ns?.checked_sub(two[0].due_ns?));
        let mut apart: Vec<i64> = apart.collect();
        apart.sort_unstable();
        Ok(apart.get(apart.len() / 2).copied())
    }
}

/// The first due time that can follow on a cycle's: the ones that passed while it was late were
/// skipped, as cyclictest's loop skips them.
fn after(cycle: &Sample, period_ns: u64) -> u64 {
    let late = cycle.wake_ns.saturating_sub(cycle.due_ns);
    cycle
        .cycle
        .saturating_add(1)
        .saturating_add(late / period_ns.max(1))
}
