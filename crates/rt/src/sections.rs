//! Parts of a cycle that the user's loop times itself.
//!
//! Their times are summed in shared memory, where the recorder reads them when the loop has ended.
//! No part of it waits or allocates.

use crate::announcement::{cut, read_name, write_name};
use crate::clock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The most sections of one loop.
pub const MOST: usize = 16;

/// Number of sections to prefetch when a cycle begins. More would slow down loops without sections.
const ASKED_FOR: usize = 4;

/// A section of a loop, as [`crate::Loop::section`] gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section(pub(crate) u8);

impl Section {
    /// A section that is never timed, because the loop has reached the limit.
    pub(crate) const NONE: Self = Self(u8::MAX);

    /// Its number; none if the loop had too many.
    pub fn number(self) -> Option<u8> {
        (self != Self::NONE).then_some(self.0)
    }

    /// The section with a number from [`Section::number`].
    pub fn new(number: u8) -> Self {
        Self(number)
    }
}

/// Sums of a section, in memory shared with the recorder. One cache line holds everything that a
/// run of it changes.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct SharedSection {
    budget_ns: AtomicU64,
    runs: AtomicU64,
    sum_ns: AtomicU64,
    max_ns: AtomicU64,
    over_budget: AtomicU64,
    unbalanced: AtomicU64,
    name: [AtomicU64; 4],
}

/// Times of a section after the warm-up, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SectionTimes {
    /// Its name.
    pub name: String,
    /// The longest that a run should take; 0 without a budget.
    pub budget_ns: u64,
    /// How often it ran.
    pub runs: u64,
    /// All its runs together.
    pub sum_ns: u64,
    /// Its longest run.
    pub max_ns: u64,
    /// Runs longer than the budget.
    pub over_budget: u64,
    /// How often it was begun while it ran, or ended while it did not.
    pub unbalanced: u64,
}

impl SharedSection {
    /// The section's times; `None` if there is no such section. A program can have overwritten the
    /// memory, so figures that contradict each other are adjusted.
    pub fn read(&self) -> Option<SectionTimes> {
        let name = read_name(&self.name);
        let load = |from: &AtomicU64| from.load(Ordering::Relaxed);
        let runs = load(&self.runs);
        let sum_ns = load(&self.sum_ns);
        (!name.is_empty()).then(|| SectionTimes {
            name,
            budget_ns: load(&self.budget_ns),
            runs,
            sum_ns,
            max_ns: load(&self.max_ns).min(sum_ns),
            over_budget: load(&self.over_budget).min(runs),
            unbalanced: load(&self.unbalanced),
        })
    }

    pub(crate) fn reset(&self) {
        write_name(&self.name, "");
        self.budget_ns.store(0, Ordering::Relaxed);
        self.unbalanced.store(0, Ordering::Relaxed);
        self.forget();
    }

    fn forget(&self) {
        for figure in [&self.runs, &self.sum_ns, &self.max_ns, &self.over_budget] {
            figure.store(0, Ordering::Relaxed);
        }
    }

    fn declare(&self, name: &str, budget_ns: u64) {
        self.budget_ns.store(budget_ns, Ordering::Relaxed);
        write_name(&self.name, name);
    }

    /// Only the loop's thread writes, so that nothing comes between a load and its store.
    #[inline]
    fn add(&self, taken_ns: u64) {
        let plus = |to: &AtomicU64, more: u64| {
            to.store(
                to.load(Ordering::Relaxed).wrapping_add(more),
                Ordering::Relaxed,
            );
        };
        plus(&self.runs, 1);
        plus(&self.sum_ns, taken_ns);
        if taken_ns > self.max_ns.load(Ordering::Relaxed) {
            self.max_ns.store(taken_ns, Ordering::Relaxed);
        }
        let budget_ns = self.budget_ns.load(Ordering::Relaxed);
        if budget_ns != 0 && taken_ns > budget_ns {
            plus(&self.over_budget, 1);
        }
    }
}

/// The sections of one loop, on the loop's side.
pub(crate) struct Timed {
    shared: &'static [SharedSection; MOST],
    /// A bit for each running section, here and in shared memory, which can be read after the
    /// program died.
    running: u32,
    shared_running: &'static AtomicU32,
    /// Start of each section; 0 if it is not running.
    begun_ns: [u64; MOST],
    declared: usize,
}

impl Timed {
    pub(crate) fn new(
        shared: &'static [SharedSection; MOST],
        shared_running: &'static AtomicU32,
    ) -> Self {
        Self {
            shared,
            running: 0,
            shared_running,
            begun_ns: [0; MOST],
            declared: 0,
        }
    }

    /// The section with this name, created if new.
    pub(crate) fn declare(&mut self, name: &str, budget_ns: u64) -> Section {
        // As it is kept: a longer one would never be found again.
        let name = cut(name);
        let known = self.shared[..self.declared]
            .iter()
            .position(|one| one.read().is_some_and(|one| one.name == name));
        if let Some(known) = known {
            return Section(known as u8);
        }
        if self.declared == MOST {
            return Section::NONE;
        }
        self.shared[self.declared].declare(name, budget_ns);
        self.declared += 1;
        Section(self.declared as u8 - 1)
    }

    /// Asks for the sums of the first sections.
    #[inline]
    pub(crate) fn ask_ahead(&self) {
        for section in self.shared.iter().take(self.declared.min(ASKED_FOR)) {
            crate::ahead::ask_for(section);
        }
    }

    #[inline]
    pub(crate) fn begin(&mut self, section: Section) {
        if self.is_known(section) {
            self.begin_at(section, clock::monotonic_ns());
        }
    }

    /// Begin and end of the section, if it was running.
    #[inline]
    pub(crate) fn end(&mut self, section: Section) -> Option<(u64, u64)> {
        if self.is_known(section) {
            self.end_at(section, clock::monotonic_ns())
        } else {
            None
        }
    }

    /// Ends one section and begins another at the same time; returns begin and end of the first, if
    /// it was running.
    #[inline]
    pub(crate) fn switch(&mut self, ended: Section, begun: Section) -> Option<(u64, u64)> {
        let now_ns = clock::monotonic_ns();
        let ran = if self.is_known(ended) {
            self.end_at(ended, now_ns)
        } else {
            None
        };
        if self.is_known(begun) {
            self.begin_at(begun, now_ns);
        }
        ran
    }

    #[inline]
    fn is_known(&self, section: Section) -> bool {
        usize::from(section.0) < self.declared
    }

    #[inline]
    fn begin_at(&mut self, section: Section, now_ns: u64) {
        let at = usize::from(section.0);
        if std::mem::replace(&mut self.begun_ns[at], now_ns) != 0 {
            self.note_unbalanced(at);
        }
        self.running |= 1 << at;
        self.shared_running.store(self.running, Ordering::Relaxed);
    }

    #[inline]
    fn end_at(&mut self, section: Section, now_ns: u64) -> Option<(u64, u64)> {
        let at = usize::from(section.0);
        match std::mem::take(&mut self.begun_ns[at]) {
            0 => {
                self.note_unbalanced(at);
                None
            }
            begun_ns => {
                self.running &= !(1 << at);
                self.shared_running.store(self.running, Ordering::Relaxed);
                self.shared[at].add(now_ns - begun_ns);
                Some((begun_ns, now_ns))
            }
        }
    }

    #[cold]
    fn note_unbalanced(&self, at: usize) {
        self.shared[at].unbalanced.fetch_add(1, Ordering::Relaxed);
    }

    /// After the warm-up.
    pub(crate) fn forget(&self) {
        self.shared.iter().for_each(SharedSection::forget);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed() -> Timed {
        Timed::new(Box::leak(Box::default()), Box::leak(Box::default()))
    }

    #[test]
    fn runs_are_added_up_and_held_against_the_budget() {
        let mut timed = timed();
        let read = timed.declare("read", 1);
        let write = timed.declare("write", 0);
        assert_eq!(timed.declare("read", 9), read, "one of each name");
        for _ in 0..3 {
            timed.begin(read);
            timed.begin(write);
            std::thread::sleep(std::time::Duration::from_millis(2));
            timed.end(write);
            timed.end(read);
        }
        let [read, write] = [0, 1].map(|at| timed.shared[at].read().unwrap());
        assert_eq!(
            (read.name.as_str(), read.runs, read.over_budget),
            ("read", 3, 3)
        );
        assert_eq!((write.runs, write.over_budget), (3, 0));
        assert!(write.sum_ns >= 6_000_000 && write.max_ns >= 2_000_000);
        assert!(read.sum_ns >= write.sum_ns, "the outer holds the inner");
        timed.forget();
        assert_eq!(timed.shared[0].read().unwrap().runs, 0);
    }

    #[test]
    fn a_name_that_is_cut_is_one_section_all_the_same() {
        let mut timed = timed();
        let long = "compute ".repeat(20);
        let section = timed.declare(&long, 0);
        assert_eq!(timed.declare(&long, 0), section);
        assert_eq!(timed.declared, 1);
    }

    #[test]
    fn ends_without_a_beginning_and_beginnings_without_an_end_are_counted() {
        let mut timed = timed();
        let section = timed.declare("compute", 0);
        timed.end(section);
        timed.begin(section);
        timed.begin(section);
        timed.end(section);
        let times = timed.shared[0].read().unwrap();
        assert_eq!((times.runs, times.unbalanced), (1, 2));
    }

    #[test]
    fn where_one_ends_and_the_next_begins_is_one_instant() {
        let mut timed = timed();
        let [read, update] = ["read", "update"].map(|name| timed.declare(name, 0));
        let running = |timed: &Timed| timed.shared_running.load(Ordering::Relaxed);
        timed.begin(read);
        assert_eq!(running(&timed), 0b01);
        let (from_ns, at_ns) = timed.switch(read, update).expect("it ran");
        assert!(from_ns <= at_ns);
        assert_eq!(running(&timed), 0b10);
        assert_eq!(timed.end(update).expect("it ran").0, at_ns);
        // Into itself: a lap.
        timed.begin(read);
        let (_, lap_ns) = timed.switch(read, read).expect("it ran");
        assert_eq!(timed.end(read).expect("it ran").0, lap_ns);
        // A section that isn't running doesn't end; an invalid one doesn't begin.
        assert_eq!(timed.switch(read, Section::NONE), None);
        assert_eq!(timed.switch(Section::NONE, update), None);
        let [read, update] = [0, 1].map(|at| timed.shared[at].read().unwrap());
        assert_eq!((read.runs, read.unbalanced), (3, 1));
        assert_eq!((update.runs, update.unbalanced), (1, 0));
        assert_eq!(running(&timed), 0b10, "begun last, and not ended");
    }

    #[test]
    fn one_section_too_many_is_none_and_does_nothing() {
        let mut timed = timed();
        let all: Vec<Section> = (0..=MOST)
            .map(|number| timed.declare(&number.to_string(), 0))
            .collect();
        assert_eq!(all[MOST], Section::NONE);
        timed.begin(all[MOST]);
        timed.end(all[MOST]);
        timed.end(Section::new(200));
        let runs = timed.shared.iter().filter_map(SharedSection::read);
        assert_eq!(runs.map(|one| one.runs + one.unbalanced).sum::<u64>(), 0);
    }

    #[test]
    fn figures_that_something_wrote_over_contradict_nothing() {
        let section = SharedSection::default();
        section.declare("x", 5);
        section.runs.store(3, Ordering::Relaxed);
        section.sum_ns.store(10, Ordering::Relaxed);
        section.max_ns.store(u64::MAX, Ordering::Relaxed);
        section.over_budget.store(u64::MAX, Ordering::Relaxed);
        let times = section.read().unwrap();
        assert_eq!((times.max_ns, times.over_budget), (10, 3));
    }
}
