//! Numbers drawn from a seed: the same on every machine. Which stream is whose, and what is drawn from
//! them, is not known here, and it is no source of secrets.

/// From one state to the next.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Debug, Clone)]
pub struct SplitMix(u64);

impl SplitMix {
    /// From a state: neighbouring ones draw numbers that don't resemble each other, but two that are
    /// a few steps apart draw the same ones.
    pub fn from_state(state: u64) -> Self {
        Self(state)
    }

    /// From a key of several parts: each makes another stream.
    pub fn of_key(parts: &[u64]) -> Self {
        let mix = |key, part: &u64| mixed(key ^ mixed(part.wrapping_add(STEP)));
        Self(parts.iter().fold(0, mix))
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

fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_published_generator() {
        // Of the seed 1234567, as several published implementations print them.
        let mut random = SplitMix::from_state(1_234_567);
        let found: [u64; 3] = std::array::from_fn(|_| random.bits());
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn streams_are_their_keys_and_nothing_else() {
        let first = |key: [u64; 3]| SplitMix::of_key(&key).bits();
        assert_eq!(first([1, 2, 3]), first([1, 2, 3]));
        let keys = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [3, 2, 1], [0, 0, 0]];
        for (place, a) in keys.iter().enumerate() {
            for b in &keys[place + 1..] {
                assert_ne!(first(*a), first(*b));
            }
        }
    }

    #[test]
    fn numbers_fill_the_interval_evenly() {
        // One number of each of many streams: neighbours must not resemble each other.
        let mut counts = [0_u32; 16];
        for index in 0..160_000 {
            counts[(SplitMix::of_key(&[7, 0, index]).unit() * 16.0) as usize] += 1;
        }
        let squares = counts.map(|count| (f64::from(count) - 1e4).powi(2) / 1e4);
        // The 99.9th percentile of chi-squared with 15 degrees of freedom.
        assert!(squares.iter().sum::<f64>() < 37.7, "{counts:?}");
    }
}
