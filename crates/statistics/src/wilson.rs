//! Wilson's interval for a share: narrow enough to plan with, close to its nominal confidence on
//! average. Where a verdict rests on a bound, the exact one of [`binomial`](crate::miss_upper_bound)
//! is taken instead.

/// The interval for the probability underlying `count` of `of`, `z` standard deviations wide on either side:
/// (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n) (Wilson 1927). From 0 to 1 if nothing was counted.
pub fn wilson_interval(count: u64, of: u64, z: f64) -> (f64, f64) {
    if of == 0 {
        return (0.0, 1.0);
    }
    let n = of as f64;
    let share = count as f64 / n;
    let square = z * z / n;
    let middle = share + square / 2.0;
    let half = z * (share * (1.0 - share) / n + square / (4.0 * n)).sqrt();
    let low = ((middle - half) / (1.0 + square)).max(0.0);
    let high = ((middle + half) / (1.0 + square)).min(1.0);
    // Rounding must not shut out what was seen.
    (low.min(share), high.max(share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_agree_with_published_ones() {
        // Newcombe, "Two-sided confidence intervals for the single proportion" (1998), table I.
        for (count, of, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let (found_low, found_high) = wilson_interval(count, of, 1.959_964);
            assert!(
                (found_low - low).abs() < 5e-5,
                "{count} of {of}: {found_low}"
            );
            assert!(
                (found_high - high).abs() < 5e-5,
                "{count} of {of}: {found_high}"
            );
        }
        assert_eq!(wilson_interval(0, 0, 1.96), (0.0, 1.0));
        assert_eq!(wilson_interval(7, 7, 1.96).1, 1.0);
    }
}
