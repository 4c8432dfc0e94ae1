//! Waits for a lock that the thread asks for again after each time-out, as Java's monitors and Python's interpreter lock
//! do: one wait, which the thread ends that hands the lock over.

use crate::call::Entered;
use crate::cpu::Context;
use crate::track::{Happened, Track};
use wakepath_timeline::Left;

/// Time-outs in a row after which nobody looks further.
const MOST_TIME_OUTS: usize = 64;

/// What ended the wait that continues in the same call with the same argument after a time-out at a mark, before this
/// instant, and when.
pub(super) fn ended_by(track: &Track, time_out: usize, before_ns: u64) -> Option<(&Context, u64)> {
    let at_ns = track.marks()[time_out].at_ns;
    let wait = track.entered_at(at_ns).filter(|of| of.call.is_for_lock());
    let wait = wait.filter(|of| of.argument.is_some())?;
    let mut time_outs = 0;
    let mut is_asleep = false;
    let mut is_in_wait = true;
    for mark in track.marks().range(time_out + 1..) {
        if mark.at_ns >= before_ns {
            return None;
        }
        match &mark.what {
            Happened::CallEntered(entered) if entered == wait => is_in_wait = true,
            Happened::CallEntered(other) if is_elsewhere(wait, other) => return None,
            Happened::CallEntered(_) | Happened::CallLeft => is_in_wait = false,
            Happened::Out(Left::Sleeping) if !is_in_wait => return None,
            Happened::Out(Left::Sleeping) => is_asleep = true,
            Happened::Waking { from, .. } if is_asleep => match from {
                Context::Timer { .. } if time_outs == MOST_TIME_OUTS => return None,
                Context::Timer { .. } => (time_outs, is_asleep) = (time_outs + 1, false),
                from => return Some((from, mark.at_ns)),
            },
            Happened::CallsUnknown | Happened::Lost | Happened::Gap => return None,
            _ => {}
        }
    }
    None
}

/// Whether a thread in this call does something else than try again.
fn is_elsewhere(wait: &Entered, other: &Entered) -> bool {
    other.call.name != wait.call.name
}
