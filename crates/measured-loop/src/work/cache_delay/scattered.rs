//! A working set traversed line by line in an order that no prefetcher guesses.
//!
//! Each line contains the index of the next, and is written. Every miss is waited for in full, so
//! that no program with as many lines loses more for each.

use wakepath_rt::clock;

/// One cache line on every target that wakepath runs on.
#[repr(align(64))]
#[derive(Clone, Copy)]
struct Line {
    next: u32,
    visits: u32,
}

pub(super) struct Scattered {
    lines: Vec<Line>,
    at: u32,
}

impl Scattered {
    /// All lines in one circle, drawn by Sattolo's algorithm; the same in every run.
    pub(super) fn new(bytes: u64) -> Self {
        let count = u32::try_from(bytes.div_ceil(64)).unwrap_or(u32::MAX);
        let mut next: Vec<u32> = (0..count).collect();
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for last in (1..next.len()).rev() {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            next.swap(last, (state % last as u64) as usize);
        }
        let line = |next| Line { next, visits: 0 };
        Self {
            lines: next.into_iter().map(line).collect(),
            at: 0,
        }
    }

    /// Visits every line once; how long that took, in nanoseconds.
    pub(super) fn run(&mut self) -> u64 {
        let begin_ns = clock::monotonic_ns();
        let mut at = self.at as usize;
        for _ in 0..self.lines.len() {
            let line = &mut self.lines[at];
            line.visits = line.visits.wrapping_add(1);
            at = line.next as usize;
        }
        // Continuing at its last place keeps the compiler from removing any of it.
        self.at = std::hint::black_box(at) as u32;
        clock::monotonic_ns().saturating_sub(begin_ns)
    }

    /// Time by which a run exceeds the shorter of two runs right after it, at least 0, and that
    /// shorter one. A delay of one of the two, such as an interrupt, can't make the run look
    /// faster.
    pub(super) fn longer_than_warm(&mut self) -> (u64, u64) {
        let first_ns = self.run();
        let warm_ns = self.run().min(self.run());
        (first_ns.saturating_sub(warm_ns), warm_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_visited_once_in_a_run_and_lies_alone() {
        for (bytes, lines) in [(0, 0), (1, 1), (64, 1), (65, 2), (64 * 1000, 1000)] {
            let mut set = Scattered::new(bytes);
            set.run();
            set.run();
            assert_eq!(set.lines.len(), lines);
            assert!(set.lines.iter().all(|line| line.visits == 2), "{bytes} B");
        }
        assert_eq!(size_of::<Line>(), 64);
    }

    #[test]
    fn the_next_line_is_rarely_the_one_beside_it() {
        let set = Scattered::new(64 * 1000);
        let near = (0..).zip(&set.lines);
        let near = near.filter(|(at, line)| line.next.abs_diff(*at) <= 2_u32);
        assert!(near.count() < 20);
    }
}
