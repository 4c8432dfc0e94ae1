//! Times that were programmed on a clock that counts from 1970, moved onto `CLOCK_MONOTONIC`. How far
//! the two are apart no event shows; it follows from the timers, which expire no earlier than they were
//! programmed for.

use super::activation::Activation;

/// A timer that expires later than this against those around it was not late: the clock was set. In
/// nanoseconds.
const STEP_NS: u64 = 2_000_000;
/// Number of expiries that show how far the clocks are apart.
const NEXT: usize = 8;

/// Fills in the programmed times of the activations that have one on a clock that counts from 1970.
/// Returns by how much that clock was set in between, in nanoseconds. The earliest callback between
/// two steps counts as exactly on time, so that latencies are short by its lateness: some microseconds.
pub(super) fn onto_monotonic(activations: &mut [Activation]) -> Vec<i64> {
    let walls: Vec<(usize, u64)> = (0..)
        .zip(activations.iter())
        .filter_map(|(at, of)| Some((at, of.wall_ns?.saturating_sub(of.expiry_ns))))
        .collect();
    let mut steps = Vec::new();
    let mut before: Option<u64> = None;
    let mut from = 0;
    while from < walls.len() {
        let (to, ahead_ns) = between_steps(&walls, from);
        for &(at, _) in &walls[from..to] {
            let of = &mut activations[at];
            of.programmed_ns = of.wall_ns.map(|wall| wall.saturating_sub(ahead_ns));
        }
        steps.extend(before.map(|before| ahead_ns.wrapping_sub(before).cast_signed()));
        before = Some(ahead_ns);
        from = to;
    }
    steps
}

/// One past the last activation before the clock is set again, and how far it is ahead until then.
fn between_steps(walls: &[(usize, u64)], from: usize) -> (usize, u64) {
    let most = |from: usize| {
        let next = walls.iter().skip(from).take(NEXT);
        next.map(|(_, ahead)| *ahead).max().unwrap_or(0)
    };
    let mut ahead_ns = most(from);
    let mut to = from + 1;
    while to < walls.len() {
        let next = most(to);
        if ahead_ns.saturating_sub(next) > STEP_NS {
            break;
        }
        if walls[to].1.saturating_sub(ahead_ns) > STEP_NS {
            break;
        }
        if next.saturating_sub(ahead_ns) <= STEP_NS {
            ahead_ns = ahead_ns.max(next);
        }
        to += 1;
    }
    (to, ahead_ns)
}
