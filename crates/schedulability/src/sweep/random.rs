//! Random numbers that are found again: each set of a sweep has a stream of its own, keyed by the
//! sweep's seed, its point and its number, so that nothing depends on who makes it when.

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Debug, Clone)]
pub struct Random(u64);

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

impl Random {
    /// The stream of one set.
    pub fn of(seed: u64, point: u64, index: u64) -> Self {
        let key = [seed, point, index]
            .iter()
            .fold(0, |key, part| mixed(key ^ mixed(part.wrapping_add(STEP))));
        Self(key)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mixed(self.0)
    }

    /// A number between 0 and 1, neither of them reached.
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_their_keys_and_nothing_else() {
        let first = |seed, point, index| Random::of(seed, point, index).bits();
        assert_eq!(first(1, 2, 3), first(1, 2, 3));
        let keys = [(1, 2, 3), (1, 3, 2), (2, 1, 3), (3, 2, 1), (0, 0, 0)];
        for (place, a) in keys.iter().enumerate() {
            for b in &keys[place + 1..] {
                assert_ne!(first(a.0, a.1, a.2), first(b.0, b.1, b.2));
            }
        }
    }

    #[test]
    fn numbers_fill_the_interval_evenly() {
        // One number of each of many streams: neighbours must not resemble each other.
        let mut counts = [0_u32; 16];
        for index in 0..160_000 {
            counts[(Random::of(7, 0, index).unit() * 16.0) as usize] += 1;
        }
        let squares = counts.map(|count| (f64::from(count) - 1e4).powi(2) / 1e4);
        // The 99.9th percentile of chi-squared with 15 degrees of freedom.
        assert!(squares.iter().sum::<f64>() < 37.7, "{counts:?}");
    }
}
