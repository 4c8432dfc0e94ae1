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
mod tests;
