//! Sections of a watched thread's cycles, from the marks that its program passes at their begin and end. Which mark
//! is called what is not known here.

use super::activation::CYCLE_ENDS;
use foldhash::HashMap;
use std::collections::BTreeMap;
use wakepath_timeline::{KernelEvent, What};

/// Number of runs that are kept one by one: a quarter of an hour at 1 kHz with four sections.
const MOST_RUNS: usize = 4_000_000;

/// One run of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarkedRun {
    /// Which section, from 0.
    pub section: u16,
    /// When it began, in nanoseconds on `CLOCK_MONOTONIC`.
    pub from_ns: u64,
    /// When it ended.
    pub to_ns: u64,
}

/// The runs of one thread.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThreadSections {
    /// One by one, by their end.
    pub runs: Vec<MarkedRun>,
    /// Ends without a begin and begins without an end.
    pub unpaired: u64,
}

/// Collects the runs of sections while events go by.
#[derive(Debug, Default)]
pub struct MarkedSections {
    threads: BTreeMap<u32, ThreadSections>,
    open: HashMap<(u32, u16), u64>,
    kept: usize,
    beyond: u64,
}

impl MarkedSections {
    /// Takes the next event.
    pub fn event(&mut self, event: &KernelEvent) {
        match event.what {
            What::Mark { number } if number > CYCLE_ENDS => self.passed(event, number),
            // A begin that has lost its end, or the other way round, is none of the program's doing.
            What::Lost { .. } => self.open.clear(),
            _ => {}
        }
    }

    fn passed(&mut self, event: &KernelEvent, number: u16) {
        let section = (number - CYCLE_ENDS - 1) / 2;
        let place = (event.current, section);
        let of = self.threads.entry(event.current).or_default();
        if number.is_multiple_of(2) {
            of.unpaired += u64::from(self.open.insert(place, event.at_ns).is_some());
            return;
        }
        match self.open.remove(&place) {
            None => of.unpaired += 1,
            Some(_) if self.kept == MOST_RUNS => self.beyond += 1,
            Some(from_ns) => {
                self.kept += 1;
                of.runs.push(MarkedRun {
                    section,
                    from_ns,
                    to_ns: event.at_ns.max(from_ns),
                });
            }
        }
    }

    /// Observations by thread number, and the number of runs left out for lack of room.
    pub fn finish(self) -> (BTreeMap<u32, ThreadSections>, u64) {
        (self.threads, self.beyond)
    }
}
