//! A cycle of a watched thread may hold more than the cycle's own work: from one of its wake-ups to
//! the next the thread may wait for any event, be woken by something else than its timer, and serve
//! that. Such a wait costs nothing, and what follows it is not the cycle's work.

use crate::call::Call;
use crate::cause::Cause;
use crate::cycle::Piece;
use crate::wait::{Meanwhile, Source, Wait};

/// Calls by which a thread waits for whichever of several events comes first.
const OF_ANY_EVENT: [&str; 11] = [
    "epoll_wait",
    "epoll_pwait",
    "epoll_pwait2",
    "poll",
    "ppoll",
    "select",
    "_newselect",
    "pselect6",
    "ppoll_time64",
    "pselect6_time64",
    "rt_sigtimedwait",
];

/// Whether a cycle holds such a wait that something else than a timer ended.
pub(crate) fn is_in(pieces: &[Piece]) -> bool {
    pieces.iter().any(|piece| source(piece).is_some())
}

/// Names the waits and what follows them.
pub(crate) fn name(pieces: &mut [Piece]) {
    let mut serves = None;
    for piece in pieces {
        match (source(piece), &piece.cause) {
            (Some(source), _) => {
                serves = Some(source);
                piece.cause = Cause::Awaiting;
            }
            (None, Cause::OwnCode | Cause::SystemCall(_)) => {
                if let Some(source) = &serves {
                    piece.cause = Cause::OtherWork(source.clone());
                }
            }
            _ => {}
        }
    }
}

/// What ended a wait for any event, if that was no timer.
fn source(piece: &Piece) -> Option<Source> {
    let Cause::Blocked(wait) = &piece.cause else {
        return None;
    };
    let Wait {
        chain, meanwhile, ..
    } = wait;
    if !wait.call.as_ref().is_some_and(is_of_any_event) {
        return None;
    }
    match (chain.first(), meanwhile) {
        (Some(waker), _) => Some(Source::Thread(waker.clone())),
        (None, Meanwhile::Device(handler)) => Some(Source::Handler(handler.clone())),
        _ => None,
    }
}

/// Whether a thread waits in this call for whichever of several events comes first.
pub(crate) fn is_of_any_event(call: &Call) -> bool {
    OF_ANY_EVENT.contains(&&*call.name)
}
