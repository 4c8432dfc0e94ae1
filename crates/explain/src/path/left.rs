//! The loop's states, with those in which it had left its CPU by a switch that was not recorded.
//!
//! Three things together show that it was asleep: it was in a system call or a page fault, its CPU was left idle, and it
//! was woken then. A thread that is ready is not left for idle, unless its budget is used up; and what is awake is not
//! woken. Without one of them its state is unknown.

use super::Window;
use crate::cpu::Doing;
use crate::faults;
use crate::track::{Happened, Interval, State};

/// The loop's states between two instants, without a gap.
pub(super) fn states(window: &Window<'_>, from_ns: u64, to_ns: u64) -> Vec<Interval> {
    let intervals = window.track.between(from_ns, to_ns);
    if intervals.iter().all(|of| of.state != State::Away) {
        return intervals;
    }
    let mut states = Vec::with_capacity(intervals.len() + 1);
    for interval in intervals {
        let asleep = match interval.state {
            State::Away => asleep_since(window, &interval),
            _ => {
                states.push(interval);
                continue;
            }
        };
        let since_ns = asleep.map_or(interval.to_ns, |(since_ns, _)| since_ns);
        if since_ns > interval.from_ns {
            states.push(Interval {
                to_ns: since_ns,
                state: State::Unknown,
                ..interval.clone()
            });
        }
        if let Some((from_ns, state)) = asleep {
            states.push(Interval {
                from_ns,
                state,
                ..interval
            });
        }
    }
    states
}

/// Since when the loop was asleep in such a stretch, and how.
fn asleep_since(window: &Window<'_>, interval: &Interval) -> Option<(u64, State)> {
    let marks = window.track.marks();
    let Happened::Waking { priority, .. } = marks.get(interval.ended_by?)?.what else {
        return None;
    };
    if window.budgets.explains_idle(priority) {
        return None;
    }
    let faulted = Interval {
        state: State::Blocked,
        ..interval.clone()
    };
    let state = match window.track.call_at(interval.from_ns) {
        Some(_) => State::Sleeping,
        None if faults::waits_for_page(window.track, &faulted) => State::Blocked,
        None => return None,
    };
    let after = marks.partition_point(|mark| mark.at_ns <= interval.from_ns);
    let mut before = marks.range(..after).rev();
    let gone = before.find(|mark| mark.what == Happened::Gone)?;
    let mut idle_ns = None;
    let cpu = window.cpus.get(usize::from(gone.cpu))?;
    cpu.between(interval.from_ns, interval.to_ns, |from_ns, _, span| {
        if matches!(span.doing, Doing::Idle(_)) {
            idle_ns.get_or_insert(from_ns);
        }
    });
    Some((idle_ns?, state))
}
