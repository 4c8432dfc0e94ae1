//! How a loop was woken.

use super::Window;
use crate::cpu::Context;
use crate::cycle::WokenBy;
use crate::track::Happened;
use wakepath_timeline::Sample;

/// An early wake-up has no pieces; the source of its wake-up is known all the same.
pub(super) fn woken_before(window: &Window<'_>, sample: &Sample) -> WokenBy {
    let marks = window.track.marks().iter().rev();
    let mut before = marks.filter(|mark| mark.at_ns <= sample.wake_ns);
    let waking = before.find_map(|mark| match &mark.what {
        Happened::Waking { from, .. } => Some(woken_by(from)),
        _ => None,
    });
    waking.unwrap_or(WokenBy::Unknown)
}

/// How the loop was woken at this very instant, if it was.
pub(super) fn woken_at(window: &Window<'_>, at_ns: u64) -> Option<WokenBy> {
    let mut marks = window.track.marks().iter();
    marks.find_map(|mark| match &mark.what {
        Happened::Waking { from, .. } if mark.at_ns == at_ns => Some(woken_by(from)),
        _ => None,
    })
}

pub(super) fn woken_by(from: &Context) -> WokenBy {
    match from {
        Context::Timer { deferred: None, .. } => WokenBy::Direct,
        Context::Timer {
            deferred: Some((vector, thread)),
            ..
        } => WokenBy::Deferred {
            vector: *vector,
            thread: thread.clone(),
        },
        Context::Thread(thread) => WokenBy::Thread(thread.clone()),
        Context::Interrupt(_) => WokenBy::Other,
        Context::Unknown => WokenBy::Unknown,
    }
}
