//! Names the functions in which the loop's own code ran longer than usual, from the instants at which the kernel's ticks
//! interrupted it. Pure.

use crate::cause::{Cause, RanIn};
use crate::cycle::Piece;
use crate::stacks::Place;
use std::sync::Arc;

/// Splits the loop's own code beyond the usual by the functions that it was seen in: each reaches half of the way to the
/// next instant at which the loop was seen. What ran before or after a call or a wait says nothing about the other side.
pub(crate) fn name(pieces: &mut Vec<Piece>, seen: &[(u64, Arc<Place>)]) {
    let all = std::mem::take(pieces);
    for group in all.split_inclusive(|piece| parts(&piece.cause)) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else {
            continue;
        };
        let from = seen.partition_point(|(at_ns, _)| *at_ns < first.from_ns);
        let to = seen.partition_point(|(at_ns, _)| *at_ns < last.to_ns);
        let seen = seen.get(from..to).unwrap_or_default();
        for piece in group {
            match (&piece.cause, seen) {
                (Cause::UserCode(_), [_, ..]) => split(piece, seen, pieces),
                _ => pieces.push(piece.clone()),
            }
        }
    }
}

/// Whether the loop left its code there by itself.
fn parts(cause: &Cause) -> bool {
    matches!(
        cause,
        Cause::SystemCall(_)
            | Cause::Blocked(_)
            | Cause::Halted(_)
            | Cause::Awaiting
            | Cause::OtherWork(_)
            | Cause::NoEvents
            | Cause::EventsLost
    )
}

fn split(piece: &Piece, seen: &[(u64, Arc<Place>)], into: &mut Vec<Piece>) {
    let mut from_ns = piece.from_ns;
    for (at, (at_ns, place)) in seen.iter().enumerate() {
        let next = seen.get(at + 1);
        if next.is_some_and(|(_, next)| next.function == place.function) {
            continue;
        }
        let until_ns = next.map_or(u64::MAX, |(next_ns, _)| at_ns.midpoint(*next_ns));
        let to_ns = until_ns.min(piece.to_ns);
        if to_ns > from_ns {
            into.push(Piece {
                from_ns,
                to_ns,
                cause: Cause::UserCode(RanIn::Function(Arc::clone(place))),
                ..piece.clone()
            });
            from_ns = to_ns;
        }
    }
}
