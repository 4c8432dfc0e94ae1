//! Passes through a chain of threads: the work that each cycle of the first one begins, from thread to thread.
//!
//! A thread that is busy is not woken: its next item waits until the thread takes it, without a sleep in between. So a
//! turn can be for several cycles. They are taken in order.

use super::activation::Activation;
use super::stays::{Begins, Fed, Stay};
use std::collections::BTreeMap;

/// A cycle that came to the end of its chain. Times are nanoseconds on `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pass {
    /// When it was due: the programmed time of the first thread's timer.
    pub due_ns: u64,
    /// Its way through each thread of the chain.
    pub hops: Vec<Hop>,
    /// When the last thread was done with it: slept again, or took the next one. At the latest, if that was not seen.
    pub end_ns: u64,
    /// Not before this; the same as `end_ns` if it was seen.
    pub earliest_end_ns: u64,
    /// Whether other threads woke one of the chain within its turn: it waited for them, or worked for them too.
    pub with_others: bool,
    /// Whether an earlier one was done in the same turns, and the time of each is not seen.
    pub is_merged: bool,
}

impl Pass {
    /// From the due time to the end, in nanoseconds; at most, if the end was not seen.
    pub fn latency_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.due_ns)
    }

    /// From the due time to the end, in nanoseconds; at least, if the end was not seen.
    pub fn least_latency_ns(&self) -> u64 {
        self.earliest_end_ns.saturating_sub(self.due_ns)
    }
}

/// A thread's part in a pass. It ends where the next one's begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hop {
    /// When the thread was woken or, if it was busy, when this was handed to it, in nanoseconds; of the first one, when it
    /// was due.
    pub woken_ns: u64,
    /// When the thread began with it, in nanoseconds.
    pub began_ns: u64,
}

/// Of a hundred turns that meet an idle thread, those that must wake it, so that one that meets a busy thread is taken to
/// have handed something over, too.
const WAKING_OF_100: usize = 95;

/// Due times within one turn that are followed.
const MOST_PASSED: usize = 1024;

/// A cycle by the number of its turn, and that of the due time within it: the first is that which its timer kept.
pub(super) type Cycle = (usize, usize);

/// A cycle's work, as it comes to a thread of the chain.
#[derive(Debug, Clone)]
pub(super) struct Item {
    cycle: Cycle,
    hops: Vec<Hop>,
    /// It was not handed to this thread before this.
    arrived_ns: u64,
    /// Whether it is known which of the thread's turns is for it.
    is_seen: bool,
    with_others: bool,
}

/// The passes of a chain.
pub(super) struct Passes {
    /// By the cycle that begins each.
    pub by_cycle: BTreeMap<Cycle, Pass>,
    /// Whether those that waited behind others are among them.
    pub with_queued: bool,
}

/// Of these cycles of the first thread, of this period in nanoseconds, through the others.
pub(super) fn passes(cycles: &[Activation], period_ns: u64, fed: &[Fed<'_>]) -> Passes {
    let begun = |(number, of): (usize, &Activation)| {
        let until_ns = cycles.get(number + 1).map_or(u64::MAX, due_ns);
        begun(
            number,
            of,
            until_ns.saturating_sub(period_ns / 2),
            period_ns,
        )
    };
    let mut stays: Vec<Stay> = cycles.iter().enumerate().map(begun).collect();
    let mut with_queued = true;
    for next in fed {
        let (handed_on, are_queued) = hand_on(stays, next.stays());
        stays = handed_on;
        with_queued &= are_queued;
    }
    let mut by_cycle = BTreeMap::new();
    if let Some(last) = fed.last() {
        // The last of several passes of one cycle is the one that ends it.
        by_cycle.extend(stays.into_iter().flat_map(|of| ended(of, last)));
    }
    Passes {
        by_cycle,
        with_queued,
    }
}

fn due_ns(of: &Activation) -> u64 {
    of.programmed_ns.unwrap_or(of.expiry_ns)
}

fn begun(number: usize, of: &Activation, until_ns: u64, period_ns: u64) -> Stay {
    let due_ns = due_ns(of);
    let until_ns = until_ns.min(of.end_ns);
    let later = (1..).map_while(|count: u64| due_ns.checked_add(count.checked_mul(period_ns)?));
    Stay {
        passed_ns: later
            .take_while(|at_ns| *at_ns < until_ns)
            .take(MOST_PASSED)
            .collect(),
        items: vec![item((number, 0), due_ns, of.switched_in_ns)],
        ..Stay::new(of, Begins::Item)
    }
}

fn item(cycle: Cycle, due_ns: u64, began_ns: u64) -> Item {
    Item {
        cycle,
        hops: vec![Hop {
            woken_ns: due_ns,
            began_ns,
        }],
        arrived_ns: due_ns,
        is_seen: true,
        with_others: false,
    }
}

/// The next thread's stays with the items that one thread's hand on, and whether those that found it busy are among them.
fn hand_on(stays: Vec<Stay>, mut next: Vec<Stay>) -> (Vec<Stay>, bool) {
    let mut woken: Vec<Vec<usize>> = vec![Vec::new(); stays.len()];
    for (to, of) in next
        .iter()
        .enumerate()
        .filter(|(_, of)| of.begins == Begins::Item)
    {
        let from = stays.partition_point(|stay| stay.woken_ns <= of.woken_ns);
        if let Some(from) = from.checked_sub(1)
            && of.woken_ns <= stays[from].end_ns
        {
            woken[from].push(to);
        }
    }
    let busy = |stay: &Stay| {
        let at = next.partition_point(|of| of.woken_ns <= stay.end_ns);
        at.checked_sub(1)
            .filter(|at| stay.began_ns <= next[*at].end_ns)
    };
    let met: Vec<Option<usize>> = stays.iter().map(busy).collect();
    let is_waking = |at: &usize| !woken[*at].is_empty();
    let with_items = || (0..stays.len()).filter(|at| !stays[*at].items.is_empty());
    let waking = with_items().filter(is_waking).count();
    let idle = with_items().filter(|at| !is_waking(at) && met[*at].is_none());
    let are_queued = waking * (100 - WAKING_OF_100) >= idle.count() * WAKING_OF_100;
    for ((stay, woken), met) in stays.into_iter().zip(&woken).zip(met) {
        match (&woken[..], met) {
            ([], Some(to)) if are_queued => queued(stay, &mut next[to]),
            ([], _) => {}
            (woken, _) => handed_over(stay, woken, &mut next),
        }
    }
    (next, are_queued)
}

/// A stay that wakes nobody: the next thread is busy, and comes to its items later.
fn queued(stay: Stay, next: &mut Stay) {
    let (is_alone, end_ns) = (stay.items.len() == 1, stay.end_ns);
    let began_ns = stay.began_ns;
    let items = stay.items.into_iter().map(|mut item| {
        item.arrived_ns = item.arrived_ns.max(began_ns);
        item.is_seen &= next.begins != Begins::Other;
        let handed_ns = if is_alone { end_ns } else { item.arrived_ns };
        item.hops.push(Hop {
            woken_ns: handed_ns,
            began_ns: handed_ns,
        });
        item
    });
    next.items.extend(items);
}

/// A stay that wakes the next thread: as often as it has items, once for each; only once, for the first, and the others
/// find it busy.
fn handed_over(mut stay: Stay, woken: &[usize], next: &mut [Stay]) {
    let has_served = serve(&mut stay, woken, next);
    let (several, is_each) = (stay.items.len() > 1, stay.items.len() == woken.len());
    let others_ns = stay.others_ns.clone();
    let mut before_ns = 0;
    for (at, mut item) in stay.items.into_iter().enumerate() {
        // Of a single item, the next thread can be woken several times.
        let to = if several {
            &woken[at.min(woken.len() - 1)..][..1]
        } else {
            woken
        };
        if several {
            item.is_seen &= is_each || woken.len() == 1 || has_served && at == 0;
            let own = item.hops.last_mut().filter(|_| is_each);
            if let Some(own) = own {
                own.began_ns = own.began_ns.max(before_ns);
            }
        }
        for to in to {
            let next = &mut next[*to];
            before_ns = next.woken_ns;
            let mut item = item.clone();
            item.with_others |= others_ns.iter().any(|of| *of < next.woken_ns);
            if item.is_seen {
                item.arrived_ns = next.woken_ns;
            }
            item.hops.push(Hop {
                woken_ns: next.woken_ns,
                began_ns: next.began_ns,
            });
            next.items.push(item);
        }
    }
}

/// Adds the due times that a stay of the first thread served, too, if it woke the next one more than once. Of some it may
/// have found the next one busy.
fn serve(stay: &mut Stay, woken: &[usize], next: &[Stay]) -> bool {
    let due_ns = std::mem::take(&mut stay.passed_ns);
    let mut served = due_ns.iter().zip(&woken[1..]);
    let has_served = woken.len() > 1
        && woken.len() <= 1 + due_ns.len()
        && served.all(|(due_ns, to)| *due_ns < next[*to].woken_ns);
    if has_served {
        let number = stay.items[0].cycle.0;
        let passed = (1..).zip(due_ns);
        let passed = passed.map(|(at, due_ns)| item((number, at), due_ns, due_ns));
        stay.items.extend(passed);
    }
    has_served
}

/// The passes that a stay of the last thread ends, with their cycles.
fn ended(stay: Stay, last: &Fed<'_>) -> Vec<(Cycle, Pass)> {
    let count = stay.items.len();
    let fetched = last.fetched(stay.began_ns, stay.end_ns);
    // The one that woke the thread is not taken without waiting.
    let waiting = usize::from(stay.begins == Begins::Item);
    let mut taken = stay.items.iter().skip(waiting).zip(fetched);
    let is_each = stay.items.iter().all(|of| of.is_seen)
        && fetched.len() + waiting == count
        && taken.all(|(item, at_ns)| item.arrived_ns <= *at_ns);
    let (began_ns, later_ns) = match fetched {
        [first, later @ ..] if is_each && waiting == 0 => (*first, later),
        _ => (0, fetched),
    };
    let ends_ns: Vec<u64> = match is_each {
        true => later_ns.iter().copied().chain([stay.end_ns]).collect(),
        false => vec![stay.end_ns; count],
    };
    let arrived_ns: Vec<u64> = stay.items.iter().map(|of| of.arrived_ns).collect();
    let with_others = !stay.others_ns.is_empty();
    let passes = stay.items.into_iter().enumerate().map(|(at, mut item)| {
        let end_ns = ends_ns[at];
        // The thread was busy when the next one came, so not done with this one.
        let earliest_end_ns = match (is_each, item.is_seen) {
            (true, _) => end_ns,
            (false, true) => arrived_ns.get(at + 1).map_or(end_ns, |next| *next),
            (false, false) => item.arrived_ns,
        };
        // Work for its own timer may have come after the item.
        let from_ns = item.arrived_ns.max(stay.began_ns);
        let earliest_end_ns = (last.served_timer(from_ns, stay.end_ns))
            .filter(|_| end_ns == stay.end_ns)
            .map_or(earliest_end_ns, |at_ns| earliest_end_ns.min(at_ns));
        if let Some(own) = item.hops.last_mut() {
            let before = at.checked_sub(1).filter(|_| is_each);
            let after_ns = before.map_or(began_ns, |before| ends_ns[before]);
            own.began_ns = own.began_ns.max(after_ns);
        }
        let pass = Pass {
            due_ns: item.hops[0].woken_ns,
            hops: item.hops,
            end_ns,
            earliest_end_ns: earliest_end_ns.min(end_ns),
            with_others: item.with_others || with_others,
            is_merged: !item.is_seen || at > 0 && !is_each,
        };
        (item.cycle, pass)
    });
    passes.collect()
}

#[cfg(test)]
mod tests;
