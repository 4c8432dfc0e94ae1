//! The last cycles of a loop.
//!
//! A cycle is examined once the following ones are available: whether it is one of the worst, and
//! its surroundings. It writes nothing.

use crate::worst::{Neighbour, Worst, WorstCycle};
use std::collections::VecDeque;
use wakepath_archive::{LineSaid, LoopLine, Told};
use wakepath_timeline::{Sample, one_line};

/// Cycles to keep before and after a bad one.
const AROUND: usize = 4;
/// Time before a bad cycle in which its log lines are kept.
const LINES_BEFORE_NS: u64 = 1_000_000_000;
/// Most of these lines.
const MOST_LINES: usize = 20;

/// Telemetry, markers and log lines, by the loop's own cycle numbers.
#[derive(Debug, Clone)]
pub(crate) enum Beside {
    Told(u64, Told, String),
    Line(LoopLine),
}

/// Place of the examined samples.
pub(crate) struct Seen<'a> {
    pub(crate) name: &'a str,
    pub(crate) segment: &'a str,
    pub(crate) base: u64,
    pub(crate) offset_ns: i128,
}

/// The last samples; each is examined once the following ones are available.
#[derive(Default)]
pub(crate) struct Recent {
    samples: VecDeque<Sample>,
}

impl Recent {
    /// Takes a sample, and keeps the one [`AROUND`] before it if that is among the worst.
    pub(crate) fn push(
        &mut self,
        sample: Sample,
        seen: &Seen<'_>,
        worst: &mut Worst,
        beside: &[&VecDeque<Beside>],
    ) {
        self.samples.push_back(sample);
        if self.samples.len() > 2 * AROUND + 1 {
            self.samples.pop_front();
        }
        if let Some(at) = self.samples.len().checked_sub(AROUND + 1) {
            self.look(at, seen, worst, beside);
        }
    }

    /// No more follow: examines the last ones without their followers.
    pub(crate) fn end(&mut self, seen: &Seen<'_>, worst: &mut Worst, beside: &[&VecDeque<Beside>]) {
        let from = self.samples.len().saturating_sub(AROUND);
        (from..self.samples.len()).for_each(|at| self.look(at, seen, worst, beside));
        self.samples.clear();
    }

    fn look(&self, at: usize, seen: &Seen<'_>, worst: &mut Worst, beside: &[&VecDeque<Beside>]) {
        let of = &self.samples[at];
        if of.response_ns() <= worst.threshold_ns(seen.name) {
            return;
        }
        let after_due = |ns: u64| ns.cast_signed().saturating_sub(of.due_ns.cast_signed());
        let (mut sections, mut lines) = (Vec::new(), Vec::new());
        for one in beside.iter().flat_map(|of| of.iter()) {
            match one {
                Beside::Told(cycle, Told::Span { from_ns, to_ns, .. }, name)
                    if *cycle == of.cycle =>
                {
                    sections.push((name.clone(), after_due(*from_ns), after_due(*to_ns)));
                }
                Beside::Line(line)
                    if line.at_ns + LINES_BEFORE_NS >= of.due_ns
                        && line.at_ns <= of.end_ns
                        && lines.len() < MOST_LINES =>
                {
                    let text = match &line.said {
                        LineSaid::Text(text) => one_line(text),
                        LineSaid::Value { name, is } => format!("{name} = {is}"),
                    };
                    lines.push((after_due(line.at_ns), text));
                }
                _ => {}
            }
        }
        let neighbour = |of: &Sample| Neighbour {
            cycle: of.cycle.saturating_sub(seen.base),
            latency_ns: of.latency_ns(),
            response_ns: of.response_ns(),
        };
        let cycle = WorstCycle {
            at_ns: (i128::from(of.due_ns) + seen.offset_ns).max(0) as u64,
            due_ns: of.due_ns,
            segment: seen.segment.into(),
            cycle: of.cycle.saturating_sub(seen.base),
            latency_ns: of.latency_ns(),
            response_ns: of.response_ns(),
            cpu: of.cpu,
            around: self.samples.iter().map(neighbour).collect(),
            sections,
            lines,
            trace: None,
        };
        worst.add(seen.name, cycle);
        if worst.wants_trace(seen.name, of.response_ns()) {
            let told = beside.iter().flat_map(|of| of.iter());
            worst.offer(Offered {
                name: seen.name.into(),
                segment: seen.segment.into(),
                sample: *of,
                around: self.samples.iter().copied().collect(),
                beside: told.filter(|one| self.is_around(one)).cloned().collect(),
            });
        }
    }

    /// Whether it belongs to one of these cycles.
    fn is_around(&self, beside: &Beside) -> bool {
        let cycle = match beside {
            Beside::Told(cycle, ..) => *cycle,
            Beside::Line(line) => line.cycle,
        };
        self.samples.iter().any(|of| of.cycle == cycle)
    }
}

/// A bad cycle whose kernel events are to be kept, with its details.
#[derive(Debug)]
pub(crate) struct Offered {
    pub(crate) name: String,
    /// Its segment and due time identify it.
    pub(crate) segment: String,
    pub(crate) sample: Sample,
    /// It and its neighbours, by the loop's own numbers.
    pub(crate) around: Vec<Sample>,
    pub(crate) beside: Vec<Beside>,
}

impl Offered {
    /// Difference between its true times and its sample's, which for a driven loop are evenly
    /// spaced.
    pub(crate) fn shift_ns(&self) -> i64 {
        let due = self.beside.iter().find_map(|one| match one {
            Beside::Told(cycle, Told::Due { due_ns, .. }, _) if *cycle == self.sample.cycle => {
                Some(*due_ns)
            }
            _ => None,
        });
        due.map_or(0, |due_ns| {
            due_ns.wrapping_sub(self.sample.due_ns).cast_signed()
        })
    }
}
