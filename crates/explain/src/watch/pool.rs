//! Threads of a program that take turns, as the workers of Go, Tokio and executors with several threads do: one of the
//! idle ones waits for the program's next timer, and the others until one of them wakes them. Any of them runs the next
//! cycle, so what a thread waits for is not an answer, and the period is that of all together.

use super::activation::{Activation, ThreadActivity};
use super::near_row::{MS, NearRow};
use super::one_call::WokenIn;
use super::rhythm::Rhythm;
use super::row::row;
use super::stints::relieving;
use super::thread::Thread;
use foldhash::HashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A member was woken by a timer this often, or more.
const LEAST_ACTIVATIONS: u64 = 10;
/// It waits for other members for this share of its time or more, one in so many.
const LEAST_SHARE: u64 = 4;
/// A thread that waits for its own timers for more of its time, in hundredths, is no worker among others.
const OWN_OF_HUNDRED: u64 = 60;
/// Between a time-out that comes too early and the next request the thread runs for less than this, in nanoseconds.
const LOOKS_NS: u64 = MS / 2;

/// Threads that take turns, of which this is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pool {
    /// Their numbers, in ascending order.
    pub threads: Arc<[u32]>,
    /// The cycles of all together, if they have a period.
    pub cycles: Option<PoolCycles>,
}

/// Cycles that run in any of several threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolCycles {
    /// How they come round.
    pub rhythm: Rhythm,
    /// Due times, from the first to the last at which a timer woke one of the threads.
    pub dues: u64,
    /// At how many of these none did, or an earlier cycle still ran: whether they had a cycle is unknown.
    pub unclear: u64,
}

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

/// The threads that take turns, each group by itself.
pub(super) fn find(threads: &HashMap<u32, Thread>) -> Vec<BTreeSet<u32>> {
    let kinds: [fn(&Awaited) -> u64; 2] = [|of| of.in_events, |of| of.in_futex];
    let mut groups = kinds.map(|count| members(threads, count));
    if groups[0].is_empty() {
        groups[0] = relieving(threads.iter().map(|(id, of)| (*id, &of.stints)));
    }
    groups.into_iter().filter(|of| !of.is_empty()).collect()
}

/// Gives each member its turns of the cycles that all run together. A turn ends where the thread first waits: what wakes
/// it from then on is another thread's cycle.
pub(super) fn put_together(members: &BTreeSet<u32>, threads: &mut BTreeMap<u32, ThreadActivity>) {
    let own = threads.iter().filter(|(id, _)| members.contains(id));
    let turns = own.flat_map(|(id, of)| {
        of.activations
            .iter()
            .map(|turn| (*id, until_first_wait(turn)))
    });
    let mut all: Vec<(u32, Activation)> = turns.collect();
    all.sort_by_cached_key(|(_, turn)| turn.programmed_ns.unwrap_or(turn.expiry_ns));
    let (all, cycles) = cycles(all);
    let pool = Pool {
        threads: members.iter().copied().collect(),
        cycles,
    };
    for id in members {
        if let Some(of) = threads.get_mut(id) {
            let own = all.iter().filter(|(by, _)| by == id);
            of.activations = own.map(|(_, turn)| *turn).collect();
            of.pool = Some(pool.clone());
        }
    }
}

/// The turns that begin cycles, and how those come round, if they have a period.
fn cycles(all: Vec<(u32, Activation)>) -> (Vec<(u32, Activation)>, Option<PoolCycles>) {
    let turns = |all: &[(u32, Activation)]| all.iter().map(|(_, turn)| *turn).collect();
    let whole: Vec<Activation> = turns(&all);
    let on_row = |rhythm: &Rhythm| rhythm.anchor_ns.is_some();
    if let Some(rhythm) = Rhythm::new(&whole).ok().filter(on_row) {
        return (all, counted(&whole, rhythm));
    }
    let in_time = without_early(&all);
    let due = turns(&in_time);
    let dues_ns: Option<Vec<u64>> = due.iter().map(|turn| turn.programmed_ns).collect();
    let near = dues_ns
        .filter(|dues_ns| dues_ns.len() as u64 >= LEAST_ACTIVATIONS)
        .and_then(|dues_ns| NearRow::late_by_milliseconds(&dues_ns));
    match near {
        Some(near) => (in_time, counted(&due, Rhythm::near(near))),
        None => (all, None),
    }
}

/// Without the time-outs that come before the due time, as those of a runtime that rounds them down to milliseconds do:
/// the thread looks, and waits for one more at most.
fn without_early(all: &[(u32, Activation)]) -> Vec<(u32, Activation)> {
    let asked_ns = |turn: &Activation| turn.programmed_ns?.checked_sub(turn.asked_at_ns?);
    let is_early = |at: usize| {
        let (id, turn) = all[at];
        let next = all[at + 1..].iter().find(|(by, _)| *by == id);
        let times = next.and_then(|(_, next)| Some((next.asked_at_ns?, asked_ns(next)?)));
        // A cycle that comes late may also be followed by a short wait, but not so soon.
        let latest_ns = turn.end_ns.min(turn.expiry_ns + MS);
        let is_again = |(again_ns, rest_ns)| again_ns <= latest_ns && rest_ns <= MS;
        turn.run_ns < LOOKS_NS && times.is_some_and(is_again)
    };
    let kept = (0..all.len()).filter(|at| !is_early(*at));
    kept.map(|at| all[at]).collect()
}

fn counted(turns: &[Activation], rhythm: Rhythm) -> Option<PoolCycles> {
    let row = row(turns, rhythm);
    let samples = row.moved();
    let (first, last) = (samples.first()?.cycle, samples.last()?.cycle);
    let (mut free_from, mut clear) = (first, 0);
    for sample in &samples {
        clear += u64::from(sample.cycle >= free_from);
        let response_ns = u64::try_from(sample.response_ns()).unwrap_or(0);
        free_from = free_from.max(sample.cycle + 1 + response_ns / rhythm.period_ns);
    }
    let dues = last - first + 1;
    Some(PoolCycles {
        rhythm,
        dues,
        unclear: dues - clear,
    })
}

fn until_first_wait(turn: &Activation) -> Activation {
    let (end_ns, run_ns) = turn.first_wait.unwrap_or((turn.end_ns, turn.run_ns));
    Activation {
        end_ns,
        run_ns,
        ..*turn
    }
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

    const NONE: [Vec<u32>; 0] = [];

    /// A worker that is woken by a timer every 12 ms, which it started `ahead_ms` before, and then waits in this call for
    /// 7 ms until thread `by` wakes it.
    fn worker(call: &str, by: u32, ahead_ms: u64) -> Thread {
        let mut thread = Thread::default();
        for number in 1..100 {
            let at_ns = number * 12 * MS;
            let asked_ns = Some(at_ns - ahead_ms * MS);
            thread.awaited.woken(at_ns, asked_ns, WokenIn::Events);
            thread.waits.entered(&call.into(), None);
            thread.waits.slept(at_ns + MS);
            thread.waits.ended(at_ns + 8 * MS, &Key::Thread(by));
            thread.waits.left();
        }
        thread
    }

    fn found(all: [Thread; 3]) -> Vec<Vec<u32>> {
        let threads: HashMap<u32, Thread> = (1..).zip(all).collect();
        let groups = find(&threads).into_iter();
        groups.map(|of| of.into_iter().collect()).collect()
    }

    #[test]
    fn workers_that_park_until_another_wakes_them_take_turns() {
        let workers = [2, 3, 1].map(|by| worker("futex", by, 4));
        assert_eq!(found(workers), [[1, 2, 3]]);
    }

    #[test]
    fn a_thread_that_waits_for_a_stranger_an_answer_or_its_own_timer_takes_no_turns() {
        // 9 is none of them, and without 2 nobody wakes 1.
        assert_eq!(found([2, 9, 9].map(|by| worker("futex", by, 4))), NONE);
        assert_eq!(found([2, 3, 1].map(|by| worker("read", by, 4))), NONE);
        assert_eq!(found([2, 3, 1].map(|by| worker("futex", by, 11))), NONE);
    }

    /// Time-outs of a ticker of 4 ms in two threads, rounded down to milliseconds, as Go's are: one that comes too early
    /// is followed by one of a millisecond. Every 50th cycle takes 14 ms, and those due in that time begin none:
    /// how many.
    fn ticker() -> (BTreeMap<u32, ThreadActivity>, u64) {
        let mut threads: BTreeMap<u32, ThreadActivity> = BTreeMap::new();
        let (mut now_ns, mut due_ns, mut passed) = (MS, 4 * MS, 0);
        for number in 0..400_u64 {
            passed += u64::from(now_ns >= due_ns);
            let id = 1 + u32::from(number % 3 == 0);
            let own = &mut threads.entry(id).or_default().activations;
            while now_ns < due_ns {
                let asked_ns = ((due_ns - now_ns) / MS).max(1) * MS;
                let programmed_ns = now_ns + asked_ns;
                let in_time = programmed_ns + 30_000 >= due_ns;
                let run_ns = match (in_time, number % 50) {
                    (false, _) => 10_000,
                    (true, 49) => 14 * MS,
                    (true, _) => 100_000,
                };
                let switched_in_ns = programmed_ns + 20_000;
                now_ns = switched_in_ns + run_ns;
                own.push(Activation {
                    programmed_ns: Some(programmed_ns),
                    asked_at_ns: Some(programmed_ns - asked_ns),
                    expiry_ns: programmed_ns + 2_000,
                    switched_in_ns,
                    // Another cycle's, which the turn would otherwise hold too.
                    end_ns: now_ns + 3 * MS,
                    run_ns: run_ns + MS,
                    first_wait: Some((now_ns, run_ns)),
                    woken_in: WokenIn::Events,
                    ..Activation::default()
                });
            }
            due_ns += 4 * MS;
        }
        (threads, passed)
    }

    #[test]
    fn a_ticker_that_moves_between_threads_has_its_period() {
        let (mut threads, passed) = ticker();
        put_together(&BTreeSet::from([1, 2]), &mut threads);
        let pool = threads[&1].pool.clone().unwrap();
        let cycles = pool.cycles.unwrap();
        assert_eq!(
            (&*pool.threads, &threads[&2].pool),
            (&[1, 2][..], &Some(pool.clone()))
        );
        assert_eq!(cycles.rhythm.period_ns, 4 * MS);
        assert_eq!((cycles.dues, cycles.unclear), (400, passed));
        let turns: usize = threads.values().map(|of| of.activations.len()).sum();
        assert_eq!(turns as u64, cycles.dues - passed);
        let longest = threads
            .values()
            .flat_map(|of| &of.activations)
            .map(|turn| turn.run_ns);
        assert_eq!(longest.max(), Some(14 * MS));
    }

    #[test]
    fn threads_of_a_pool_whose_timers_have_no_period_keep_their_turns() {
        let (mut threads, _) = ticker();
        let mut turns = 0;
        for of in threads.values_mut() {
            turns += of.activations.len();
            for (number, turn) in (0_u64..).zip(&mut of.activations) {
                turn.programmed_ns = turn.programmed_ns.map(|at| at + number * number * 137_000);
            }
        }
        put_together(&BTreeSet::from([1, 2]), &mut threads);
        assert_eq!(threads[&1].pool.as_ref().unwrap().cycles, None);
        let kept: usize = threads.values().map(|of| of.activations.len()).sum();
        assert_eq!(kept, turns);
    }
}
