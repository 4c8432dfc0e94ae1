//! The work of a thread in a chain, from one sleep to the next: the item that woke it and those that it finds afterwards, or
//! something else, after which it finds them.

use super::activation::{Activation, ThreadActivity};
use super::one_call::WokenIn;
use super::passes::Item;

/// A thread with the one that feeds it.
pub(super) struct Fed<'a> {
    pub thread: &'a ThreadActivity,
    pub feeder: u32,
    /// The threads of the chain before that.
    pub before: &'a [u32],
}

/// A thread at work without waiting for the next item, and its items, in order. Times are nanoseconds on
/// `CLOCK_MONOTONIC`.
#[derive(Debug)]
pub(super) struct Stay {
    pub begins: Begins,
    pub woken_ns: u64,
    pub began_ns: u64,
    pub end_ns: u64,
    /// When others woke it.
    pub others_ns: Vec<u64>,
    /// Due times that came within it and that no timer kept: it may have served them, without a sleep in between.
    pub passed_ns: Vec<u64>,
    pub items: Vec<Item>,
}

/// What woke a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begins {
    /// Its feeder, with an item.
    Item,
    /// Its own timer. All that it finds afterwards are items.
    Timer,
    /// Another event: it may find more of that kind between its items.
    Other,
}

impl Fed<'_> {
    /// The thread's stays, in order, without their items.
    pub fn stays(&self) -> Vec<Stay> {
        let mut stays: Vec<Stay> = Vec::new();
        for turn in &self.thread.handed {
            let is_fed = turn.woken_by == Some(self.feeder) && turn.woken_in != WokenIn::Write;
            let begins = match is_fed {
                true => Begins::Item,
                false => Begins::Other,
            };
            // At a barrier, for one, the thread waits for the next cycle of those before it.
            let is_next = turn.woken_by.is_some_and(|by| self.before.contains(&by));
            match stays.last_mut() {
                // In a wait for any event, the next one comes from elsewhere and is another matter.
                _ if begins == Begins::Item || is_next || turn.woken_in == WokenIn::Events => {
                    stays.push(Stay::new(turn, begins));
                }
                Some(last) => {
                    last.end_ns = turn.end_ns;
                    last.others_ns.push(turn.expiry_ns);
                }
                None => {}
            }
        }
        let own = self.own_timer(&stays);
        stays.extend(own);
        stays.sort_by_key(|of| of.woken_ns);
        stays
    }

    /// Those that the thread's own timers begin in such a wait, between others.
    fn own_timer(&self, stays: &[Stay]) -> Vec<Stay> {
        let mut in_events = self.thread.handed.iter();
        let is_other = |of: &Activation| of.woken_by != Some(self.feeder);
        let begins = match in_events.any(|of| of.woken_in == WokenIn::Events && is_other(of)) {
            true => Begins::Other,
            false => Begins::Timer,
        };
        let mut own: Vec<Stay> = Vec::new();
        for of in &self.thread.activations {
            let end_ns = of.first_wait.map_or(of.end_ns, |(end_ns, _)| end_ns);
            let before = stays.partition_point(|stay| stay.woken_ns <= of.expiry_ns);
            let before = before.checked_sub(1).map(|at| &stays[at]);
            let is_between = before.is_none_or(|stay| stay.end_ns < of.expiry_ns);
            if of.woken_in == WokenIn::Events && is_between {
                own.push(Stay {
                    end_ns,
                    ..Stay::new(of, begins)
                });
            } else if is_served_late(of)
                && let Some(last) = own.last_mut()
                && last.end_ns >= of.expiry_ns
            {
                last.end_ns = last.end_ns.max(end_ns);
            }
        }
        own
    }

    /// When the thread began with what a timer of its own asks for, within a time and without a sleep.
    pub fn served_timer(&self, from_ns: u64, to_ns: u64) -> Option<u64> {
        let served = self
            .thread
            .activations
            .iter()
            .filter(|of| is_served_late(of));
        let mut began_ns = served.map(|of| of.switched_in_ns);
        began_ns.find(|at_ns| (from_ns..to_ns).contains(at_ns))
    }

    /// When the thread took items within a time, without having to wait for them.
    pub fn fetched(&self, from_ns: u64, to_ns: u64) -> &[u64] {
        let all = &self.thread.fetched;
        let before = |at_ns: u64| all.partition_point(|of| *of < at_ns);
        &all[before(from_ns)..before(to_ns)]
    }
}

/// Whether the thread was at something else when a timer of its own expired that outlives its sleeps, and came to it
/// without one.
fn is_served_late(of: &Activation) -> bool {
    of.timer.is_some() && of.woken_in == WokenIn::Unknown
}

impl Stay {
    pub fn new(turn: &Activation, begins: Begins) -> Self {
        Self {
            begins,
            woken_ns: turn.expiry_ns,
            began_ns: turn.switched_in_ns,
            end_ns: turn.end_ns,
            others_ns: Vec::new(),
            passed_ns: Vec::new(),
            items: Vec::new(),
        }
    }
}
