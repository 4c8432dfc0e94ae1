//! Which thread feeds which: wakes it with something to work on.

use super::activation::{Activation, BegunBy, ThreadActivity};
use super::one_call::{WokenIn, mostly};
use std::collections::BTreeMap;
use wakepath_timeline::CallArgument;

/// Turns that show who feeds a thread.
const LEAST_TURNS: usize = 10;

/// See [`share_lock`].
const LOCK_SHARE: usize = 4;

/// Turns of a thread, whatever begins them.
pub(super) fn turns_of(of: &ThreadActivity) -> usize {
    of.activations.len().max(of.handed.len())
}

/// Whether a thread wakes its feeder in most of the turns that this one begins: the feeder waits for its answer, so its
/// turns are within the feeder's.
pub(super) fn answers(id: u32, feeder: &ThreadActivity, turns: usize) -> bool {
    let woken = feeder.handed.iter().filter(|of| of.woken_by == Some(id));
    2 * woken.count() >= turns
}

/// The thread that wakes this one in most of its turns, if no timer does; and those that do in enough others, if it waits
/// for any of several events: each is a matter of its own, as its own timer is. `timer`: as [`own_timer`].
pub(super) fn feeders(of: &ThreadActivity, timer: Option<WokenIn>) -> Vec<u32> {
    let turns = of.handed.len();
    if turns < LEAST_TURNS || of.pool.is_some() {
        return Vec::new();
    }
    let mut kinds: BTreeMap<u32, Vec<WokenIn>> = BTreeMap::new();
    for turn in of.handed.iter().filter(|of| of.woken_in != WokenIn::Write) {
        if let Some(by) = turn.woken_by {
            kinds.entry(by).or_default().push(turn.woken_in);
        }
    }
    let feeds = |(_, kinds): &(u32, Vec<WokenIn>)| {
        let are = |kind| 2 * kinds.iter().filter(|of| **of == kind).count() >= kinds.len();
        let are_most = turns >= 2 * of.activations.len() && 2 * kinds.len() >= turns;
        match timer {
            // In another call than the one in which its timer wakes it, it waits within its work.
            Some(kind) if kind != WokenIn::Events => are_most && are(kind),
            _ => {
                let in_events = kinds.len() >= LEAST_TURNS && are(WokenIn::Events);
                in_events || timer.is_none() && are_most
            }
        }
    };
    kinds.into_iter().filter(feeds).map(|(by, _)| by).collect()
}

/// Whether a thread and its feeder take turns at a lock, as threads at Python's interpreter lock do: it is woken, one time in
/// so many, at a word in memory at which the feeder waits too.
pub(super) fn share_lock(of: &ThreadActivity, by: u32, feeder: &ThreadActivity) -> bool {
    let word = |of: &Activation| match of.argument {
        Some(CallArgument::Address(word)) if of.woken_in == WokenIn::Futex => Some(word),
        _ => None,
    };
    let mut words: Vec<u64> = feeder.handed.iter().filter_map(word).collect();
    words.sort_unstable();
    let fed = || of.handed.iter().filter(|of| of.woken_by == Some(by));
    let shared = fed()
        .filter_map(word)
        .filter(|word| words.binary_search(word).is_ok());
    LOCK_SHARE * shared.count() >= fed().count() && !words.is_empty()
}

/// The call in which a thread's own timers mostly wake it, if they do so with a period.
pub(super) fn own_timer(of: &ThreadActivity) -> Option<WokenIn> {
    let rhythm = of.rhythm().ok()?;
    if rhythm.begun_by != BegunBy::Timer || !rhythm.is_periodic {
        return None;
    }
    mostly(&of.activations)
}

/// Whether a thread that has feeders and timers of its own wakes this one in what it does for the feeders.
pub(super) fn is_for_feeders(of: &ThreadActivity, by: u32, feeder: &ThreadActivity) -> bool {
    let turns: Vec<&Activation> = (of.handed.iter())
        .filter(|of| of.woken_by == Some(by))
        .collect();
    let is_within = |of: &&&Activation| {
        let before = (feeder.handed).partition_point(|turn| turn.expiry_ns <= of.expiry_ns);
        let before = before.checked_sub(1).map(|at| &feeder.handed[at]);
        before.is_some_and(|turn| of.expiry_ns <= turn.end_ns)
    };
    let within = turns.iter().filter(is_within).count();
    2 * within >= turns.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A loop that its timer wakes in a sleep every 10 ms, and that thread 2 wakes three times in each turn, in this call.
    fn woken_within(kind: WokenIn) -> ThreadActivity {
        let turn = |at_ns: u64, by: Option<u32>| Activation {
            programmed_ns: by.is_none().then_some(at_ns),
            expiry_ns: at_ns,
            switched_in_ns: at_ns + 1,
            end_ns: at_ns + MS / 2,
            woken_by: by,
            woken_in: if by.is_some() { kind } else { WokenIn::Sleep },
            ..Activation::default()
        };
        let due = (1..100).map(|cycle| cycle * 10 * MS);
        let within = due
            .clone()
            .flat_map(|at_ns| [1, 2, 3].map(|after| at_ns + after * MS));
        ThreadActivity {
            activations: due.map(|at_ns| turn(at_ns, None)).collect(),
            handed: within.map(|at_ns| turn(at_ns, Some(2))).collect(),
            ..ThreadActivity::default()
        }
    }

    #[test]
    fn a_lock_within_a_periodic_loop_s_own_work_hands_it_nothing() {
        let mut of = woken_within(WokenIn::Futex);
        assert_eq!(own_timer(&of), Some(WokenIn::Sleep));
        assert_eq!(feeders(&of, own_timer(&of)), []);
        of.activations.clear();
        assert_eq!(feeders(&of, own_timer(&of)), [2]);
    }

    #[test]
    fn threads_that_wait_at_one_word_take_turns_at_a_lock() {
        let waits_at = |word, by| {
            let mut of = woken_within(WokenIn::Futex);
            for turn in &mut of.handed {
                turn.argument = Some(CallArgument::Address(word));
                turn.woken_by = Some(by);
            }
            of
        };
        assert!(share_lock(&waits_at(64, 2), 2, &waits_at(64, 1)));
        assert!(!share_lock(&waits_at(64, 2), 2, &waits_at(128, 1)));
        let feeder = ThreadActivity::default();
        assert!(!share_lock(&waits_at(64, 2), 2, &feeder));
    }

    #[test]
    fn who_makes_room_for_a_write_hands_nothing_over() {
        let mut of = woken_within(WokenIn::Write);
        of.activations.clear();
        assert_eq!(feeders(&of, None), []);
    }
}
