//! Plain lines: one for each phase and each finished segment.

use super::follower::worst_line;
use super::headline;
use std::collections::HashMap;
use std::path::Path;
use wakepath_archive::PlannedSegment;
use wakepath_console::terminal::{OneLine, tell};
use wakepath_measure::{LiveFigures, Plan, Segment};
use wakepath_timeline::duration::three_digits;

/// Writes to standard error.
#[derive(Debug, Default)]
pub struct PlainView {
    segments: usize,
    ended: usize,
    last: LiveFigures,
    /// The last problem of each condition.
    problems: HashMap<String, String>,
}

impl PlainView {
    pub fn begun(&mut self, plan: &Plan, planned_ns: u64, directory: &Path) {
        self.segments = plan.segments().count();
        tell!(
            "measuring: {}, {:.0} s of cycles; recording to {}",
            headline(plan),
            planned_ns as f64 / 1e9,
            directory.in_one_line()
        );
    }

    pub fn phase(&mut self, name: &str, repetition: u32, loads: &[String]) {
        match loads {
            [] => tell!("phase {name}, repetition {}", repetition + 1),
            loads => tell!(
                "phase {name}, repetition {}: starting {}",
                repetition + 1,
                loads.join(", ")
            ),
        }
    }

    pub fn segment_begun(&mut self, segment: &Segment) {
        self.last = LiveFigures {
            segment: segment.planned.segment,
            ..LiveFigures::default()
        };
    }

    pub fn live(&mut self, figures: &LiveFigures) {
        self.last = figures.clone();
    }

    pub fn segment_ended(&mut self, segment: &Segment, problem: Option<&str>) {
        self.ended += 1;
        let place = format!("[{}/{}]", self.ended, self.segments);
        let condition = &segment.planned.condition;
        let name = name(&segment.planned);
        let figures = &self.last;
        match problem {
            Some(problem) => {
                let before = self.problems.insert(condition.clone(), problem.to_owned());
                if before.as_deref() == Some(problem) {
                    tell!("{place} {name}: not measured, as before")
                } else {
                    tell!("{place} {name}: {problem}")
                }
            }
            // It never ran, or the run was interrupted in its warm-up.
            None if figures.executed == 0 => {
                tell!("{place} {name}: no cycle ran in its judged time")
            }
            None => tell!(
                "{place} {name}: {} cycles, wake-up latency median {}, max {}, \
                 missed {}, skipped {}",
                figures.executed,
                three_digits(figures.median_ns),
                three_digits(figures.max_ns),
                figures.missed.map_or("–".into(), |count| count.to_string()),
                figures
                    .skipped
                    .map_or("–".into(), |count| count.to_string())
            ),
        }
    }

    pub fn worst(&mut self, latency_ns: u64, cause: Option<(&str, u64)>) {
        tell!("      worst: {}", worst_line(latency_ns, cause));
    }

    pub fn note(&mut self, text: &str) {
        tell!("note: {text}");
    }

    pub fn finishing(&mut self) {
        tell!("finalising the recording");
    }
}

/// Condition and phase. Only untraced segments are judged, so a traced one is marked.
fn name(planned: &PlannedSegment) -> String {
    let traced = if planned.traced { ", traced" } else { "" };
    format!("{}, {}{traced}", planned.condition, planned.phase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_passes_of_a_condition_have_names_of_their_own() {
        let names = [false, true].map(|traced| {
            name(&PlannedSegment {
                segment: 3,
                phase: "stress".into(),
                repetition: 0,
                condition: "FIFO 50".into(),
                traced,
            })
        });
        assert_eq!(names, ["FIFO 50, stress", "FIFO 50, stress, traced"]);
    }
}
