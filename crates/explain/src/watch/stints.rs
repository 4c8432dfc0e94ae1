//! Stints of threads that relieve each other: one serves all of the program's timers until another takes over, and is parked
//! from then on. Go's threads do so with one processor (`GOMAXPROCS=1`), whichever thread unparks the next.

use super::one_call::WokenIn;
use std::collections::BTreeSet;

/// Number of a thread's stints that are kept: the first ones.
const MOST_STINTS: usize = 256;
/// A thread that relieves others does so this often, or more.
const LEAST_STINTS: usize = 3;
/// Timers wake it this often in each stint, on average, or more.
const LEAST_WAKE_UPS: usize = 4;
/// Of ten stints, the number that must be over when the next one begins.
const APART_OF_TEN: usize = 9;

/// A thread's stints.
#[derive(Debug, Default)]
pub(super) struct Stints {
    /// First and last wake-up by a timer of each, in nanoseconds.
    kept: Vec<(u64, u64)>,
    /// Wake-ups in those.
    wake_ups: usize,
    was_parked: bool,
    is_full: bool,
}

impl Stints {
    /// Something else than a timer woke the thread in a call of this kind.
    pub fn handed(&mut self, kind: WokenIn) {
        self.was_parked |= kind == WokenIn::Futex;
    }

    /// A timer woke it in a wait for any event.
    pub fn woken(&mut self, at_ns: u64) {
        let is_next = std::mem::take(&mut self.was_parked) || self.kept.is_empty();
        self.is_full |= is_next && self.kept.len() == MOST_STINTS;
        if self.is_full {
            return;
        }
        self.wake_ups += 1;
        match self.kept.last_mut() {
            Some((_, last_ns)) if !is_next => *last_ns = at_ns,
            _ => self.kept.push((at_ns, at_ns)),
        }
    }
}

/// The threads that relieve each other, if all with long stints do.
pub(super) fn relieving<'a>(threads: impl Iterator<Item = (u32, &'a Stints)>) -> BTreeSet<u32> {
    let has_long = |of: &Stints| {
        of.kept.len() >= LEAST_STINTS && of.wake_ups >= of.kept.len() * LEAST_WAKE_UPS
    };
    let long = threads.filter(|(_, of)| has_long(of));
    let stints = long.flat_map(|(id, of)| of.kept.iter().map(move |stint| (*stint, id)));
    let mut stints: Vec<((u64, u64), u32)> = stints.collect();
    stints.sort_unstable();
    // A thread that was parked and was the next one again had one stint.
    stints.dedup_by(|next, before| {
        let is_same = next.1 == before.1;
        if is_same {
            before.0.1 = before.0.1.max(next.0.1);
        }
        is_same
    });
    let is_apart = |two: &&[((u64, u64), u32)]| two[0].0.1 <= two[1].0.0;
    let apart = stints.windows(2).filter(is_apart).count();
    let members: BTreeSet<u32> = stints.iter().map(|(_, id)| *id).collect();
    let is_often = |id: &u32| stints.iter().filter(|of| of.1 == *id).count() >= LEAST_STINTS;
    let are_so = members.len() > 1
        && members.iter().all(is_often)
        && apart * 10 >= (stints.len() - 1) * APART_OF_TEN;
    if are_so { members } else { BTreeSet::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wake-ups each 10 ms in stints of 200 ms every 400 ms, from `offset_ms` on.
    fn every_other(offset_ms: u64) -> Stints {
        let mut stints = Stints::default();
        for stint in 0..10 {
            stints.handed(WokenIn::Futex);
            for number in 0..20 {
                stints.woken((offset_ms + stint * 400 + number * 10) * 1_000_000);
            }
        }
        stints
    }

    #[test]
    fn threads_that_serve_timers_by_turns_relieve_each_other_and_those_at_one_time_do_not() {
        let found = |offset_ms| {
            let threads = [(1, every_other(0)), (2, every_other(offset_ms))];
            relieving(threads.iter().map(|(id, of)| (*id, of))).len()
        };
        assert_eq!([found(200), found(0), found(100)], [2, 0, 0]);
        let alone = every_other(0);
        assert!(relieving([(1, &alone)].into_iter()).is_empty());
    }

    #[test]
    fn a_thread_that_is_parked_between_its_timers_has_no_long_stints() {
        let mut threads = [Stints::default(), Stints::default()];
        for number in 0..100 {
            for (half, of) in (0..).zip(&mut threads) {
                of.handed(WokenIn::Futex);
                of.woken(number * 10 + half * 5);
            }
        }
        assert!(relieving((1..).zip(&threads)).is_empty());
    }
}
