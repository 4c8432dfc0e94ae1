//! Memory in which a Python controller's seam leaves the times of its parts: the seam writes while
//! `step` runs, the loop reads and clears it outside the timed region.

use super::tally;
use std::sync::atomic::{AtomicU64, Ordering};
use wakepath_archive::ModuleTimes;

/// Most parts of a controller, and words of each: eight for name, budget, cycles between two runs,
/// time in this cycle, whether it ran. `python_seam.py` has the same numbers.
const MOST: usize = 64;
const WORDS: usize = 12;
const BUDGET: usize = 8;
const EVERY: usize = 9;
const TIME: usize = 10;
const RAN: usize = 11;

/// The memory, which lives as long as the process because Python can access it as long.
#[derive(Clone, Copy)]
pub(super) struct Parts(&'static [[AtomicU64; WORDS]; MOST]);

impl Parts {
    pub(super) fn new() -> Self {
        Self(Box::leak(Box::new(std::array::from_fn(|_| {
            std::array::from_fn(|_| AtomicU64::new(0))
        }))))
    }

    /// Its address and length.
    pub(super) fn memory(self) -> (*mut std::ffi::c_char, usize) {
        (self.0.as_ptr().cast_mut().cast(), size_of_val(self.0))
    }

    /// The parts that were described, in their order.
    pub(super) fn described(self) -> impl Iterator<Item = ModuleTimes> {
        self.0.iter().map_while(|words| {
            let read = |word: usize| words[word].load(Ordering::Relaxed);
            let name: Vec<u8> = (0..BUDGET).flat_map(|at| read(at).to_ne_bytes()).collect();
            let name = String::from_utf8_lossy(&name);
            let name = name.trim_end_matches('\0');
            (!name.is_empty()).then(|| tally::part(name, read(BUDGET), read(EVERY)))
        })
    }

    /// Time of each part since the last call; `None` for one that did not run.
    pub(super) fn take(self) -> impl Iterator<Item = Option<u64>> {
        self.0.iter().map(|words| {
            let ran = words[RAN].swap(0, Ordering::Relaxed) != 0;
            let time_ns = words[TIME].swap(0, Ordering::Relaxed);
            ran.then_some(time_ns)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_the_memory_is_read_and_its_times_are_taken_once() {
        let parts = Parts::new();
        let set = |part: usize, word: usize, to: u64| {
            parts.0[part][word].store(to, Ordering::Relaxed);
        };
        set(0, 0, u64::from_ne_bytes(*b"attitude"));
        for (word, to) in [(BUDGET, 70), (EVERY, 2), (TIME, 30), (RAN, 1)] {
            set(0, word, to);
        }
        let described: Vec<ModuleTimes> = parts.described().collect();
        assert_eq!(described, [tally::part("attitude", 70, 2)]);
        assert_eq!(parts.take().next(), Some(Some(30)));
        assert_eq!(parts.take().next(), Some(None));
        assert_eq!(parts.memory().1, 64 * 96);
    }
}
