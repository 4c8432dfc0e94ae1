//! Who watches a run: the terminal views implement it. Watching changes nothing.

use crate::{LiveFigures, Plan, Segment};
use std::path::Path;

/// What may be shown while a run is under way. Everything is optional to show.
pub trait Observer {
    /// The run begins.
    fn begun(&mut self, plan: &Plan, planned_ns: u64, directory: &Path);
    /// A phase's loads are being started.
    fn phase(&mut self, name: &str, repetition: u32, loads: &[String]);
    /// A segment's cycles begin.
    fn segment_begun(&mut self, segment: &Segment);
    /// How the segment under way is doing, a few times a second.
    fn live(&mut self, figures: &LiveFigures);
    /// A segment has ended; `problem` is the reason if it did not run to its end.
    fn segment_ended(&mut self, segment: &Segment, problem: Option<&str>);
    /// A segment's trace is written. No loop runs now: a reader of the trace that runs during the next
    /// segment would take memory bandwidth from it, and from an untraced one at that.
    fn traced(&mut self, segment: &Segment, directory: &Path);
    /// Something that the reader of the run should know.
    fn note(&mut self, text: &str);
    /// Called often, also when nothing happened.
    fn tick(&mut self) {}
    /// Measuring is over, the recording is being put in order.
    fn finishing(&mut self);
}
