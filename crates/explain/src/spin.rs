//! A loop that runs until it is throttled, while a thread of the same process is ready on its CPU; once that
//! has run, the loop's cycle ends soon. This is the pattern of spinning on something that the other thread
//! holds.

use crate::cause::Cause;
use crate::cycle::Piece;
use wakepath_timeline::Thread;

/// Own work before the other ran against that after it.
const TIMES: u64 = 20;
/// Own work before the other ran, in nanoseconds: less is no run that throttling ends.
const LEAST_NS: u64 = 10_000_000;

/// The thread that a cycle may have spun for, from the pieces of its work. `is_sibling`: whether a
/// thread is of the loop's process; `ready_ns`: for how long it was ready between two instants.
pub(crate) fn spins_for(
    pieces: &[Piece],
    is_sibling: impl Fn(&Thread) -> bool,
    ready_ns: impl Fn(&Thread, u64, u64) -> u64,
) -> Option<Thread> {
    let instead = |piece: &Piece| match &piece.cause {
        Cause::Throttled {
            instead: Some(thread),
            ..
        } => Some(thread.clone()),
        _ => None,
    };
    let last = pieces
        .iter()
        .rposition(|piece| instead(piece).is_some_and(|thread| is_sibling(&thread)))?;
    let thread = instead(&pieces[last])?;
    let own_ns = |pieces: &[Piece]| -> u64 {
        let own = pieces.iter().filter(|piece| crate::work::is(piece));
        own.map(Piece::ns).sum()
    };
    let (before_ns, after_ns) = (own_ns(&pieces[..last]), own_ns(&pieces[last..]));
    if before_ns < LEAST_NS || before_ns < TIMES * after_ns {
        return None;
    }
    // Anything that ran when it was throttled before that is irrelevant.
    let is_throttled = |piece: &Piece| matches!(piece.cause, Cause::Throttled { .. });
    let first = pieces.iter().position(is_throttled)?;
    let (from_ns, to_ns) = (pieces.first()?.from_ns, pieces[first].from_ns);
    let was_ready = ready_ns(&thread, from_ns, to_ns) >= (to_ns - from_ns) / 10 * 9;
    was_ready.then_some(thread)
}
