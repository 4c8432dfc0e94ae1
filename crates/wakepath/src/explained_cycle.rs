//! Cycles of one number, explained.

use crate::fit_to_screen::fit_to_screen;
use wakepath_archive::Run;
use wakepath_assess::explanation::{Along, ExplainError, Order, SegmentLoops, explain, tell_of};
use wakepath_explain::{Explained, LateCycle};
use wakepath_report::cycle_text_of;
use wakepath_timeline::count::counted;
use wakepath_timeline::duration::three_digits;

/// Lines of a screen for cycles; the last is for the prompt.
const SCREEN: usize = 39;
/// Pieces of the latest cycle.
const MOST_PIECES: usize = 20;
/// Other cycles that are named.
const MOST_OTHERS: usize = 4;

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

/// Cycles on one screen: the latest with its longest pieces, the others in a line each. `all` is the command that prints the
/// rest.
pub fn cycles_in_short(found: &[(String, String, LateCycle)], all: &str) -> String {
    let mut latest: Vec<_> = found.iter().collect();
    latest.sort_by_cached_key(|(.., cycle)| std::cmp::Reverse(cycle.latency_ns));
    let Some(((heading, _, cycle), others)) = latest.split_first() else {
        return String::new();
    };
    let mut rest = String::new();
    for (heading, _, cycle) in others.iter().take(MOST_OTHERS) {
        rest += &format!("also {heading}: {} late\n", three_digits(cycle.latency_ns));
    }
    if let Some(more @ 1..) = others.len().checked_sub(MOST_OTHERS) {
        let more = counted(more as u64, "more segment", "more segments");
        rest += &format!("and {more}, less late\n");
    }
    fit_to_screen(SCREEN, MOST_PIECES, |most| {
        let text = cycle_text_of(cycle, heading, most);
        format!("{text}\n{rest}all pieces: {all}\n")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_explain::LatePiece;

    fn found(segment: u32, pieces: u64) -> (String, String, LateCycle) {
        let piece = |number: u64| LatePiece {
            stretch: "waking → switch-in".into(),
            kind: "thread".into(),
            cause: format!("thread {number}"),
            from_ns: number * 100_000,
            ns: 100_000 + number,
            stack: None,
            behind: None,
        };
        let cycle = LateCycle {
            segment,
            cycle: 7,
            due_ns: 0,
            latency_ns: i64::from(segment) * 1_000_000,
            execution_ns: 50_000,
            woken: "direct".into(),
            shares: Vec::new(),
            pieces: (0..pieces).map(piece).collect(),
            execution: Vec::new(),
            sections: Vec::new(),
            said: Vec::new(),
        };
        (
            format!("FIFO 80, stress: segment {segment}"),
            "loop".into(),
            cycle,
        )
    }

    #[test]
    fn one_cycle_of_many_pieces_and_many_cycles_fit_one_screen() {
        for (cycles, others) in [(1, 0), (3, 2), (16, 4)] {
            let found: Vec<_> = (1..=cycles).map(|segment| found(segment, 60)).collect();
            let text = cycles_in_short(&found, "wakepath explain --cycle 7 --all");
            let lines = text.lines().count();
            assert!(
                (20..=SCREEN).contains(&lines),
                "{cycles}: {lines} lines\n{text}"
            );
            let first = format!("FIFO 80, stress: segment {cycles}\n");
            assert!(text.starts_with(&first), "the latest:\n{text}");
            assert!(text.contains("shorter ones"), "{text}");
            assert_eq!(
                text.matches("also FIFO 80, stress: segment ").count(),
                others,
                "{text}"
            );
            assert_eq!(
                text.contains("and 11 more segments, less late"),
                cycles == 16,
                "{text}"
            );
            assert!(text.ends_with("--all\n"), "{text}");
        }
    }
}
