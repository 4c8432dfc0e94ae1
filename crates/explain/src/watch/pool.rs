//! Threads of a program that take turns, as the workers of Go, Tokio and executors with several threads do: one of the
//! idle ones waits for the program's next timer, and the others until one of them wakes them. Any of them runs the next
//! cycle, so what a thread waits for is not an answer, and no thread has a period.

use super::one_call::WokenIn;
use super::thread::Thread;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A member was woken by a timer this often, or more.
const LEAST_ACTIVATIONS: u64 = 10;
/// It waits for other members for this share of its time or more, one in so many.
const LEAST_SHARE: u64 = 4;
/// A thread that waits for its own timers for more of its time, in hundredths, is no worker among others.
const OWN_OF_HUNDRED: u64 = 60;

/// How a thread has waited for timers so far.
#[derive(Debug, Default)]
pub(super) struct Awaited {
    in_events: u64,
    in_futex: u64,
    first_ns: Option<u64>,
    last_ns: u64,
    /// Time for which it waited for timers that it had started itself.
    own_ns: u64,
}

impl Awaited {
    /// A timer woke the thread in a call of this kind; when it had started the timer, if it did.
    pub fn woken(&mut self, expiry_ns: u64, asked_at_ns: Option<u64>, kind: WokenIn) {
        match kind {
            WokenIn::Events => self.in_events += 1,
            WokenIn::Futex => self.in_futex += 1,
            _ => {}
        }
        if self.first_ns.is_none() {
            self.first_ns = Some(expiry_ns);
        } else if let Some(asked_ns) = asked_at_ns {
            self.own_ns += expiry_ns.saturating_sub(asked_ns.max(self.last_ns));
        }
        self.last_ns = expiry_ns;
    }

    fn span_ns(&self) -> u64 {
        self.last_ns
            .saturating_sub(self.first_ns.unwrap_or(self.last_ns))
    }
}

/// With which others each thread takes turns that does.
pub(super) fn find(threads: &HashMap<u32, Thread>) -> BTreeMap<u32, Vec<u32>> {
    let kinds: [fn(&Awaited) -> u64; 2] = [|of| of.in_events, |of| of.in_futex];
    let mut found = BTreeMap::new();
    for count in kinds {
        let members = members(threads, count);
        for id in &members {
            let others = members.iter().copied().filter(|other| other != id);
            found.insert(*id, others.collect());
        }
    }
    found
}

/// The threads that often wait for timers in one kind of call, and otherwise for one another.
fn members(threads: &HashMap<u32, Thread>, count: fn(&Awaited) -> u64) -> BTreeSet<u32> {
    let waits_for_timers = |of: &Thread| {
        let awaited = &of.awaited;
        let has_own = awaited.own_ns * 100 > awaited.span_ns() * OWN_OF_HUNDRED;
        count(awaited) >= LEAST_ACTIVATIONS && !has_own
    };
    let all = threads.iter().filter(|(_, of)| waits_for_timers(of));
    let mut members: BTreeSet<u32> = all.map(|(id, _)| *id).collect();
    loop {
        let waits_for_them = |id: &u32| {
            let of = threads.get(id);
            of.is_some_and(|of| {
                let parked_ns = of.waits.parked_ns(|by| members.contains(&by));
                parked_ns * LEAST_SHARE >= of.awaited.span_ns()
            })
        };
        let left: BTreeSet<u32> = members.iter().copied().filter(waits_for_them).collect();
        if left.len() == members.len() {
            return left;
        }
        members = left;
    }
}

#[cfg(test)]
mod tests {
    use super::super::waker::Key;
    use super::*;

    const MS: u64 = 1_000_000;

    /// A worker that is woken by a timer every 12 ms, which it started `ahead_ms` before, and then waits in this call for
    /// 7 ms until thread `by` wakes it.
    fn worker(call: &str, by: u32, ahead_ms: u64) -> Thread {
        let mut thread = Thread::default();
        for number in 1..100 {
            let at_ns = number * 12 * MS;
            let asked_ns = Some(at_ns - ahead_ms * MS);
            thread.awaited.woken(at_ns, asked_ns, WokenIn::Events);
            thread.waits.entered(&call.into());
            thread.waits.slept(at_ns + MS);
            thread.waits.ended(at_ns + 8 * MS, &Key::Thread(by));
            thread.waits.left();
        }
        thread
    }

    fn found(all: [Thread; 3]) -> Vec<(u32, Vec<u32>)> {
        let threads: HashMap<u32, Thread> = (1..).zip(all).collect();
        find(&threads).into_iter().collect()
    }

    #[test]
    fn workers_that_park_until_another_wakes_them_take_turns() {
        let workers = [2, 3, 1].map(|by| worker("futex", by, 4));
        let expected = [(1, vec![2, 3]), (2, vec![1, 3]), (3, vec![1, 2])];
        assert_eq!(found(workers), expected);
    }

    #[test]
    fn a_thread_that_waits_for_a_stranger_an_answer_or_its_own_timer_takes_no_turns() {
        // 9 is none of them, and without 2 nobody wakes 1.
        assert_eq!(found([2, 9, 9].map(|by| worker("futex", by, 4))), []);
        assert_eq!(found([2, 3, 1].map(|by| worker("read", by, 4))), []);
        assert_eq!(found([2, 3, 1].map(|by| worker("futex", by, 11))), []);
    }
}
