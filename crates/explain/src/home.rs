//! A loop on a CPU that is not its usual one: any disturbance there is due to its move.

use crate::cause::Cause;
use crate::cycle::{Explained, Piece};
use crate::resolve::Raw;
use std::collections::BTreeMap;
use wakepath_timeline::Thread;

/// Of five usual cycles, the number that must be on one CPU for it to be the loop's.
const MOST_OF_FIVE: usize = 4;

/// The CPU that the loop's first cycles were on; `None` if they were on several.
pub(crate) fn usual_cpu(cycles: &[Raw]) -> Option<u16> {
    let mut counts: BTreeMap<u16, usize> = BTreeMap::new();
    for raw in cycles {
        *counts.entry(raw.explained.sample.cpu).or_default() += 1;
    }
    let (cpu, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    (count * 5 >= cycles.len() * MOST_OF_FIVE).then_some(cpu)
}

/// Puts the move in front of what the loop waited for on a CPU that is not its usual one.
pub(crate) fn name_the_move(cycle: &mut Explained, usual: Option<u16>, by: Option<&Thread>) {
    let to = cycle.sample.cpu;
    let Some(from) = usual.filter(|&usual| usual != to) else {
        return;
    };
    for piece in &mut cycle.latency {
        wrap(piece, from, to, by);
    }
    for piece in &mut cycle.execution {
        wrap(piece, from, to, by);
    }
}

fn wrap(piece: &mut Piece, from: u16, to: u16, by: Option<&Thread>) {
    // Disturbances by the CPU affect any thread on it; the loop's own work and waits are the same anywhere.
    if let Cause::Thread { .. } | Cause::NotPreemptible(_) | Cause::RanOn(_) = piece.cause {
        piece.cause = Cause::Moved {
            from,
            to,
            by: by.cloned(),
            then: Box::new(piece.cause.clone()),
        };
    }
}
