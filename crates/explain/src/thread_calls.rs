//! Calls in which threads wait for a lock or a condition, by its address: who of several waiters had it before another.

use crate::call::{is_for_lock, waits_at};
use foldhash::HashMap;
use std::collections::VecDeque;
use wakepath_timeline::{CallArgument, KernelEvent, What};

/// Calls of one thread that are kept.
const MOST_OF_THREAD: usize = 1024;

/// A call of one thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LockCall {
    pub address: u64,
    pub from_ns: u64,
    /// None while the thread is in it.
    to_ns: Option<u64>,
}

impl LockCall {
    pub fn contains(&self, at_ns: u64) -> bool {
        self.from_ns <= at_ns && self.to_ns.is_none_or(|to_ns| at_ns <= to_ns)
    }
}

/// The calls of all threads whose calls are recorded.
#[derive(Debug, Default)]
pub(crate) struct LockCalls(HashMap<u32, VecDeque<LockCall>>);

impl LockCalls {
    /// Takes an event at the instant that its CPU's row has for it.
    pub fn event(&mut self, event: &KernelEvent, at_ns: u64) {
        match &event.what {
            What::SystemCallEntry { name, argument } if is_for_lock(name) => {
                let Some(CallArgument::Address(address)) = waits_at(*argument) else {
                    return;
                };
                let calls = self.0.entry(event.current).or_default();
                if calls.len() == MOST_OF_THREAD {
                    calls.pop_front();
                }
                calls.push_back(LockCall {
                    address,
                    from_ns: at_ns,
                    to_ns: None,
                });
            }
            What::SystemCallEntry { .. } | What::SystemCallExit => {
                let calls = self.0.get_mut(&event.current);
                if let Some(last) = calls.and_then(VecDeque::back_mut) {
                    last.to_ns.get_or_insert(at_ns);
                }
            }
            _ => {}
        }
    }

    /// A thread's calls that began before an instant, the last one first.
    pub fn before(&self, thread: u32, at_ns: u64) -> impl Iterator<Item = &LockCall> {
        let calls = self
            .0
            .get(&thread)
            .into_iter()
            .flat_map(|of| of.iter().rev());
        calls.skip_while(move |of| of.from_ns > at_ns)
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Drops the calls that ended before an instant.
    pub fn forget_before(&mut self, at_ns: u64) {
        self.0.retain(|_, calls| {
            while calls
                .front()
                .is_some_and(|of| of.to_ns.is_some_and(|to_ns| to_ns < at_ns))
            {
                calls.pop_front();
            }
            !calls.is_empty()
        });
    }
}
