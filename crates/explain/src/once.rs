//! Counts time once, however many cycles it holds up: all that wait for a late one wait at the same time.

use crate::cycle::Piece;
use std::borrow::Cow;
use std::ops::Range;

/// Time that was counted, in nanoseconds on `CLOCK_MONOTONIC`.
#[derive(Debug, Default)]
pub(crate) struct Once {
    /// Ascending and apart.
    counted: Vec<Range<u64>>,
}

impl Once {
    /// The parts of a cycle's pieces that were not counted before; they are from now on. Cycles come in the order of their
    /// due times, and their pieces in order.
    pub fn take<'a>(&mut self, pieces: &'a [Piece]) -> Cow<'a, [Piece]> {
        let from_ns = pieces.first().map_or(0, |piece| piece.from_ns);
        self.counted.retain(|of| of.end > from_ns);
        if self.counted.is_empty() {
            self.add(pieces);
            return pieces.into();
        }
        let mut left = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let mut at_ns = piece.from_ns;
            let since = self.counted.partition_point(|of| of.end <= at_ns);
            let within = self.counted[since..].iter();
            for of in within.take_while(|of| of.start < piece.to_ns) {
                left.extend(part(piece, at_ns, of.start));
                at_ns = of.end;
            }
            left.extend(part(piece, at_ns, piece.to_ns));
        }
        self.add(&left);
        left.into()
    }

    fn add(&mut self, pieces: &[Piece]) {
        let times = pieces.iter().map(|of| of.from_ns..of.to_ns);
        self.counted.extend(times);
        self.counted.sort_unstable_by_key(|of| of.start);
        self.counted.dedup_by(|next, before| {
            let is_next = next.start <= before.end;
            if is_next {
                before.end = before.end.max(next.end);
            }
            is_next
        });
    }
}

fn part(piece: &Piece, from_ns: u64, to_ns: u64) -> Option<Piece> {
    (from_ns < to_ns).then(|| Piece {
        from_ns,
        to_ns,
        ..piece.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cause::Cause;
    use crate::cycle::Stretch;

    fn pieces(ends: &[(u64, u64)]) -> Vec<Piece> {
        let piece = |&(from_ns, to_ns): &(u64, u64)| Piece {
            from_ns,
            to_ns,
            stretch: Stretch::DueToInterrupt,
            cause: Cause::NothingRan,
        };
        ends.iter().map(piece).collect()
    }

    #[test]
    fn cycles_that_wait_for_the_same_end_count_it_once() {
        let mut once = Once::default();
        let mut take = |ends: &[(u64, u64)]| {
            let pieces = pieces(ends);
            let taken = once.take(&pieces);
            taken
                .iter()
                .map(|of| (of.from_ns, of.to_ns))
                .collect::<Vec<_>>()
        };
        assert_eq!(take(&[(0, 10), (20, 40)]), [(0, 10), (20, 40)]);
        assert_eq!(take(&[(5, 30), (30, 45)]), [(10, 20), (40, 45)]);
        assert_eq!(take(&[(15, 45)]), []);
        assert_eq!(take(&[(44, 46), (60, 61)]), [(45, 46), (60, 61)]);
    }
}
