//! A loop on a CPU that is not its usual one because someone changed its CPUs: other threads there keep it waiting
//! because of the move.

use crate::cause::{Cause, is_stopper};
use crate::cycle::Explained;
use crate::placement::{Move, Placed};
use crate::resolve::Raw;
use std::collections::BTreeMap;

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

/// Puts the move in front of what the loop met on a CPU that is not its usual one, if its CPUs were changed; the time in
/// which the stopper takes it off its usual one is the move's too.
pub(crate) fn name_the_move(cycle: &mut Explained, usual: Option<u16>, placed: &Placed) {
    let Some(from) = usual else { return };
    for piece in cycle.latency.iter_mut().chain(&mut cycle.execution) {
        let moved = match &piece.cause {
            Cause::Thread { thread, .. } if is_stopper(thread) => {
                let left = placed.leaves(from, piece.from_ns, piece.to_ns);
                left.or_else(|| placed.moved(from, piece.to_ns))
            }
            // Disturbances by the CPU affect any thread on it; the loop's own work and waits are the same anywhere.
            Cause::Thread { .. } | Cause::NotPreemptible(_) | Cause::RanOn(_) => {
                placed.moved(from, piece.to_ns)
            }
            _ => None,
        };
        if let Some(Move { to, by }) = moved {
            piece.cause = Cause::Moved {
                from,
                to,
                by,
                then: Box::new(piece.cause.clone()),
            };
        }
    }
}
