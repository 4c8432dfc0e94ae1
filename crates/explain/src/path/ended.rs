//! The end of a wait, and who ended it.

use crate::call::Call;
use crate::cpu::Context;
use crate::halt::TO_STOP_NS;
use crate::track::{Happened, Interval, Track};
use wakepath_timeline::Left;

/// The mark that ended a stretch.
pub(super) fn ended_by<'a>(track: &'a Track, interval: &Interval) -> Option<&'a Happened> {
    let mark = track.marks().get(interval.ended_by?)?;
    Some(&mark.what)
}

/// Who ended a wait, also after the stretch. A signal that stops the thread doesn't: after the stop the wait continues in
/// the same call.
pub(super) fn ended_at_last_by<'a>(track: &'a Track, interval: &Interval) -> Option<&'a Context> {
    let call = track.call_at(interval.from_ns);
    let mut ended = interval
        .ended_by
        .or_else(|| woken_after(track, interval.to_ns))?;
    loop {
        let Happened::Waking { from, .. } = &track.marks().get(ended)?.what else {
            return None;
        };
        let is_next = |what: &Happened| matches!(what, Happened::In { .. });
        let Some(begun) = next(track, ended, is_next) else {
            return Some(from);
        };
        let is_next = |what: &Happened| matches!(what, Happened::Out(_) | Happened::CallEntered(_));
        let stopped = next(track, begun, is_next).filter(|&at| {
            let is_soon = track.marks()[at].at_ns <= track.marks()[begun].at_ns + TO_STOP_NS;
            is_soon && track.marks()[at].what == Happened::Out(Left::Stopped)
        });
        let Some(stopped) = stopped else {
            return Some(from);
        };
        ended = next_wait(track, stopped, call)?;
    }
}

/// Number of the mark that wakes the thread which sleeps at an instant.
fn woken_after(track: &Track, at_ns: u64) -> Option<usize> {
    let first = track.marks().partition_point(|mark| mark.at_ns < at_ns);
    let mut later = (first..).zip(track.marks().range(first..));
    later.find_map(|(at, mark)| match mark.what {
        Happened::Waking { .. } => Some(Some(at)),
        Happened::In { .. } | Happened::Lost | Happened::Gap => Some(None),
        _ => None,
    })?
}

/// The end of the wait that a stopped thread continues with in the same call; `None` if it doesn't wait any more.
fn next_wait(track: &Track, stopped: usize, call: Option<&Call>) -> Option<usize> {
    let is_next = |what: &Happened| match what {
        Happened::CallEntered(entered) => call != Some(&entered.call),
        Happened::CallLeft | Happened::Out(_) | Happened::Gone => true,
        _ => false,
    };
    let waits = next(track, stopped, is_next)?;
    if !matches!(
        track.marks()[waits].what,
        Happened::Out(Left::Sleeping | Left::Blocked)
    ) {
        return None;
    }
    next(track, waits, |what| matches!(what, Happened::Waking { .. }))
}

/// Number of the next mark of a kind.
fn next(track: &Track, after: usize, is: impl Fn(&Happened) -> bool) -> Option<usize> {
    let later = track.marks().range(after + 1..);
    let mut numbers = (after + 1..).zip(later);
    numbers.find_map(|(at, mark)| is(&mark.what).then_some(at))
}
