//! Chains of threads: one that a timer wakes wakes the next, and that the one after it, as a sensor's thread feeds a
//! filter's and that an actuator's. Each turn of the last one is traced back to the timer that it began with, from
//! wake-up to wake-up, in one process or in several.

use super::activation::{BegunBy, ThreadActivity};
use super::feeders::{answers, feeders, is_for_feeders, own_timer, share_lock, turns_of};
use super::one_call::WokenIn;
use super::passes::{Pass, passes};
use super::stays::Fed;
use std::collections::{BTreeMap, BTreeSet};

/// Threads each of which wakes the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// Their numbers. A timer wakes the first.
    pub threads: Vec<u32>,
    /// Period of the first, in nanoseconds.
    pub period_ns: u64,
    /// Cycles of the first, from the first to the last that came to the end of the chain; due times that it served
    /// without a sleep before them among these.
    pub begun: u64,
    /// Those that came to the end, in order.
    pub passes: Vec<Pass>,
    /// Whether those that waited behind others are among them.
    pub with_queued: bool,
}

/// The chains of a program's threads, those with the shortest periods first. A chain ends where most turns end.
pub fn chains(threads: &BTreeMap<u32, ThreadActivity>) -> Vec<Chain> {
    let timers = threads.iter().map(|(id, of)| (*id, own_timer(of)));
    let timers: BTreeMap<u32, Option<WokenIn>> = timers.collect();
    let mut feeders: Vec<(u32, u32)> = threads
        .iter()
        .flat_map(|(id, of)| feeders(of, timers[id]).into_iter().map(|by| (*id, by)))
        .filter(|(id, by)| by != id)
        .filter(|(id, by)| {
            let feeder = threads.get(by);
            feeder.is_some_and(|feeder| !share_lock(&threads[id], *by, feeder))
        })
        .collect();
    let fed = |(id, by): &(u32, u32)| {
        let turns = threads[id].handed.iter();
        turns.filter(|of| of.woken_by == Some(*by)).count()
    };
    let carries_on = |pair: &(u32, u32)| 2 * fed(pair) >= turns_of(&threads[&pair.1]);
    let begins = |id: u32, by: u32| {
        let feeder = &threads[&by];
        let has_timer = timers[&by].is_some() || feeder.handed.len() < 2 * feeder.activations.len();
        has_timer && !is_for_feeders(&threads[&id], by, feeder)
    };
    let continued: BTreeSet<u32> = feeders
        .iter()
        .filter(|pair| carries_on(pair) && !begins(pair.0, pair.1))
        .map(|(_, by)| *by)
        .collect();
    feeders.retain(|pair| carries_on(pair) || !answers(pair.0, &threads[&pair.1], fed(pair)));
    let last: BTreeSet<u32> = feeders.iter().map(|(id, _)| *id).collect();
    let last = last.into_iter().filter(|id| !continued.contains(id));
    let mut chains: Vec<Chain> = last
        .flat_map(|last| from_first(last, &feeders, begins))
        .filter_map(|of| chain(&of, threads))
        .collect();
    chains.sort_unstable_by(|one, other| {
        (one.period_ns, &one.threads).cmp(&(other.period_ns, &other.threads))
    });
    chains
}

/// Fewer show no chain: a thread that starts up may have woken another now and then.
const LEAST_PASSES: usize = 10;
/// Nor do passes of fewer cycles than one in so many, unless they come evenly: compilers and collectors of a language's
/// runtime are woken now and then.
const LEAST_SHARE: usize = 4;
/// Of ten, the number that must come as many cycles after the one before as the middle one, to a cycle.
const EVEN_OF_TEN: usize = 8;
/// Chains that end with one thread.
const MOST_WAYS: usize = 16;
/// Ways that are followed to find them: where many threads wake each other, the ways multiply and most lead nowhere.
const MOST_FOLLOWED: usize = 1024;

/// The threads of the chains that end with this one, each from its first one on; none that goes round. `begins`: whether a
/// thread wakes another in turns that its own timer begins, and not for its feeders.
fn from_first(
    last: u32,
    feeders: &[(u32, u32)],
    begins: impl Fn(u32, u32) -> bool,
) -> Vec<Vec<u32>> {
    let mut found = Vec::new();
    let mut ends = vec![vec![last]];
    for _ in 0..MOST_FOLLOWED {
        let Some(end) = ends.pop().filter(|_| found.len() < MOST_WAYS) else {
            break;
        };
        let is_first = end.get(1).is_some_and(|next| begins(*next, end[0]));
        let by = feeders.iter().filter(|(id, _)| *id == end[0] && !is_first);
        let mut is_fed = false;
        for (_, by) in by {
            is_fed = true;
            if !end.contains(by) {
                ends.push([&[*by], &end[..]].concat());
            }
        }
        if !is_fed {
            found.push(end);
        }
    }
    found
}

/// Whether the passes of these cycles come evenly, as those of each tenth cycle do.
fn come_evenly(cycles: impl Iterator<Item = usize>) -> bool {
    let cycles: Vec<usize> = cycles.collect();
    let mut steps: Vec<usize> = cycles.windows(2).map(|two| two[1] - two[0]).collect();
    steps.sort_unstable();
    let middle = steps.get(steps.len() / 2).copied().unwrap_or(0);
    let even = steps.iter().filter(|of| of.abs_diff(middle) <= 1).count();
    even * 10 >= steps.len() * EVEN_OF_TEN
}

fn chain(threads: &[u32], all: &BTreeMap<u32, ThreadActivity>) -> Option<Chain> {
    let first = all.get(threads.first()?)?;
    let [task] = &first.tasks().ok()?[..] else {
        return None;
    };
    if task.rhythm.begun_by != BegunBy::Timer || !task.rhythm.is_periodic || first.pool.is_some() {
        return None;
    }
    let fed: Vec<Fed<'_>> = threads
        .windows(2)
        .enumerate()
        .filter_map(|(at, two)| {
            let (thread, feeder) = (all.get(&two[1])?, two[0]);
            let before = &threads[..at];
            Some(Fed {
                thread,
                feeder,
                before,
            })
        })
        .collect();
    let passes = passes(&task.turns, task.rhythm.period_ns, &fed);
    if passes.by_cycle.len() < LEAST_PASSES {
        return None;
    }
    let ((from, _), _) = passes.by_cycle.first_key_value()?;
    let ((to, _), _) = passes.by_cycle.last_key_value()?;
    let without_timer = passes.by_cycle.keys().filter(|(_, at)| *at > 0).count();
    let begun = to - from + 1 + without_timer;
    let cycles = passes.by_cycle.keys().map(|(cycle, _)| *cycle);
    if passes.by_cycle.len() * LEAST_SHARE < begun && !come_evenly(cycles) {
        return None;
    }
    Some(Chain {
        threads: threads.to_vec(),
        period_ns: task.rhythm.period_ns,
        begun: begun as u64,
        with_queued: passes.with_queued,
        passes: passes.by_cycle.into_values().collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::activation::Activation;
    use super::super::passes::Hop;
    use super::*;

    const MS: u64 = 1_000_000;
    const CYCLES: u64 = 100;

    /// Turns of a millisecond, this long after each due time of 10 ms, woken by this thread in this call.
    fn turns(after_ms: u64, by: Option<u32>, woken_in: WokenIn) -> Vec<Activation> {
        let due = |cycle| (cycle + 1) * 10 * MS;
        let turn = |cycle| Activation {
            programmed_ns: by.is_none().then(|| due(cycle)),
            expiry_ns: due(cycle) + after_ms * MS,
            switched_in_ns: due(cycle) + after_ms * MS + 1,
            end_ns: due(cycle) + (after_ms + 1) * MS,
            woken_by: by,
            woken_in,
            ..Activation::default()
        };
        (0..CYCLES).map(turn).collect()
    }

    fn fed(handed: Vec<Activation>) -> ThreadActivity {
        ThreadActivity {
            handed,
            ..ThreadActivity::default()
        }
    }

    /// Thread 1 by a timer, 2 woken by 1 as it ends, 3 by 2.
    fn three() -> BTreeMap<u32, ThreadActivity> {
        let first = ThreadActivity {
            activations: turns(0, None, WokenIn::Sleep),
            ..ThreadActivity::default()
        };
        BTreeMap::from([
            (1, first),
            (2, fed(turns(1, Some(1), WokenIn::Futex))),
            (3, fed(turns(2, Some(2), WokenIn::Read))),
        ])
    }

    #[test]
    fn a_turn_of_the_last_thread_is_traced_back_to_the_first_one_s_timer() {
        let [chain] = &chains(&three())[..] else {
            panic!();
        };
        assert_eq!(
            (&chain.threads[..], chain.period_ns),
            (&[1, 2, 3][..], 10 * MS)
        );
        assert_eq!((chain.begun, chain.passes.len() as u64), (CYCLES, CYCLES));
        let hop = |woken_ns| Hop {
            woken_ns,
            began_ns: woken_ns + 1,
        };
        let expected = Pass {
            due_ns: 10 * MS,
            hops: [10, 11, 12].map(|ms| hop(ms * MS)).to_vec(),
            end_ns: 13 * MS,
            earliest_end_ns: 13 * MS,
            with_others: false,
            is_merged: false,
        };
        assert_eq!(chain.passes[0], expected);
    }

    #[test]
    fn a_wait_at_a_barrier_for_the_first_thread_s_next_cycle_is_no_part_of_a_pass() {
        let mut threads = three();
        let third = &mut threads.get_mut(&3).unwrap().handed;
        for of in &mut *third {
            of.woken_in = WokenIn::Futex;
        }
        third.extend(turns(9, Some(1), WokenIn::Futex));
        third.sort_by_key(|of| of.expiry_ns);
        let found = chains(&threads);
        let chain = found.iter().find(|of| of.threads == [1, 2, 3]).unwrap();
        assert_eq!(chain.passes.len() as u64, CYCLES);
        let latencies = chain.passes.iter().map(Pass::latency_ns);
        assert!(latencies.clone().all(|ns| ns == 3 * MS), "{latencies:?}");
    }

    /// The third thread wakes a fourth in every fifth of its turns.
    fn with_fourth() -> BTreeMap<u32, ThreadActivity> {
        let mut threads = three();
        let fourth = turns(3, Some(3), WokenIn::Futex).into_iter().step_by(5);
        threads.insert(4, fed(fourth.collect()));
        threads
    }

    #[test]
    fn a_chain_ends_where_most_turns_end_and_what_goes_further_at_times_is_another() {
        let found = chains(&with_fourth());
        let ends = found.iter().map(|of| (&of.threads[..], of.passes.len()));
        let expected: [(&[u32], usize); 2] = [(&[1, 2, 3], 100), (&[1, 2, 3, 4], 20)];
        assert_eq!(ends.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_thread_that_is_woken_now_and_then_is_in_no_chain() {
        let mut threads = three();
        let is_now_and_then = |number: usize| number * number % 23 < 3;
        let compiler = (0..).zip(turns(3, Some(3), WokenIn::Futex));
        let compiler = compiler.filter(|(number, _)| is_now_and_then(*number));
        threads.insert(4, fed(compiler.map(|(_, turn)| turn).collect()));
        assert!((10..25).contains(&threads[&4].handed.len()));
        let found = chains(&threads);
        let ends: Vec<&[u32]> = found.iter().map(|of| &of.threads[..]).collect();
        assert_eq!(ends, [&[1, 2, 3][..]]);
    }

    #[test]
    fn a_thread_that_is_asked_at_times_and_waited_for_is_no_end_of_a_chain() {
        let mut threads = with_fourth();
        let answers = turns(4, Some(4), WokenIn::Futex).into_iter().step_by(5);
        let asking = &mut threads.get_mut(&3).unwrap().handed;
        asking.extend(answers);
        asking.sort_by_key(|of| of.expiry_ns);
        let [chain] = &chains(&threads)[..] else {
            panic!();
        };
        assert_eq!(
            (&chain.threads[..], chain.passes.len()),
            (&[1, 2, 3][..], 100)
        );
        let waited = chain.passes.iter().filter(|of| of.with_others);
        assert_eq!(waited.count(), 20);
    }

    #[test]
    fn a_thread_that_waits_for_any_of_two_sensors_ends_a_chain_of_each() {
        let timer = |after_ms| ThreadActivity {
            activations: turns(after_ms, None, WokenIn::Sleep),
            ..ThreadActivity::default()
        };
        let mut handed = turns(1, Some(1), WokenIn::Events);
        handed.extend(turns(6, Some(2), WokenIn::Events).into_iter().step_by(2));
        handed.sort_by_key(|of| of.expiry_ns);
        let camera = ThreadActivity {
            activations: turns(5, None, WokenIn::Sleep)
                .into_iter()
                .step_by(2)
                .collect(),
            ..ThreadActivity::default()
        };
        let threads = BTreeMap::from([(1, timer(0)), (2, camera), (3, fed(handed))]);
        let found = chains(&threads);
        let ends = found.iter().map(|of| (&of.threads[..], of.passes.len()));
        let expected: [(&[u32], usize); 2] = [(&[1, 3], 100), (&[2, 3], 50)];
        assert_eq!(ends.collect::<Vec<_>>(), expected);
    }

    /// A loop with a timer of its own every 10 ms, which a sensor wakes 5 ms later; an actuator that it wakes this long
    /// after each due time.
    fn with_own_timer(actuator_after_ms: u64) -> BTreeMap<u32, ThreadActivity> {
        let in_events = |turns: Vec<Activation>| {
            let own = |of| Activation {
                woken_in: WokenIn::Events,
                ..of
            };
            turns.into_iter().map(own).collect()
        };
        let mut threads = three();
        let controller = ThreadActivity {
            activations: in_events(turns(5, None, WokenIn::Events)),
            handed: turns(1, Some(1), WokenIn::Events),
            ..ThreadActivity::default()
        };
        threads.insert(2, controller);
        threads.insert(3, fed(turns(actuator_after_ms, Some(2), WokenIn::Read)));
        threads
    }

    #[test]
    fn a_loop_with_a_timer_of_its_own_is_in_the_chain_of_what_it_is_fed_or_begins_another() {
        let threads = |after_ms| {
            let found = chains(&with_own_timer(after_ms)).into_iter();
            found.map(|of| of.threads).collect::<Vec<_>>()
        };
        assert_eq!(threads(2), [[1, 2, 3]]);
        assert_eq!(threads(6), [vec![1, 2], vec![2, 3]]);
    }

    #[test]
    fn threads_that_all_wake_each_other_are_no_chain_and_are_done_with_soon() {
        let all = 1..=24_u32;
        let thread = |id: u32| {
            let others = all.clone().filter(|by| *by != id);
            let turns = others.flat_map(|by| turns(u64::from(by), Some(by), WokenIn::Events));
            let mut turns: Vec<Activation> = turns.collect();
            turns.sort_by_key(|of| of.expiry_ns);
            (id, fed(turns))
        };
        let threads: BTreeMap<u32, ThreadActivity> = all.clone().map(thread).collect();
        assert_eq!(chains(&threads), []);
    }

    #[test]
    fn a_cycle_that_wakes_nobody_has_no_pass() {
        let mut threads = three();
        threads.get_mut(&2).unwrap().handed.remove(50);
        let [chain] = &chains(&threads)[..] else {
            panic!();
        };
        assert_eq!(
            (chain.begun, chain.passes.len() as u64),
            (CYCLES, CYCLES - 1)
        );
    }

    #[test]
    fn what_a_thread_waits_for_within_its_turn_is_part_of_it_and_another_event_is_not() {
        for (woken_in, end_ms, with_others) in
            [(WokenIn::Futex, 16, true), (WokenIn::Events, 13, false)]
        {
            let mut threads = three();
            let last = &mut threads.get_mut(&3).unwrap().handed;
            let other = Activation {
                expiry_ns: 15 * MS,
                switched_in_ns: 15 * MS,
                end_ns: 16 * MS,
                woken_by: Some(9),
                woken_in,
                ..Activation::default()
            };
            last.insert(1, other);
            let [chain] = &chains(&threads)[..] else {
                panic!();
            };
            let first = &chain.passes[0];
            assert_eq!(
                (first.end_ns, first.with_others),
                (end_ms * MS, with_others)
            );
            assert!(chain.passes[1..].iter().all(|pass| !pass.with_others));
        }
    }

    #[test]
    fn threads_that_wake_each_other_or_that_no_timer_begins_are_no_chain() {
        let mut threads = three();
        threads.insert(1, fed(turns(0, Some(3), WokenIn::Futex)));
        assert_eq!(chains(&threads), []);
        threads.insert(1, fed(turns(0, None, WokenIn::Futex)));
        assert_eq!(chains(&threads), []);
        let mut threads = three();
        threads.remove(&1);
        assert_eq!(chains(&threads), []);
    }
}
