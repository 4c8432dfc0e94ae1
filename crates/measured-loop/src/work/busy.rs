//! Work that only spends CPU time, for tasks with a known execution time.

use wakepath_rt::clock::thread_cpu_ns;

/// Rounds of arithmetic between two looks at the clock, a few hundred nanoseconds.
const ROUNDS: u64 = 200;

/// Spends this CPU time in each cycle.
pub(crate) struct Busy {
    ns: u64,
    sum: u64,
}

impl Busy {
    pub(super) fn new(ns: u64) -> Self {
        Self { ns, sum: 1 }
    }

    /// Computes until this thread has used its CPU time; preemption doesn't count.
    #[inline]
    pub(super) fn step(&mut self) {
        let until = thread_cpu_ns().saturating_add(self.ns);
        while thread_cpu_ns() < until {
            for _ in 0..ROUNDS {
                self.sum = std::hint::black_box(self.sum.wrapping_mul(6_364_136_223_846_793_005));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_its_cpu_time_and_little_more() {
        let mut busy = Busy::new(2_000_000);
        let before = thread_cpu_ns();
        busy.step();
        let taken = thread_cpu_ns() - before;
        assert!((2_000_000..3_000_000).contains(&taken), "{taken} ns");
    }
}
