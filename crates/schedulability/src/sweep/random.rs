//! Random numbers that are found again: each set of a sweep has a stream of its own, keyed by the
//! sweep's seed, its point and its number, so that nothing depends on who makes it when.

use wakepath_statistics::SplitMix;

/// The stream of one set.
#[derive(Debug, Clone)]
pub struct Random(SplitMix);

impl Random {
    /// The stream of one set.
    pub fn new(seed: u64, point: u64, index: u64) -> Self {
        Self(SplitMix::of_key(&[seed, point, index]))
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// A number between 0 and 1, neither of them reached.
    pub fn unit(&mut self) -> f64 {
        self.0.unit()
    }
}
