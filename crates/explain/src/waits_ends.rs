//! The wake-up that ends a wait within a cycle's work: it is a part of that wait, since without it there would be none.

use crate::cause::Cause;
use crate::cycle::Piece;

/// Gives what follows a wait the wait's cause: the wake-up's own work, and the switch in another thread's name if it took
/// no longer than `switch_ns`.
pub(crate) fn give(pieces: &mut [Piece], switch_ns: u64) {
    for at in 1..pieces.len() {
        let (before, rest) = pieces.split_at_mut(at);
        let (Some(wait), Some(piece)) = (before.last(), rest.first_mut()) else {
            return;
        };
        let is_wait = matches!(
            wait.cause,
            Cause::Blocked(_)
                | Cause::PageFault
                | Cause::PageCopy(_)
                | Cause::PageWait(_)
                | Cause::Halted(_)
        );
        let is_end = match &piece.cause {
            Cause::Path => true,
            Cause::NotPreemptible(_) | Cause::RanOn(_) | Cause::IdleExit { .. } => {
                piece.ns() <= switch_ns
            }
            _ => false,
        };
        if is_wait && is_end && piece.from_ns == wait.to_ns {
            piece.cause = wait.cause.clone();
        }
    }
}
