//! Upper bounds of the time that page faults took on a CPU. The kernel records when a fault begins, not when it ends; its
//! wait for a page shows as blocked.

use crate::track::{Happened, Interval, Mark, State, Track};
use std::collections::VecDeque;
use wakepath_timeline::Left;

/// The next fault after so little time on a CPU, in nanoseconds, means that the thread did little between the two but
/// fault: it walks through new pages. Clearing a page and mapping it takes one to three microseconds.
const DENSE_NS: u64 = 20_000;
/// A fault without such a successor takes at most this, in nanoseconds, and what it took before it had to wait.
const ALONE_NS: u64 = 5_000;

/// A fault that has to wait for its page does so within this time of the fault, in nanoseconds.
const FAULT_TO_WAIT_NS: u64 = 100_000;

/// Whether a wait is for a page: the thread faulted right before, and entered or left no system call since. If it is
/// uninterruptible and outside of calls, nothing but a fault leads to it, however long that took before.
pub(crate) fn waits_for_page(track: &Track, wait: &Interval) -> bool {
    let at_ns = wait.from_ns;
    let after = track.marks().partition_point(|mark| mark.at_ns <= at_ns);
    let last = track.marks().range(..after).rev().find(|mark| {
        matches!(
            mark.what,
            Happened::Fault
                | Happened::CallEntered(_)
                | Happened::CallLeft
                | Happened::CallsUnknown
                | Happened::Lost
                | Happened::Gap
        )
    });
    let outside = track.is_outside_calls(at_ns);
    last.is_some_and(|mark| {
        let soon = at_ns - mark.at_ns <= FAULT_TO_WAIT_NS;
        let is_wait = match wait.state {
            State::Blocked => soon || outside,
            // Of a call that was not recorded, more likely.
            _ => soon && outside,
        };
        mark.what == Happened::Fault && is_wait
    })
}

/// A fault until the next one.
#[derive(Default)]
struct Fault {
    /// Time on a CPU.
    run_ns: u64,
    /// The part of it before the fault had to wait, and after its last wait.
    before_wait_ns: u64,
    after_wait_ns: u64,
}

impl Fault {
    fn price_ns(&self, is_last: bool) -> u64 {
        match !is_last && self.after_wait_ns <= DENSE_NS {
            true => self.run_ns,
            false => self.before_wait_ns + ALONE_NS,
        }
    }
}

/// Time that the faults between two instants took on a CPU at most, in nanoseconds.
pub(crate) fn price_ns(marks: &VecDeque<Mark>, from_ns: u64, to_ns: u64) -> u64 {
    let first = marks.partition_point(|mark| mark.at_ns < from_ns);
    let within = marks.range(first..).take_while(|mark| mark.at_ns <= to_ns);
    let mut price_ns = 0;
    let mut fault: Option<Fault> = None;
    let (mut began_ns, mut since_ns) = (0, None);
    for mark in within {
        let ran_ns = since_ns.map_or(0, |since_ns| mark.at_ns.saturating_sub(since_ns));
        match &mark.what {
            Happened::Fault => {
                if let Some(mut before) = fault.take() {
                    before.run_ns += ran_ns;
                    before.after_wait_ns += ran_ns;
                    price_ns += before.price_ns(false);
                }
                (fault, began_ns, since_ns) =
                    (Some(Fault::default()), mark.at_ns, Some(mark.at_ns));
            }
            Happened::Out(left) => {
                if let Some(fault) = &mut fault {
                    fault.run_ns += ran_ns;
                    fault.after_wait_ns += ran_ns;
                    let waits = *left == Left::Blocked;
                    if waits && mark.at_ns - began_ns <= FAULT_TO_WAIT_NS {
                        fault.before_wait_ns = fault.run_ns;
                        fault.after_wait_ns = 0;
                    }
                }
                since_ns = None;
            }
            Happened::Gone => since_ns = None,
            Happened::In { .. } => since_ns = Some(mark.at_ns),
            _ => {}
        }
    }
    price_ns + fault.map_or(0, |last| last.price_ns(true))
}
