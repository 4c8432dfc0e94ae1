//! Reads one cache line of a working set after another, each address from the previous line.
//!
//! This measures the latency of a memory access, not the bandwidth. IsolBench's `latency` (Valsan,
//! Yun and Farshchi, RTAS 2016).

use crate::counters::Slot;
use crate::ended::Ended;
use std::hint::black_box;

/// Bytes of a cache line on the supported processors. With longer lines, two links share one.
const LINE: usize = 64;
/// Accesses between two counts.
const CHUNK: u32 = 4096;

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line {
    next: u32,
}

/// Follows the links through `bytes` until it is killed; counts accesses.
pub(crate) fn run(counter: &Slot, bytes: u64) -> Result<std::convert::Infallible, Ended> {
    let count = u32::try_from(bytes / LINE as u64).map_err(|_| Ended::TooMany { bytes })?;
    let lines = linked(count.max(1));
    let mut at = 0;
    loop {
        for _ in 0..CHUNK {
            at = lines[at as usize].next;
        }
        at = black_box(at);
        counter.add(u64::from(CHUNK));
    }
}

/// All lines in one cycle, in an order that no prefetcher predicts: Sattolo's shuffle (Information
/// Processing Letters 22, 1986), with a fixed seed, so that each run takes the same path.
fn linked(count: u32) -> Vec<Line> {
    let mut lines: Vec<Line> = (0..count).map(|next| Line { next }).collect();
    let mut state: u64 = 0x9E37_79B9_7F4A_7C15;
    for at in (1..count as usize).rev() {
        // xorshift64 (Marsaglia, Journal of Statistical Software 8, 2003).
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let other = (state % at as u64) as usize;
        let next = lines[at].next;
        lines[at].next = lines[other].next;
        lines[other].next = next;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read_once_before_any_is_read_again() {
        assert_eq!(size_of::<Line>(), LINE);
        for count in [1, 2, 3, 1000] {
            let lines = linked(count);
            let mut seen = vec![false; count as usize];
            let mut at = 0;
            for _ in 0..count {
                assert!(!std::mem::replace(&mut seen[at as usize], true));
                at = lines[at as usize].next;
            }
            assert_eq!(at, 0);
        }
    }
}
