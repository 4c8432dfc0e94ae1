//! A cycle's time by cause: for a wait behind many short runs of one program the reader wants not each of
//! them, but their sum.

use crate::cause::Cause;
use crate::cycle::{Explained, Piece, Stretch};

/// One cause's share of a stretch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    /// Part of the wake-up path.
    pub stretch: Stretch,
    /// Why; without thread numbers where several threads of a name are put together.
    pub cause: Cause,
    /// In how many pieces.
    pub times: u64,
    /// Their time, in nanoseconds.
    pub ns: u64,
}

/// Pieces by stretch, in the order of the path, and by cause, the largest share first.
pub fn shares(pieces: &[Piece]) -> Vec<Share> {
    let mut shares: Vec<(Cause, Share)> = Vec::new();
    for piece in pieces {
        let grouped = piece.cause.grouped();
        let mut same = shares.iter_mut();
        match same.find(|(of, share)| *of == grouped && share.stretch == piece.stretch) {
            Some((_, share)) => {
                if share.cause != piece.cause {
                    share.cause = grouped;
                }
                share.times += 1;
                share.ns += piece.ns();
            }
            None => shares.push((
                grouped,
                Share {
                    stretch: piece.stretch,
                    cause: piece.cause.clone(),
                    times: 1,
                    ns: piece.ns(),
                },
            )),
        }
    }
    let mut shares: Vec<Share> = shares.into_iter().map(|(_, share)| share).collect();
    shares.sort_by_cached_key(|share| (share.stretch, std::cmp::Reverse(share.ns)));
    shares
}

impl Explained {
    /// The cause that took most of the latency beyond the usual, in all its pieces together, and its time in
    /// nanoseconds.
    pub fn main_cause(&self) -> Option<(Cause, u64)> {
        let mut sums: Vec<(Cause, u64)> = Vec::new();
        for piece in self.latency.iter().filter(|piece| !piece.cause.is_usual()) {
            let cause = piece.cause.grouped();
            match sums.iter_mut().find(|(of, _)| *of == cause) {
                Some((_, ns)) => *ns += piece.ns(),
                None => sums.push((cause, piece.ns())),
            }
        }
        sums.into_iter().max_by_key(|(_, ns)| *ns)
    }
}
