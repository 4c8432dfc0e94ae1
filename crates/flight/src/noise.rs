//! Seeded disturbances: a torque noise that only depends on time and seed.
//!
//! So two flights with different timing suffer the same gusts. Only integers and additions, so the
//! same on every machine; no state, no clock.

/// Noise is constant within slots of this length, ns, counted from the start of the flight.
pub const SLOT_NS: u64 = 1_000_000;

/// A well-mixed number for each (seed, counter): the finaliser of SplitMix64 (Steele, Lea, Flood
/// 2014) over a Weyl sequence.
pub fn mixed(seed: u64, counter: u64) -> u64 {
    let finalise = |mut z: u64| {
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    // The seed is mixed too, or neighbouring seeds would share shifted sequences.
    finalise(
        finalise(seed ^ 0x5851_F42D_4C95_7F2D)
            .wrapping_add(counter.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15)),
    )
}

/// Uniform within [0, 1) for each (seed, counter).
pub fn uniform(seed: u64, counter: u64) -> f64 {
    (mixed(seed, counter) >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Nearly normal with mean 0 and standard deviation 1 for each (seed, counter): the sum of twelve
/// uniform 16-bit numbers (Irwin–Hall), within ±6.
pub fn normal(seed: u64, counter: u64) -> f64 {
    let sum: u64 = (0..3)
        .map(|n| mixed(seed, counter.wrapping_mul(3).wrapping_add(n)))
        .map(|z| (z & 0xFFFF) + (z >> 16 & 0xFFFF) + (z >> 32 & 0xFFFF) + (z >> 48))
        .sum();
    // Twelve numbers of mean 32767.5 and variance (2³² − 1)/12 each.
    (sum as f64 - 12.0 * 32_767.5) / 65_536.0
}

/// White torque noise, independent on the three body axes, constant within each slot.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TorqueNoise {
    /// Standard deviation of the angular acceleration it causes, rad/s².
    pub rad_s2: f64,
    /// Seed; the same seed gives the same noise.
    pub seed: u64,
}

impl TorqueNoise {
    /// Torque in the body, N m, during the slot that contains `at_ns`.
    pub fn torque(&self, inertia: [f64; 3], at_ns: u64) -> [f64; 3] {
        let slot = at_ns / SLOT_NS;
        std::array::from_fn(|axis| {
            inertia[axis] * self.rad_s2 * normal(self.seed, 3 * slot + axis as u64)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_noise_has_mean_0_deviation_1_and_no_memory() {
        let numbers: Vec<f64> = (0..100_000).map(|n| normal(7, n)).collect();
        let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / 100_000.0;
        // Five standard errors.
        assert!(mean(&mut numbers.iter().copied()).abs() < 5.0 / 100_000f64.sqrt());
        assert!((mean(&mut numbers.iter().map(|x| x * x)) - 1.0).abs() < 0.023);
        let lagged = mean(&mut numbers.windows(2).map(|pair| pair[0] * pair[1]));
        assert!(lagged.abs() < 0.016, "{lagged}");
    }

    #[test]
    fn a_seed_gives_its_own_noise_and_always_the_same() {
        let noise = |seed| TorqueNoise { rad_s2: 1.0, seed }.torque([1.0; 3], 5_400_000);
        assert_eq!(noise(1), noise(1));
        assert_ne!(noise(1), noise(2));
        // Pinned: a change of the generator would change every recorded report.
        assert_eq!(
            [mixed(1, 0), mixed(2, 7)],
            [0xe217e7ac4d85e060, 0xae45f386a626da16]
        );
        assert!((0.0..1.0).contains(&uniform(3, 9)));
    }
}
