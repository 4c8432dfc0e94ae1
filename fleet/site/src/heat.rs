//! Boards by kernels as colours.
//!
//! Steps of p99.9 are factors of two, the same for every fleet, so that two pages can be compared;
//! unmeasured and invalid cells have their own colours.

/// Upper ends of the steps in nanoseconds, from 5 µs on; one more step is above the last.
pub(crate) const STEPS_NS: [i64; 8] = [
    5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000,
];

/// The step of a latency, from 0.
pub(crate) fn step_of(p999_ns: i64) -> usize {
    STEPS_NS
        .iter()
        .position(|&end| p999_ns <= end)
        .unwrap_or(STEPS_NS.len())
}

/// The step of a share of missed due times: none, up to 10⁻⁶, 10⁻⁵ … 1.
pub(crate) fn miss_step(missed: i64, due: i64) -> usize {
    if missed <= 0 || due <= 0 {
        return 0;
    }
    let decade = (missed as f64 / due as f64).log10();
    (decade.ceil() + 7.0).clamp(1.0, STEPS_NS.len() as f64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_those_of_the_legend() {
        assert_eq!(
            [1, 5_000, 5_001, 1_000_000, 1_000_001].map(step_of),
            [0, 0, 1, 7, 8]
        );
        assert_eq!(miss_step(0, 1000), 0);
        assert_eq!(miss_step(1, 10_000_000), 1);
        assert_eq!(miss_step(1, 1_000), 4);
        assert_eq!(miss_step(1_000, 1_000), 7);
        assert_eq!(miss_step(5, 0), 0);
    }
}
