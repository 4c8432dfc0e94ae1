//! Numbers drawn from a seed, for simulations: the same seed draws the same, on
//! every machine and however many threads work. It is no source of secrets.

use wakepath_statistics::SplitMix;

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub struct Random(SplitMix);

impl Random {
    /// The stream of a seed and a number: one stream for each sample, whichever thread draws it.
    pub fn stream(seed: u64, number: u64) -> Self {
        let mut first = SplitMix::from_state(seed ^ number.wrapping_mul(0xd134_2543_de82_ef95));
        Self(SplitMix::from_state(first.bits()))
    }

    /// Between 0 and 1, neither of them included.
    pub fn unit(&mut self) -> f64 {
        self.0.unit()
    }

    /// From the exponential distribution of mean 1.
    pub fn exponential(&mut self) -> f64 {
        -self.unit().ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_repeats_and_differs_from_its_neighbour() {
        let draw = |seed, number| {
            let mut random = Random::stream(seed, number);
            [random.unit(), random.unit()]
        };
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2), draw(1, 3));
        assert_ne!(draw(1, 2), draw(2, 2));
    }
}
