//! Plain lines: one for each phase and each finished segment.

use super::{headline, short_time, worst_line, worst_of};
use crate::terminal::tell;
use std::path::Path;
use wakepath_measure::{LiveFigures, Observer, Plan, Segment};

/// Writes to standard error.
#[derive(Debug, Default)]
pub struct PlainView {
    segments: usize,
    ended: usize,
    last: LiveFigures,
}

impl Observer for PlainView {
    fn begun(&mut self, plan: &Plan, planned_ns: u64, directory: &Path) {
        self.segments = plan.segments().count();
        tell!(
            "measuring: {}, {:.0} s of cycles; recording to {}",
            headline(plan),
            planned_ns as f64 / 1e9,
            directory.display()
        );
    }

    fn phase(&mut self, name: &str, repetition: u32, loads: &[String]) {
        match loads {
            [] => tell!("phase {name}, repetition {}", repetition + 1),
            loads => tell!(
                "phase {name}, repetition {}: starting {}",
                repetition + 1,
                loads.join(", ")
            ),
        }
    }

    fn segment_begun(&mut self, segment: &Segment) {
        self.last = LiveFigures {
            segment: segment.planned.segment,
            ..LiveFigures::default()
        };
    }

    fn live(&mut self, figures: &LiveFigures) {
        self.last = *figures;
    }

    fn segment_ended(&mut self, segment: &Segment, problem: Option<&str>) {
        self.ended += 1;
        let place = format!("[{}/{}]", self.ended, self.segments);
        let condition = &segment.planned.condition;
        let phase = &segment.planned.phase;
        let figures = self.last;
        match problem {
            Some(problem) => tell!("{place} {condition}, {phase}: {problem}"),
            None => tell!(
                "{place} {condition}, {phase}: {} cycles, wake-up latency median {}, max {}, \
                 skipped {}",
                figures.executed,
                short_time(figures.median_ns),
                short_time(figures.max_ns),
                figures.skipped
            ),
        }
    }

    fn traced(&mut self, segment: &Segment, directory: &Path) {
        if let Some(worst) = worst_of(self, segment, directory) {
            tell!("      worst: {}", worst_line(&worst));
        }
    }

    fn note(&mut self, text: &str) {
        tell!("note: {text}");
    }

    fn finishing(&mut self) {
        tell!("putting the recording in order");
    }
}
