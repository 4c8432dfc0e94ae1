//! When page faults had a CPU: until the page is mapped, if that is recorded; otherwise about, for the kernel records only
//! when a fault begins. Its wait for a page shows as blocked.

use crate::cause::Cause;
use crate::track::{Happened, Interval, State, Track};
use std::ops::Range;
use std::sync::Arc;
use wakepath_timeline::{Left, Thread};

/// The next fault after so little time on a CPU, in nanoseconds, means that the thread did little between the two but
/// fault: it walks through new pages. Clearing a page and mapping it takes one to three microseconds.
const DENSE_NS: u64 = 20_000;
/// A fault without such a successor takes at most this, in nanoseconds, and what it took before it had to wait.
const ALONE_NS: u64 = 5_000;
/// Limit of a slow fault within a walk, in multiples of the walk's other faults. Of 60 000 faults under a
/// hypervisor, three in ten thousand took more than 50 times the median, and none 200 times.
const SLOW: u64 = 100;

/// A fault that has to wait for its page does so within this time of the fault, in nanoseconds.
const FAULT_TO_WAIT_NS: u64 = 100_000;

/// Whether a wait is for a page: outside of calls, nothing but a fault leads to such a wait, however long that took
/// before. In a call, or if calls are unknown, the wait has to follow the fault at once.
pub(crate) fn waits_for_page(track: &Track, wait: &Interval) -> bool {
    let Some((last, since_ns)) = last_before(track, wait) else {
        return false;
    };
    let outside = track.is_outside_calls(wait.from_ns);
    match wait.state {
        // A fault maps the pages around its own before it waits for that.
        State::Blocked if outside => true,
        State::Blocked => is_fault(last) && since_ns <= FAULT_TO_WAIT_NS,
        // In a call that was not recorded, more likely.
        _ => is_fault(last) && outside,
    }
}

/// Whether the thread faulted right before its wait.
pub(crate) fn has_just_faulted(track: &Track, wait: &Interval) -> bool {
    last_before(track, wait)
        .is_some_and(|(last, since_ns)| is_fault(last) && since_ns <= FAULT_TO_WAIT_NS)
}

fn is_fault(what: &Happened) -> bool {
    matches!(what, Happened::Fault { .. })
}

/// The cause of a wait in a page fault that nothing else is known of.
pub(crate) fn cause_of_wait(track: &Track, wait: &Interval) -> Cause {
    match last_before(track, wait) {
        Some((Happened::Fault { after_fork }, _)) => cause_after(after_fork.as_ref()),
        _ => Cause::PageFault,
    }
}

/// The cause of the faults between two instants: what most of them are.
pub(crate) fn cause(track: &Track, from_ns: u64, to_ns: u64) -> Cause {
    let marks = track.marks();
    let begin = marks.partition_point(|mark| mark.at_ns < from_ns);
    let within = marks.range(begin..).take_while(|mark| mark.at_ns <= to_ns);
    let (mut faults, mut copies, mut last) = (0, 0, None);
    for mark in within {
        if let Happened::Fault { after_fork } = &mark.what {
            faults += 1;
            copies += usize::from(after_fork.is_some());
            last = after_fork.as_ref().or(last);
        }
    }
    cause_after(last.filter(|_| copies * 2 > faults))
}

fn cause_after(fork: Option<&Arc<Thread>>) -> Cause {
    fork.map_or(Cause::PageFault, |by| Cause::PageCopy((**by).clone()))
}

/// The thread's last fault or mapped page before a wait, and the time from there until it left its CPU. `None` if it
/// entered or left a call since.
fn last_before<'a>(track: &'a Track, wait: &Interval) -> Option<(&'a Happened, u64)> {
    let marks = track.marks();
    let after = marks.partition_point(|mark| mark.at_ns <= wait.from_ns);
    // A wait that began in an earlier cycle.
    let mut left_ns = wait.from_ns;
    for mark in marks.range(..after).rev() {
        match mark.what {
            Happened::Fault { .. } | Happened::Mapped => {
                return Some((&mark.what, left_ns - mark.at_ns));
            }
            Happened::CallEntered(_)
            | Happened::CallLeft
            | Happened::CallsUnknown
            | Happened::Lost
            | Happened::Gap => return None,
            Happened::Out(_) | Happened::Gone if left_ns == wait.from_ns => left_ns = mark.at_ns,
            _ => {}
        }
    }
    None
}

/// Stretches of time, in nanoseconds on `CLOCK_MONOTONIC`.
pub(crate) type Stretches = Vec<Range<u64>>;

pub(crate) fn sum_ns(stretches: &[Range<u64>]) -> u64 {
    stretches.iter().map(|of| of.end - of.start).sum()
}

/// A fault, until it was over at the latest: the next one began, a call began or ended.
#[derive(Default)]
struct Fault {
    /// On a CPU until the fault's last wait began.
    before_wait: Stretches,
    /// On a CPU since.
    after_wait: Stretches,
    /// The next fault ended it.
    another_follows: bool,
    /// Its page was mapped, and the time above ends there.
    is_mapped: bool,
    /// On a CPU from there on.
    since_mapped: Stretches,
}

impl Fault {
    /// It is over at the latest, and ran since its last event.
    fn end(&mut self, ran: Option<Range<u64>>) {
        if self.is_mapped {
            self.since_mapped.extend(ran);
        } else {
            self.after_wait.extend(ran);
        }
    }

    /// Time on a CPU since its wait, in nanoseconds.
    fn ran_ns(&self) -> u64 {
        sum_ns(&self.after_wait) + sum_ns(&self.since_mapped)
    }
}

/// How a fault's time since its wait is priced.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// All of it: the thread walks through new pages.
    Dense,
    /// All of it until its page was mapped.
    Mapped,
    /// The thread walks through new pages, and this one took longer.
    Slow,
    Alone,
}

/// When the faults between two instants had a CPU, each about, in order.
pub(crate) fn stretches(track: &Track, from_ns: u64, to_ns: u64) -> Stretches {
    let faults = faults(track, from_ns, to_ns);
    let mut all = Stretches::new();
    let paces = paces(&faults);
    let mut at = 0;
    while at < faults.len() {
        // One that is alone ends a walk.
        let alone = paces[at..].iter().position(|of| *of == Pace::Alone);
        let end = alone.map_or(faults.len(), |alone| at + alone + 1);
        price_walk(&faults[at..end], &paces[at..end], &mut all);
        at = end;
    }
    all
}

fn paces(faults: &[Fault]) -> Vec<Pace> {
    let is_dense = |of: &Fault| of.another_follows && of.ran_ns() <= DENSE_NS;
    let dense: Vec<bool> = faults.iter().map(is_dense).collect();
    let pace = |at: usize| {
        let is_within = at > 0 && dense[at - 1] && dense.get(at + 1).is_some_and(|dense| *dense);
        match (dense[at], is_within) {
            (true, _) => Pace::Dense,
            _ if faults[at].is_mapped => Pace::Mapped,
            (false, true) => Pace::Slow,
            (false, false) => Pace::Alone,
        }
    };
    (0..dense.len()).map(pace).collect()
}

fn price_walk(faults: &[Fault], paces: &[Pace], all: &mut Stretches) {
    let with_pace = || faults.iter().zip(paces);
    let dense = || with_pace().filter(|(_, pace)| **pace == Pace::Dense);
    let dense_ns: u64 = dense().map(|(of, _)| of.ran_ns()).sum();
    let most_ns = SLOW * dense_ns / (dense().count().max(1) as u64);
    // All slow ones together take no more than the others.
    let mut left_ns = dense_ns;
    for (fault, pace) in with_pace() {
        let price_ns = match pace {
            Pace::Dense | Pace::Mapped => u64::MAX,
            Pace::Slow => left_ns.min(most_ns).max(ALONE_NS),
            Pace::Alone => ALONE_NS,
        };
        let priced = first(&fault.after_wait, price_ns);
        if *pace == Pace::Slow {
            left_ns = left_ns.saturating_sub(sum_ns(&priced));
        }
        // Between two pages of a walk there is little else than the way out of one fault and into the next.
        let since_mapped = fault.since_mapped.iter().filter(|_| *pace == Pace::Dense);
        let before_wait = fault.before_wait.iter().cloned();
        for next in before_wait.chain(priced).chain(since_mapped.cloned()) {
            match all.last_mut() {
                Some(last) if last.end == next.start => last.end = next.end,
                _ => all.push(next),
            }
        }
    }
}

/// The first `ns` of some stretches.
fn first(stretches: &[Range<u64>], mut ns: u64) -> Stretches {
    let mut kept = Stretches::new();
    for of in stretches {
        let end = of.end.min(of.start.saturating_add(ns));
        ns -= end - of.start;
        if end > of.start {
            kept.push(of.start..end);
        }
    }
    kept
}

fn faults(track: &Track, from_ns: u64, to_ns: u64) -> Vec<Fault> {
    let marks = track.marks();
    let begin = marks.partition_point(|mark| mark.at_ns < from_ns);
    let within = marks.range(begin..).take_while(|mark| mark.at_ns <= to_ns);
    let mut found: Vec<Fault> = Vec::new();
    // Of the last one: its begin, if it is not over; since when it runs.
    let (mut began_ns, mut since_ns) = (None, None);
    for mark in within {
        let at_ns = mark.at_ns;
        let ran = since_ns.map(|since_ns: u64| since_ns..at_ns.max(since_ns));
        let under_way = began_ns.and_then(|began_ns| Some((began_ns, found.last_mut()?)));
        match &mark.what {
            // A fault can map several pages, one after the other.
            Happened::Mapped => {
                if let Some((_, fault)) = under_way {
                    fault.after_wait.extend(ran);
                    fault.is_mapped = true;
                    since_ns = since_ns.map(|_| at_ns);
                }
            }
            Happened::Fault { .. } => {
                if let Some((_, before)) = under_way {
                    before.end(ran);
                    before.another_follows = true;
                }
                found.push(Fault::default());
                (began_ns, since_ns) = (Some(at_ns), Some(at_ns));
            }
            Happened::CallEntered(_) | Happened::CallLeft => {
                if let Some((_, fault)) = under_way {
                    fault.end(ran);
                }
                (began_ns, since_ns) = (None, None);
            }
            Happened::Out(left) => {
                if let Some((began_ns, fault)) = under_way.filter(|(_, of)| !of.is_mapped) {
                    fault.after_wait.extend(ran);
                    let soon = at_ns - began_ns <= FAULT_TO_WAIT_NS;
                    // Outside of calls, nothing else leads to such a wait.
                    if *left == Left::Blocked && (soon || track.is_outside_calls(at_ns)) {
                        fault.before_wait.append(&mut fault.after_wait);
                    }
                }
                since_ns = None;
            }
            Happened::Gone => since_ns = None,
            Happened::In { .. } => since_ns = began_ns.map(|_| at_ns),
            _ => {}
        }
    }
    if let (Some(fault), Some(_), Some(since_ns)) = (found.last_mut(), began_ns, since_ns) {
        fault.end(Some(since_ns..to_ns.max(since_ns)));
    }
    found
}
