//! Cycles of one number, explained.

use wakepath_archive::Run;
use wakepath_assess::explanation::{Along, ExplainError, Order, SegmentLoops, explain, tell_of};
use wakepath_explain::{Explained, LateCycle};

type Failure = Box<dyn std::error::Error>;

/// One cycle of one thread of one segment, with its heading; `None` if no kernel events cover it.
pub fn find(
    run: &Run,
    segment: u32,
    thread: usize,
    cycle: u64,
) -> Result<Option<(String, LateCycle)>, Failure> {
    let mut wanted = CycleFilter {
        thread: Some(thread),
        ..CycleFilter::new(cycle, Some(segment))
    };
    explain(run, &Order::of_run(run)?, &mut wanted)?;
    let Some((heading, thread, mut cycle)) = wanted.found.pop() else {
        return Ok(None);
    };
    tell_of(run, [(&*thread, &mut cycle)])?;
    Ok(Some((heading, cycle)))
}

/// Picks the cycles of one number out of the stream.
pub struct CycleFilter {
    cycle: u64,
    segment: Option<u32>,
    thread: Option<usize>,
    /// Headings, threads, cycles.
    pub found: Vec<(String, String, LateCycle)>,
}

impl CycleFilter {
    /// Of each thread, and of each segment unless one is given.
    pub fn new(cycle: u64, segment: Option<u32>) -> Self {
        Self {
            cycle,
            segment,
            thread: None,
            found: Vec::new(),
        }
    }
}

impl Along for CycleFilter {
    fn cycle(
        &mut self,
        loops: &SegmentLoops<'_>,
        number: usize,
        cycle: &Explained,
    ) -> Result<(), ExplainError> {
        let record = loops.record;
        let is_segment = self.segment.is_none_or(|segment| segment == record.segment);
        let is_thread = self.thread.is_none_or(|thread| thread == number);
        if cycle.sample.cycle == self.cycle && is_segment && is_thread {
            let heading = format!(
                "{}, {}, {}: segment {} cycle {}",
                record.condition,
                record.phase,
                loops.name(number),
                record.segment,
                self.cycle
            );
            let thread = loops.name(number).to_owned();
            let cycle = LateCycle::new(cycle, record.segment);
            self.found.push((heading, thread, cycle));
        }
        Ok(())
    }
}
