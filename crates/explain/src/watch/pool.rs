//! Threads of a program that take turns, as the workers of Go, Tokio and executors with several threads do: one of the
//! idle ones waits for the program's next timer, and the others until one of them wakes them. Any of them runs the next
//! cycle, so what a thread waits for is not an answer, and no thread has a period.

use super::activation::ThreadActivity;
use super::one_call::WokenIn;
use super::waker::Waker;
use std::collections::{BTreeMap, BTreeSet};

/// A member was woken by a timer this often, or more.
const LEAST_ACTIVATIONS: usize = 10;
/// It waits for other members for this share of its time or more, one in so many.
const LEAST_SHARE: u64 = 4;
/// A thread that waits for its own timers for more of its time, in hundredths, is no worker among others.
const OWN_OF_HUNDRED: u64 = 60;

/// Notes in the activity of each thread with which others it takes turns.
pub(super) fn find(threads: &mut BTreeMap<u32, ThreadActivity>) {
    for kind in [WokenIn::Events, WokenIn::Futex] {
        let members = members(threads, kind);
        for id in &members {
            let others = members.iter().copied().filter(|other| other != id);
            if let Some(own) = threads.get_mut(id) {
                own.takes_turns_with = others.collect();
            }
        }
    }
}

/// The threads that wait for timers in this kind of call, and otherwise for one another.
fn members(threads: &BTreeMap<u32, ThreadActivity>, kind: WokenIn) -> BTreeSet<u32> {
    let waits_for_timers = |of: &ThreadActivity| {
        let by_kind = of.activations.iter().filter(|of| of.woken_in == kind);
        by_kind.count() >= LEAST_ACTIVATIONS && !keeps_period(of)
    };
    let all = threads.iter().filter(|(_, of)| waits_for_timers(of));
    let mut members: BTreeSet<u32> = all.map(|(id, _)| *id).collect();
    loop {
        let waits = |id: &u32| threads.get(id).is_some_and(|of| waits_for(of, &members));
        let left: BTreeSet<u32> = members.iter().copied().filter(waits).collect();
        if left.len() == members.len() {
            return left;
        }
        members = left;
    }
}

/// Whether a good part of a thread's time is waits in which it is parked until one of these wakes it.
fn waits_for(of: &ThreadActivity, members: &BTreeSet<u32>) -> bool {
    let is_for_them =
        |waker: &Waker| matches!(waker, Waker::Thread(by) if members.contains(&by.id));
    let parked = of.waits.iter().filter(|wait| {
        let call = wait.call.as_deref();
        call.is_some_and(|name| name.starts_with("futex")) && is_for_them(&wait.waker)
    });
    let parked_ns: u64 = parked.map(|wait| wait.total_ns).sum();
    parked_ns * LEAST_SHARE >= span_ns(of)
}

/// Whether a thread waits for timers of its own for most of its time, as a loop with a period does.
fn keeps_period(of: &ThreadActivity) -> bool {
    let awaited = of.activations.windows(2).filter_map(|two| {
        let asked_ns = two[1].asked_at_ns?.max(two[0].expiry_ns);
        Some(two[1].expiry_ns.saturating_sub(asked_ns))
    });
    awaited.sum::<u64>() * 100 > span_ns(of) * OWN_OF_HUNDRED
}

/// From the first activation of a thread to its last.
fn span_ns(of: &ThreadActivity) -> u64 {
    let (first, last) = (of.activations.first(), of.activations.last());
    let both = first.zip(last);
    both.map_or(0, |(first, last)| {
        last.end_ns.saturating_sub(first.expiry_ns)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::{Activation, NotPeriodic, TurnWaits};
    use wakepath_timeline::{Thread, ThreadName};

    const MS: u64 = 1_000_000;

    /// A worker that is woken by a timer every 12 ms for which it asked 4 ms before, and waits in between, in calls of
    /// this name, until thread `by` wakes it.
    fn worker(call: &str, by: u32) -> ThreadActivity {
        let turn = |number: u64| Activation {
            programmed_ns: Some(number * 12 * MS),
            asked_at_ns: Some(number * 12 * MS - 4 * MS),
            expiry_ns: number * 12 * MS,
            switched_in_ns: number * 12 * MS + 50_000,
            end_ns: number * 12 * MS + 8 * MS,
            woken_in: WokenIn::Events,
            ..Activation::default()
        };
        let thread = Thread {
            id: by,
            name: ThreadName::new(b"worker"),
            priority: 120,
        };
        ThreadActivity {
            activations: (1..100).map(turn).collect(),
            waits: vec![TurnWaits {
                call: Some(call.into()),
                waker: Waker::Thread(thread),
                times: 99,
                total_ns: 99 * 7 * MS,
            }],
            ..ThreadActivity::default()
        }
    }

    fn found(all: [ThreadActivity; 3]) -> Vec<Vec<u32>> {
        let mut threads: BTreeMap<u32, ThreadActivity> = (1..).zip(all).collect();
        find(&mut threads);
        threads
            .into_values()
            .map(|of| of.takes_turns_with)
            .collect()
    }

    #[test]
    fn workers_that_park_until_another_wakes_them_have_no_period() {
        let others = found([worker("futex", 2), worker("futex", 3), worker("futex", 1)]);
        assert_eq!(others, [[2, 3], [1, 3], [1, 2]]);
        let mut threads = BTreeMap::from([(1, worker("futex", 2)), (2, worker("futex", 1))]);
        assert!(threads[&1].tasks().is_ok());
        find(&mut threads);
        let why = threads[&1].tasks().map(|tasks| tasks.len());
        assert_eq!(why, Err(NotPeriodic::Moves { threads: 2 }));
    }

    #[test]
    fn a_thread_that_waits_for_a_stranger_an_answer_or_its_own_timer_takes_no_turns() {
        let none: [&[u32]; 3] = [&[], &[], &[]];
        // 9 is none of them, and without 2 nobody wakes 1.
        assert_eq!(
            found([worker("futex", 2), worker("futex", 9), worker("futex", 9)]),
            none
        );
        assert_eq!(
            found([worker("read", 2), worker("read", 1), worker("read", 1)]),
            none
        );
        let mut own = worker("futex", 2);
        for of in &mut own.activations {
            of.asked_at_ns = of.programmed_ns.map(|at| at - 11 * MS);
        }
        assert_eq!(found([own.clone(), own.clone(), own]), none);
    }
}
