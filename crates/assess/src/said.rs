//! Log records of a run's loops: the number of lines, the first and the last of them, and a summary of each
//! value. It judges nothing.

use crate::error::AssessmentError;
use crate::explanation::text_of;
use crate::values::{SaidValue, Values};
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};
use wakepath_archive::{LineSaid, LoopLine, Run, SegmentTold, read_lines};

/// Lines that are shown from the beginning and from the end, each.
const SHOWN: usize = 8;

/// One loop's log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Said {
    /// The loop.
    pub thread: String,
    /// Its lines, over the run.
    pub lines: u64,
    /// The first of them.
    pub first: Vec<SaidLine>,
    /// The last of them, beyond the first.
    pub last: Vec<SaidLine>,
    /// Its values, by name.
    pub values: Vec<SaidValue>,
}

/// A line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SaidLine {
    /// Segment of the run.
    pub segment: u32,
    /// In which cycle.
    pub cycle: u64,
    /// When, in nanoseconds on `CLOCK_MONOTONIC`.
    pub at_ns: u64,
    /// The line.
    pub text: String,
}

/// The clock that drove a loop, against the loop's own machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BusClock {
    /// The loop.
    pub thread: String,
    /// Segment of the run.
    pub segment: u32,
    /// Its cycles in the judged time.
    pub cycles: u64,
    /// The mean period, in nanoseconds on `CLOCK_MONOTONIC`.
    pub period_ns: f64,
    /// How much longer that is than what the loop said, in parts in a million.
    pub drift_ppm: f64,
    /// The largest deviations of due times before and after the straight line through the first and the
    /// last, in nanoseconds.
    pub phase_ns: (f64, f64),
}

/// Log records of a run's loops.
pub(crate) fn said(run: &Run) -> Result<Vec<Said>, AssessmentError> {
    let mut all: BTreeMap<String, (Said, VecDeque<SaidLine>, Values)> = BTreeMap::new();
    read_lines(run.directory(), |line| {
        let Some(name) = name_of(run, &line) else {
            return;
        };
        let (said, last, values) = all.entry(name.clone()).or_insert_with(|| {
            let said = Said {
                thread: name,
                lines: 0,
                first: Vec::new(),
                last: Vec::new(),
                values: Vec::new(),
            };
            (said, VecDeque::new(), Values::default())
        });
        match &line.said {
            LineSaid::Value { name, is } => values.add(name, *is),
            LineSaid::Text(_) => {
                said.lines += 1;
                let line = SaidLine {
                    segment: line.segment,
                    cycle: line.cycle,
                    at_ns: line.at_ns,
                    text: text_of(&line),
                };
                if said.first.len() < SHOWN {
                    said.first.push(line)
                } else {
                    last.push_back(line)
                }
                if last.len() > SHOWN {
                    last.pop_front();
                }
            }
        }
    })?;
    let ended = all.into_values().map(|(mut said, last, values)| {
        said.last = last.into();
        said.values = values.ended();
        said
    });
    Ok(ended.collect())
}

fn name_of(run: &Run, line: &LoopLine) -> Option<String> {
    let thread = run.manifest.thread(line.segment, line.thread)?;
    Some(thread.name.clone())
}

/// The clocks of driven loops, segment by segment, over the judged time: in the warm-up they are found.
pub(crate) fn bus_clocks(run: &Run) -> Result<Vec<BusClock>, AssessmentError> {
    let mut clocks = Vec::new();
    for segment in &run.manifest.segments {
        let Some(told) = SegmentTold::read(run.directory(), segment.segment)? else {
            continue;
        };
        for thread in &segment.threads {
            let dues = told.threads.get(&thread.thread).map(|of| &of.dues[..]);
            let judged = dues.map(|dues| {
                let warm_up = dues.partition_point(|&(of, _)| of < thread.first_judged_cycle);
                &dues[warm_up..]
            });
            let clock = judged.and_then(|dues| clock_of(dues, thread.due.period_ns));
            clocks.extend(clock.map(|clock| BusClock {
                thread: thread.name.clone(),
                segment: segment.segment,
                ..clock
            }));
        }
    }
    Ok(clocks)
}

/// Most periods between two due times that can be counted without their numbers: a clock may drift by 5 %, which over
/// these is less than half a period.
const COUNTED: u64 = 8;

/// The due times with the periods since the first, both in nanoseconds after it. A loop that was away for longer than a
/// period can only guess which of its clock's events it serves: a wrong number would shift all later ones by a period.
fn counted(dues: &[(u64, u64)], said_ns: u64) -> Option<Vec<(u64, f64)>> {
    let (mut periods, mut before) = (0_u64, *dues.first()?);
    let first_ns = before.1;
    let counted = dues.iter().map(|&(number, due_ns)| {
        let steps = number.checked_sub(before.0)?;
        let apart_ns = due_ns.checked_sub(before.1)?;
        periods += match steps {
            0..=COUNTED => (apart_ns as f64 / said_ns as f64).round() as u64,
            _ => steps,
        };
        before = (number, due_ns);
        Some((periods, (due_ns - first_ns) as f64))
    });
    counted.collect()
}

fn clock_of(dues: &[(u64, u64)], said_ns: u64) -> Option<BusClock> {
    let said_ns = said_ns.max(1);
    let counted = counted(dues, said_ns)?;
    let &(periods, elapsed_ns) = counted.last().filter(|last| last.0 > 0)?;
    let period_ns = elapsed_ns / periods as f64;
    let phases = counted
        .iter()
        .map(|&(number, due_ns)| due_ns - number as f64 * period_ns);
    let phase_ns = phases.fold((0.0_f64, 0.0_f64), |(least, most), phase| {
        (least.min(phase), most.max(phase))
    });
    Some(BusClock {
        thread: String::new(),
        segment: 0,
        cycles: dues.len() as u64,
        period_ns,
        drift_ppm: (period_ns / said_ns as f64 - 1.0) * 1e6,
        phase_ns,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_slow_drifts_by_as_much() {
        // 1 ms and 100 ns each; the one in the middle comes 3 µs late.
        let mut dues: Vec<(u64, u64)> =
            (5..1_005).map(|n| (n, 7_000_000 + n * 1_000_100)).collect();
        dues[500].1 += 3_000;
        let clock = clock_of(&dues, 1_000_000).unwrap();
        assert!((clock.drift_ppm - 100.0).abs() < 1e-6, "{clock:?}");
        assert!((clock.period_ns - 1_000_100.0).abs() < 1e-6);
        assert!(clock.phase_ns.0.abs() < 1e-3 && (clock.phase_ns.1 - 3_000.0).abs() < 1e-3);
        assert_eq!(clock_of(&dues[..1], 1_000_000), None);
    }

    #[test]
    fn a_wrong_number_shifts_no_later_due_time() {
        // 2 ms and 200 ppm; number 701 was guessed as 702, after 40 skipped ones that really passed.
        let due = |n: u64| (n, 7_000_000 + n * 2_000_400);
        let dues = (0..700).filter(|n| !(300..340).contains(n)).map(due);
        let wrong = (700..2_000).map(|n| (n + 1, due(n).1));
        let dues: Vec<(u64, u64)> = dues.chain(wrong).collect();
        let clock = clock_of(&dues, 2_000_000).unwrap();
        assert!((clock.drift_ppm - 200.0).abs() < 1e-6, "{clock:?}");
        assert!(clock.phase_ns.1 - clock.phase_ns.0 < 1e-3, "{clock:?}");
    }
}
