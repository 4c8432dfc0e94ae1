//! Calls of all threads whose calls are recorded: those in which the thread waits that others wait for, and who had a lock
//! before another.

use crate::call::{Call, Entered};
use foldhash::HashMap;
use std::collections::VecDeque;

/// Calls of one thread that are kept.
const MOST_OF_THREAD: usize = 1024;

/// A call of one thread.
#[derive(Debug)]
pub(crate) struct ThreadCall {
    pub entered: Entered,
    pub from_ns: u64,
    /// None while the thread is in it.
    to_ns: Option<u64>,
}

impl ThreadCall {
    pub fn contains(&self, at_ns: u64) -> bool {
        self.from_ns <= at_ns && self.to_ns.is_none_or(|to_ns| at_ns <= to_ns)
    }
}

/// By thread.
#[derive(Debug, Default)]
pub(crate) struct ThreadCalls(HashMap<u32, VecDeque<ThreadCall>>);

impl ThreadCalls {
    pub fn entered(&mut self, thread: u32, at_ns: u64, entered: Entered) {
        self.left(thread, at_ns);
        let calls = self.0.entry(thread).or_default();
        if calls.len() == MOST_OF_THREAD {
            calls.pop_front();
        }
        calls.push_back(ThreadCall {
            entered,
            from_ns: at_ns,
            to_ns: None,
        });
    }

    pub fn left(&mut self, thread: u32, at_ns: u64) {
        let calls = self.0.get_mut(&thread);
        if let Some(last) = calls.and_then(VecDeque::back_mut) {
            last.to_ns.get_or_insert(at_ns);
        }
    }

    /// A thread's calls that began before an instant, the last one first.
    pub fn before(&self, thread: u32, at_ns: u64) -> impl Iterator<Item = &ThreadCall> {
        let calls = self.0.get(&thread).into_iter();
        let calls = calls.flat_map(|of| of.iter().rev());
        calls.skip_while(move |of| of.from_ns > at_ns)
    }

    /// The call that a thread is in at an instant.
    pub fn at(&self, thread: u32, at_ns: u64) -> Option<&Call> {
        let last = self.before(thread, at_ns).next();
        last.filter(|of| of.contains(at_ns))
            .map(|of| &of.entered.call)
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Drops the calls that ended before an instant.
    pub fn forget_before(&mut self, at_ns: u64) {
        self.0.retain(|_, calls| {
            let is_over = |of: &ThreadCall| of.to_ns.is_some_and(|to_ns| to_ns < at_ns);
            while calls.front().is_some_and(is_over) {
                calls.pop_front();
            }
            !calls.is_empty()
        });
    }
}
