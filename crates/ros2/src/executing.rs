//! Threads that only run an executor: nearly all that they wake up for is a callback.

use crate::{Callback, Kind};
use std::collections::{BTreeMap, BTreeSet};
use wakepath_timeline::{KernelEvent, Left, What};

/// Takes a trace's events and the callbacks that began, and has these threads.
#[derive(Debug, Default)]
pub(crate) struct Executing {
    threads: BTreeMap<u32, OfThread>,
    /// CPUs on which the callback of a timer runs.
    in_timer: BTreeSet<u16>,
}

/// A thread since its first callback.
#[derive(Debug, Default)]
struct OfThread {
    /// Callbacks under way.
    depth: usize,
    all: Rests,
    /// Those that a timer ended.
    by_timers: Rests,
    /// Whether a timer ended one, and it handled nothing since.
    is_by_timer: bool,
    has_worked: bool,
    /// Whether one of its callbacks is unknown, or none of an executor's.
    has_others: bool,
}

/// Waits between callbacks.
#[derive(Debug, Default)]
struct Rests {
    count: u64,
    /// Those after which it handled something before the next.
    worked: u64,
}

impl Executing {
    /// Takes an event; of a program without callbacks none matters.
    pub(crate) fn event(&mut self, event: &KernelEvent) {
        if self.threads.is_empty() {
            return;
        }
        match &event.what {
            What::TimerExpiryEntry { .. } => {
                self.in_timer.insert(event.cpu);
            }
            What::TimerExpiryExit { .. } => {
                self.in_timer.remove(&event.cpu);
            }
            What::Waking { thread, .. } if self.in_timer.contains(&event.cpu) => {
                let of = self.threads.get_mut(&thread.id);
                if let Some(of) = of.filter(|of| of.depth == 0) {
                    of.by_timers.count += 1;
                    of.is_by_timer = true;
                }
            }
            What::Switch { previous, left, .. } => {
                self.in_timer.remove(&event.cpu);
                let of = self.threads.get_mut(&previous.id);
                let of = of.filter(|of| of.depth == 0 && *left != Left::Runnable);
                if let Some(of) = of {
                    of.all.count += 1;
                    of.has_worked = false;
                }
            }
            What::Lost { .. } => self.threads.values_mut().for_each(|of| of.depth = 0),
            _ => {}
        }
    }

    /// A callback begins.
    pub(crate) fn begins(&mut self, thread: u32, callback: &Callback) {
        let of = self.threads.entry(thread).or_default();
        of.depth += 1;
        of.has_others |= matches!(callback.kind, Kind::Unknown | Kind::Control { .. });
        of.works();
    }

    /// A callback ends, and this many are still under way.
    pub(crate) fn ends(&mut self, thread: u32, depth: usize) {
        if let Some(of) = self.threads.get_mut(&thread) {
            of.depth = depth;
        }
    }

    /// A thread takes work that no callback marks.
    pub(crate) fn takes(&mut self, thread: u32) {
        if let Some(of) = self.threads.get_mut(&thread) {
            of.works();
        }
    }

    /// Whether it is one of these threads.
    pub(crate) fn is(&self, thread: u32) -> bool {
        self.threads
            .get(&thread)
            .is_some_and(OfThread::is_executors)
    }

    /// All of them.
    pub(crate) fn all(&self) -> BTreeSet<u32> {
        let all = self.threads.iter().filter(|(_, of)| of.is_executors());
        all.map(|(thread, _)| *thread).collect()
    }
}

impl OfThread {
    fn works(&mut self) {
        self.all.worked += u64::from(!self.has_worked);
        self.by_timers.worked += u64::from(self.is_by_timer);
        (self.has_worked, self.is_by_timer) = (true, false);
    }

    /// A loop of its own that calls `spin_some` sleeps, or waits for something, more often than it finds work. An
    /// executor's timers end its waits for their callbacks; of its other waits a middleware's locks add some.
    fn is_executors(&self) -> bool {
        let timers_worked = self.by_timers.worked * 2 >= self.by_timers.count;
        !self.has_others && timers_worked && self.all.worked * 8 >= self.all.count
    }
}
