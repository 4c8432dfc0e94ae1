//! The part of a segment that its trace covers: the stretch without overwritten events, and the
//! windows whose events were kept.

use std::iter::Peekable;
use wakepath_archive::{Kept, Trace};
use wakepath_timeline::Sample;

/// The stretches of time in which a trace is complete.
pub struct Covered {
    from_ns: u64,
    to_ns: u64,
    windows: Vec<(u64, u64)>,
}

impl Covered {
    /// A trace's own statement.
    pub fn new(trace: &Trace) -> Self {
        let end = trace.end();
        let complete = end.into_iter().flat_map(|end| &end.cpus);
        let overwritten = complete.map(|cpu| cpu.complete_from_ns).max();
        Self {
            from_ns: overwritten.unwrap_or(0).max(trace.description().began_ns),
            to_ns: end.map_or(trace.complete_to_ns(), |end| end.ended_ns),
            windows: match end.map(|end| &end.kept) {
                Some(Kept::Windows { windows }) => {
                    windows.iter().map(|w| (w.from_ns, w.to_ns)).collect()
                }
                _ => Vec::new(),
            },
        }
    }

    /// Whether all events of a cycle are there.
    pub fn holds(&self, sample: &Sample) -> bool {
        let inside = |from: u64, to: u64| sample.due_ns >= from && sample.end_ns <= to;
        inside(self.from_ns, self.to_ns)
            && (self.windows.is_empty() || self.windows.iter().any(|&(from, to)| inside(from, to)))
    }

    /// What lies between the kept windows.
    pub fn gaps(&self) -> Gaps<'_> {
        Gaps(self.windows.iter().peekable())
    }
}

/// The gaps between kept windows, as events go by.
pub struct Gaps<'a>(Peekable<std::slice::Iter<'a, (u64, u64)>>);

impl Gaps<'_> {
    /// Until when nothing is known, where a gap lies before the event at `at_ns`.
    pub fn before(&mut self, at_ns: u64) -> Option<u64> {
        let mut gap = None;
        while self.0.next_if(|window| at_ns > window.1).is_some() {
            gap = Some(at_ns.saturating_sub(1));
        }
        gap
    }
}
