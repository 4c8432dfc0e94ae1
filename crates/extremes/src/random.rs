//! Numbers drawn from a seed, for the resampling of fitted tails: the same seed draws the same, on
//! every machine and however many threads work. It is no source of secrets.

use wakepath_statistics::SplitMix;

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub struct Random(SplitMix);

impl Random {
    /// The stream of a seed and a number: one stream for each resample, whoever draws it.
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

    /// How many of `trials` succeed with `probability` each: exact, by the geometric gaps between
    /// successes, in a time that grows with the successes alone.
    pub fn binomial(&mut self, trials: u64, probability: f64) -> u64 {
        if probability >= 1.0 {
            return trials;
        }
        let rate = -(-probability).ln_1p();
        if rate <= 0.0 {
            return 0;
        }
        let (mut at, mut successes) = (0.0, 0);
        loop {
            at += (self.exponential() / rate).floor() + 1.0;
            if at > trials as f64 {
                return successes;
            }
            successes += 1;
        }
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

    #[test]
    fn successes_have_the_binomial_mean_and_variance() {
        let mut random = Random::stream(7, 0);
        let counts: Vec<f64> = (0..4000)
            .map(|_| random.binomial(200, 0.3) as f64)
            .collect();
        let mean = counts.iter().sum::<f64>() / 4000.0;
        let variance = counts.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 3999.0;
        // Standard errors: 0.1 of the mean, 0.94 of the variance.
        assert!((mean - 60.0).abs() < 0.5, "{mean}");
        assert!((variance - 42.0).abs() < 4.5, "{variance}");
        assert_eq!(random.binomial(9, 1.0), 9);
        assert_eq!(random.binomial(9, 0.0), 0);
    }
}
