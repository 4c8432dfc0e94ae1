//! Every proved cell of the matrix, played: random sets with its two features are analysed, and a machine
//! that shares no code with the analyses runs them. No job may end later than its bound.

mod campaign;
mod jobs;
mod ledger;
mod machine;
mod sets;
mod setting;
mod witnesses;

/// Random numbers of its own: a 64-bit xorshift with a multiplier (Vigna 2016).
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        let mut dice = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..4 {
            dice.next();
        }
        dice
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// From 0 to `below` less 1.
    pub fn below(&mut self, below: u64) -> u64 {
        (self.next() >> 11) % below.max(1)
    }

    /// From `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True `percent` times in a hundred.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}
