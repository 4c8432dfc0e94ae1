//! A watcher of a run that requests its end at the first latency above a limit, and remembers the
//! place. Another watcher shows the progress.

use std::path::Path;
use wakepath_measure::{Interrupt, LiveFigures, Observer, Plan, Segment};

/// Where a run was stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// The segment.
    pub segment: u32,
    /// Its policy.
    pub condition: String,
    /// Its phase.
    pub phase: String,
}

/// Watches for the limit and passes everything on.
pub struct Stopping {
    inner: Box<dyn Observer>,
    interrupt: Interrupt,
    above_ns: Option<u64>,
    now: Option<Stopped>,
    /// Set where the limit was passed.
    pub stopped: Option<Stopped>,
}

impl Stopping {
    /// Stops by `interrupt` at the first latency above `above_ns`; never without a limit.
    pub fn new(inner: Box<dyn Observer>, interrupt: &Interrupt, above_ns: Option<u64>) -> Self {
        Self {
            inner,
            interrupt: interrupt.clone(),
            above_ns,
            now: None,
            stopped: None,
        }
    }
}

impl Observer for Stopping {
    fn begun(&mut self, plan: &Plan, planned_ns: u64, directory: &Path) {
        self.inner.begun(plan, planned_ns, directory);
    }

    fn phase(&mut self, name: &str, repetition: u32, loads: &[String]) {
        self.inner.phase(name, repetition, loads);
    }

    fn segment_begun(&mut self, segment: &Segment) {
        self.now = Some(Stopped {
            segment: segment.planned.segment,
            condition: segment.planned.condition.clone(),
            phase: segment.planned.phase.clone(),
        });
        self.inner.segment_begun(segment);
    }

    fn live(&mut self, figures: &LiveFigures) {
        // A loop that starves wakes no more: the periods that it skips are latency too, which shows
        // when the next cycle comes.
        let max_ns = u64::try_from(figures.max_as_scheduled_ns).unwrap_or(0);
        let is_above = self.above_ns.is_some_and(|limit| max_ns > limit);
        if is_above && figures.executed > 0 && self.stopped.is_none() {
            self.stopped.clone_from(&self.now);
            self.interrupt.request();
        }
        self.inner.live(figures);
    }

    fn segment_ended(&mut self, segment: &Segment, problem: Option<&str>) {
        self.inner.segment_ended(segment, problem);
    }

    fn traced(&mut self, segment: &Segment, directory: &Path) {
        self.inner.traced(segment, directory);
    }

    fn note(&mut self, text: &str) {
        self.inner.note(text);
    }

    fn tick(&mut self) {
        self.inner.tick();
    }

    fn finishing(&mut self) {
        self.inner.finishing();
    }
}
