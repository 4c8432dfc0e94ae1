//! Stays off the CPU by thread and stack, bounded: of a stack that a thread has often, the longest.

use std::collections::HashMap;
use wakepath_explain::Stay;

/// Stays kept of one stack of a thread at first, twice as many for a while; fewer once there are too many stacks.
const MOST_OF_STACK: usize = 2048;
const LEAST_OF_STACK: usize = 16;
/// Pairs of thread and stack.
const MOST_PAIRS: usize = 8192;
/// Stays in all.
const MOST: usize = 400_000;

/// The stays so far.
#[derive(Debug)]
pub(crate) struct Stays {
    by_stack: HashMap<(u32, u32), Vec<Stay>>,
    of_stack: usize,
    held: usize,
    pub(crate) left_out: u64,
}

impl Default for Stays {
    fn default() -> Self {
        Self {
            by_stack: HashMap::new(),
            of_stack: MOST_OF_STACK,
            held: 0,
            left_out: 0,
        }
    }
}

impl Stays {
    pub(crate) fn add(&mut self, stay: Stay) {
        let pair = (stay.thread, stay.stack);
        if self.by_stack.len() == MOST_PAIRS && !self.by_stack.contains_key(&pair) {
            self.left_out += 1;
            return;
        }
        let stays = self.by_stack.entry(pair).or_default();
        stays.push(stay);
        self.held += 1;
        if stays.len() >= 2 * self.of_stack {
            let gone = shorten(stays, self.of_stack);
            self.leave_out(gone);
        }
        while self.held >= MOST && self.of_stack > LEAST_OF_STACK {
            self.of_stack /= 2;
            self.shorten_all();
        }
    }

    /// All of them, in the order of time, and how many are left out.
    pub(crate) fn all(mut self) -> (Vec<Stay>, u64) {
        self.shorten_all();
        let mut all: Vec<Stay> = self.by_stack.into_values().flatten().collect();
        all.sort_unstable_by_key(|of| (of.from_ns, of.thread));
        (all, self.left_out)
    }

    fn shorten_all(&mut self) {
        let stacks = self.by_stack.values_mut();
        let gone = stacks.map(|stays| shorten(stays, self.of_stack)).sum();
        self.leave_out(gone);
    }

    fn leave_out(&mut self, gone: usize) {
        self.held -= gone;
        self.left_out += gone as u64;
    }
}

/// Keeps the longest; returns how many are gone.
fn shorten(stays: &mut Vec<Stay>, most: usize) -> usize {
    let more = stays.len().saturating_sub(most);
    if more > 0 {
        stays.select_nth_unstable_by_key(most, |of| std::cmp::Reverse(of.to_ns - of.from_ns));
        stays.truncate(most);
    }
    more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_stack_that_comes_often_the_longest_stays_are_kept_and_the_others_counted() {
        let mut stays = Stays::default();
        for number in 0..10_000_u64 {
            let length = if number == 17 { 1_000_000 } else { number % 50 };
            let from_ns = number * 10_000_000;
            stays.add((1, from_ns, from_ns + length, 3).into());
        }
        stays.add((2, 5, 6, 3).into());
        let (all, left_out) = stays.all();
        assert_eq!(all.len(), MOST_OF_STACK + 1);
        assert_eq!(left_out, 10_000 - MOST_OF_STACK as u64);
        assert!(all.iter().any(|of| of.to_ns - of.from_ns == 1_000_000));
        assert!(all.iter().any(|of| of.thread == 2));
        assert!(all.is_sorted_by_key(|of| of.from_ns));
    }

    #[test]
    fn of_many_stacks_fewer_stays_of_each_are_kept() {
        let mut stays = Stays::default();
        for number in 0..600_000_u64 {
            stays.add((1, number * 1000, number * 1000 + 10, (number % 300) as u32).into());
        }
        let (all, left_out) = stays.all();
        assert!(all.len() < MOST && all.len() > MOST / 8, "{}", all.len());
        assert_eq!(all.len() as u64 + left_out, 600_000);
    }
}
