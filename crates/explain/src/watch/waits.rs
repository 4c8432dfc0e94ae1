//! Waits of a thread within its turns, by the system call and by who ended them.

use super::waker::{Key, Open, Waker};
use std::sync::Arc;

/// Kinds of waits that are told apart.
const MOST_KINDS: usize = 64;

/// What a thread waits for within its turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnWaits {
    /// The system call that it waits in, where calls are recorded.
    pub call: Option<Arc<str>>,
    /// Who ended these waits.
    pub waker: Waker,
    /// How many there were.
    pub times: u64,
    /// How long they took in all, in nanoseconds.
    pub total_ns: u64,
}

#[derive(Debug, Default)]
pub(super) struct Waits {
    call: Option<Arc<str>>,
    since_ns: Option<u64>,
    /// By call and waker: how often, and for how long in all.
    kinds: Vec<(Option<Arc<str>>, Key, u64, u64)>,
}

impl Waits {
    pub fn entered(&mut self, call: &Arc<str>) {
        self.call = Some(Arc::clone(call));
    }

    pub fn left(&mut self) {
        self.call = None;
    }

    /// The thread goes to sleep.
    pub fn slept(&mut self, at_ns: u64) {
        self.since_ns = Some(at_ns);
    }

    /// A timer woke it, or nobody knows what did.
    pub fn forget(&mut self) {
        self.since_ns = None;
    }

    /// Something else than a timer woke it.
    pub fn ended(&mut self, at_ns: u64, by: &Key) {
        let Some(since_ns) = self.since_ns.take() else {
            return;
        };
        let ns = at_ns.saturating_sub(since_ns);
        let known = self.kinds.len();
        let call = self.call.clone();
        match self.kinds.iter_mut().find(|of| of.0 == call && of.1 == *by) {
            Some((_, _, times, total_ns)) => {
                *times += 1;
                *total_ns += ns;
            }
            None if known == MOST_KINDS => {}
            None => self.kinds.push((call, by.clone(), 1, ns)),
        }
    }

    /// The longest in all first.
    pub fn finish(self, open: &Open) -> Vec<TurnWaits> {
        let named = |(call, by, times, total_ns)| TurnWaits {
            call,
            waker: open.named(by),
            times,
            total_ns,
        };
        let mut waits: Vec<TurnWaits> = self.kinds.into_iter().map(named).collect();
        waits.sort_by_key(|of| std::cmp::Reverse(of.total_ns));
        waits
    }
}
