//! Shares out the time that pieces took beyond the usual. Pure.

use crate::cause::Cause;
use crate::cycle::Piece;
use std::cmp::Reverse;
use std::ops::Range;

/// Time that the matching pieces take beyond `usual_ns`, if they take more than `allowed_ns` in all; 0 if
/// nothing is usual.
pub(crate) fn excess(
    pieces: &[Piece],
    which: impl Fn(&Piece) -> bool,
    usual_ns: u64,
    allowed_ns: u64,
) -> u64 {
    let total_ns: u64 = pieces
        .iter()
        .filter(|piece| which(piece))
        .map(Piece::ns)
        .sum();
    if total_ns > allowed_ns && usual_ns > 0 {
        total_ns - usual_ns
    } else {
        0
    }
}

/// Gives `excess_ns` of the matching pieces another cause, out of the longest first.
pub(crate) fn give(
    pieces: &mut Vec<Piece>,
    which: impl Fn(&Piece) -> bool,
    mut excess_ns: u64,
    beyond: &Cause,
) {
    let matching = (0..pieces.len()).filter(|&index| which(&pieces[index]));
    let mut longest_first: Vec<usize> = matching.collect();
    longest_first.sort_unstable_by_key(|&index| std::cmp::Reverse((pieces[index].ns(), index)));
    for longest in longest_first {
        if excess_ns == 0 {
            return;
        }
        let piece = &mut pieces[longest];
        if piece.ns() <= excess_ns {
            excess_ns -= piece.ns();
            piece.cause = beyond.clone();
            continue;
        }
        let at = piece.to_ns - excess_ns;
        let rest = Piece {
            from_ns: at,
            cause: beyond.clone(),
            ..piece.clone()
        };
        piece.to_ns = at;
        pieces.insert(longest + 1, rest);
        return;
    }
}

/// Gives another cause to the matching pieces' time in these stretches, which are in order: `most_ns` of it at most, out
/// of the longest first. Returns how much it was.
pub(crate) fn at(
    pieces: &mut Vec<Piece>,
    which: impl Fn(&Piece) -> bool,
    stretches: &[Range<u64>],
    most_ns: u64,
    cause: &Cause,
) -> u64 {
    let mut within = within(pieces, &which, stretches);
    within.sort_unstable_by_key(|of| (Reverse(of.end - of.start), of.start));
    let mut left_ns = most_ns;
    for of in &mut within {
        of.end = of.end.min(of.start + left_ns);
        left_ns -= of.end - of.start;
    }
    within.retain(|of| of.start < of.end);
    within.sort_unstable_by_key(|of| of.start);
    let mut cuts = within.iter().peekable();
    for piece in std::mem::take(pieces) {
        let mut at_ns = piece.from_ns;
        let part = |from_ns, to_ns, cause: &Cause| Piece {
            from_ns,
            to_ns,
            cause: cause.clone(),
            ..piece.clone()
        };
        while let Some(cut) = cuts.next_if(|cut| which(&piece) && cut.end <= piece.to_ns) {
            if cut.start > at_ns {
                pieces.push(part(at_ns, cut.start, &piece.cause));
            }
            pieces.push(part(cut.start, cut.end, cause));
            at_ns = cut.end;
        }
        if at_ns < piece.to_ns {
            pieces.push(part(at_ns, piece.to_ns, &piece.cause));
        }
    }
    most_ns - left_ns
}

/// The parts of some stretches that the matching pieces have, each in one piece, in order.
fn within(
    pieces: &[Piece],
    which: impl Fn(&Piece) -> bool,
    stretches: &[Range<u64>],
) -> Vec<Range<u64>> {
    let mut found = Vec::new();
    for piece in pieces.iter().filter(|piece| which(piece)) {
        let first = stretches.partition_point(|of| of.end <= piece.from_ns);
        let since = stretches[first..].iter();
        let until = since.take_while(|of| of.start < piece.to_ns);
        found.extend(until.map(|of| of.start.max(piece.from_ns)..of.end.min(piece.to_ns)));
    }
    found
}
