//! Whether a series is stationary: KPSS's test for a level, two halves compared with each other, exceedances
//! spread evenly over time.

use crate::dependence::Tested;
use crate::limit_laws::{anderson_darling_tail, cramer_von_mises_tail};

/// The test of Kwiatkowski, Phillips, Schmidt and Shin (1992) for a constant level, with Bartlett's
/// weights over as many lags as Hobijn, Franses and Ooms (1998) choose from the data. The p-value is
/// that of the limit. The effect is by how many standard deviations the means of the halves differ.
/// `None` for a series that is constant or shorter than four.
pub fn kpss(series: &[f64]) -> Option<Tested> {
    if series.len() < 4 {
        return None;
    }
    let count = series.len() as f64;
    let mean = series.iter().sum::<f64>() / count;
    let rest: Vec<f64> = series.iter().map(|value| value - mean).collect();
    let squares: f64 = rest.iter().map(|value| value * value).sum();
    if squares.is_nan() || squares <= 0.0 {
        return None;
    }
    let covariance = |lag: usize| -> f64 {
        rest[lag..]
            .iter()
            .zip(&rest)
            .map(|(a, b)| a * b)
            .sum::<f64>()
    };
    let looked_at = count.powf(2.0 / 9.0) as usize;
    let (mut zeroth, mut first) = (squares / count, 0.0);
    for lag in 1..=looked_at {
        let twice = 2.0 * covariance(lag) / count;
        zeroth += twice;
        first += lag as f64 * twice;
    }
    let ratio = first / zeroth;
    let gamma = 1.1447 * (ratio * ratio).powf(1.0 / 3.0);
    let lags = ((gamma * count.powf(1.0 / 3.0)) as usize).min(series.len() - 1);
    let mut variance = squares;
    for lag in 1..=lags {
        variance += 2.0 * covariance(lag) * (1.0 - lag as f64 / (lags as f64 + 1.0));
    }
    let (mut sum, mut sums) = (0.0, 0.0);
    for value in &rest {
        sum += value;
        sums += sum * sum;
    }
    let statistic = sums / (count * count) / (variance / count);
    if statistic.is_nan() || statistic < 0.0 {
        return None;
    }
    let half = rest.len() / 2;
    let of = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let apart = (of(&rest[..half]) - of(&rest[half..])).abs();
    Some(Tested {
        statistic,
        p_value: cramer_von_mises_tail(statistic),
        effect: apart / (squares / count).sqrt(),
    })
}

/// The two-sample test of Anderson and Darling in the form of Scholz and Stephens (1987) for ties,
/// standardised; its p-value is that of the limit. Both samples ascending. The effect is the largest
/// difference of the two distribution functions. `None` where a sample has fewer than two values or
/// all values are one.
pub fn anderson_darling_two_sample(first: &[f64], second: &[f64]) -> Option<Tested> {
    let (n, m) = (first.len() as f64, second.len() as f64);
    if first.len() < 2 || second.len() < 2 {
        return None;
    }
    let total = n + m;
    let (mut i, mut j) = (0, 0);
    let (mut sum_first, mut sum_second, mut effect) = (0.0, 0.0, 0.0_f64);
    let mut distinct = 0_usize;
    while i < first.len() || j < second.len() {
        let value = match (first.get(i), second.get(j)) {
            (Some(&a), Some(&b)) => a.min(b),
            (Some(&a), None) => a,
            (None, Some(&b)) => b,
            (None, None) => break,
        };
        let before = (i as f64, j as f64);
        while first.get(i) == Some(&value) {
            i += 1;
        }
        while second.get(j) == Some(&value) {
            j += 1;
        }
        distinct += 1;
        let (in_first, in_second) = (i as f64 - before.0, j as f64 - before.1);
        let here = in_first + in_second;
        // Mid-ranks: ties count by half.
        let below = before.0 + before.1 + here / 2.0;
        let weight = below * (total - below) - total * here / 4.0;
        if weight > 0.0 {
            let of = |before: f64, here: f64, size: f64| {
                let below_here = before + here / 2.0;
                (total * below_here - below * size).powi(2)
            };
            sum_first += here / total * of(before.0, in_first, n) / weight;
            sum_second += here / total * of(before.1, in_second, m) / weight;
        }
        effect = effect.max((i as f64 / n - j as f64 / m).abs());
    }
    if distinct < 2 {
        return None;
    }
    let raw = (sum_first / n + sum_second / m) * (total - 1.0) / total;
    let standard = (raw - 1.0) / variance_of_two(n, m).sqrt();
    // The limit law of A² has mean 1 and variance 2(π² − 9)/3.
    let limit = 1.0 + standard * (2.0 * (std::f64::consts::PI.powi(2) - 9.0) / 3.0).sqrt();
    Some(Tested {
        statistic: standard,
        p_value: anderson_darling_tail(limit),
        effect,
    })
}

/// Variance of the statistic of two samples without ties (Scholz and Stephens 1987, equation 4).
fn variance_of_two(n: f64, m: f64) -> f64 {
    let total = n + m;
    let k = 2.0;
    let inverse_sizes = 1.0 / n + 1.0 / m;
    let (harmonic, double) = double_harmonic(total as u64);
    let a = (4.0 * double - 6.0) * (k - 1.0) + (10.0 - 6.0 * double) * inverse_sizes;
    let b = (2.0 * double - 4.0) * k * k
        + 8.0 * harmonic * k
        + (2.0 * double - 14.0 * harmonic - 4.0) * inverse_sizes
        - 8.0 * harmonic
        + 4.0 * double
        - 6.0;
    let c = (6.0 * harmonic + 2.0 * double - 2.0) * k * k
        + (4.0 * harmonic - 4.0 * double + 6.0) * k
        + (2.0 * harmonic - 6.0) * inverse_sizes
        + 4.0 * harmonic;
    let d = (2.0 * harmonic + 6.0) * k * k - 4.0 * harmonic * k;
    (a * total.powi(3) + b * total.powi(2) + c * total + d)
        / ((total - 1.0) * (total - 2.0) * (total - 3.0))
}

/// Σ_{i=1}^{N−1} 1/i, and Σ_{i=1}^{N−2} Σ_{j=i+1}^{N−1} 1/((N − i) j), which tends to π²/6.
fn double_harmonic(total: u64) -> (f64, f64) {
    const COUNTED: u64 = 100_000;
    if total > COUNTED {
        let large = total as f64;
        let harmonic = (large - 1.0).ln() + 0.577_215_664_901_532_9 + 0.5 / (large - 1.0);
        return (harmonic, std::f64::consts::PI.powi(2) / 6.0);
    }
    let (mut harmonic, mut double) = (0.0, 0.0);
    // With j falling: Σ_{j>i} 1/j grows by one term each time i falls by one.
    for i in (1..total).rev() {
        if i < total - 1 {
            double += harmonic / (total - i) as f64;
        }
        harmonic += 1.0 / i as f64;
    }
    (harmonic, double)
}

/// Whether places in 0..`length` are spread evenly: W² against the uniform distribution. The effect
/// is by what share more of them lie in the half that has more.
pub fn evenly_spread(places: &[u64], length: u64) -> Option<Tested> {
    if places.is_empty() || length == 0 {
        return None;
    }
    let count = places.len() as f64;
    let squares: f64 = (0_u64..)
        .zip(places)
        .map(|(rank, &place)| {
            let at = (place as f64 + 0.5) / length as f64;
            (at - (2.0 * rank as f64 + 1.0) / (2.0 * count)).powi(2)
        })
        .sum();
    let statistic = squares + 1.0 / (12.0 * count);
    let early = places.iter().filter(|&&place| place < length / 2).count() as f64;
    Some(Tested {
        statistic,
        p_value: cramer_von_mises_tail(statistic),
        effect: (2.0 * early / count - 1.0).abs(),
    })
}

/// Means of consecutive stretches, at most `most` of them, so that a long series is tested in whole; the
/// series itself if it is short enough. Values left over at its start are left out.
pub fn stretch_means(series: &[i64], most: usize) -> Vec<f64> {
    let size = series.len().div_ceil(most.max(1)).max(1);
    let used = &series[series.len() % size..];
    used.chunks_exact(size)
        .map(|some| some.iter().map(|&value| value as f64).sum::<f64>() / size as f64)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::{ANDERSON_DARLING, KPSS, PORT_PIRIE, SERIES};

    #[test]
    fn the_sea_levels_of_port_pirie_have_their_published_statistic() {
        let found = kpss(&PORT_PIRIE).unwrap();
        assert!((found.statistic - 0.057_14).abs() < 1e-5, "{found:?}");
        assert!(found.p_value > 0.5);
    }

    #[test]
    fn kpss_agrees_with_statsmodels_on_correlated_and_drifting_series() {
        let drifting: Vec<f64> = (0..)
            .zip(SERIES)
            .map(|(i, x)| x + 0.01 * f64::from(i))
            .collect();
        let summed: Vec<f64> = SERIES
            .iter()
            .scan(0.0, |sum, x| {
                *sum = 0.7 * *sum + x;
                Some(*sum)
            })
            .collect();
        for (series, expected) in [&SERIES[..], &drifting, &summed].into_iter().zip(KPSS) {
            let found = kpss(series).unwrap();
            assert!(
                (found.statistic - expected).abs() < 1e-9 * expected,
                "{found:?} {expected}"
            );
        }
        assert!(kpss(&drifting).unwrap().p_value < 0.01);
        assert_eq!(kpss(&[1.0; 20]), None);
    }

    #[test]
    fn anderson_darling_agrees_with_scipy_ties_included() {
        for [round, shift, expected] in ANDERSON_DARLING {
            let of = |part: &[f64], shift: f64| {
                let mut part: Vec<f64> = part
                    .iter()
                    .map(|x| ((x + shift) * round).round() / round)
                    .collect();
                part.sort_unstable_by(f64::total_cmp);
                part
            };
            let (first, second) = (of(&SERIES[..70], 0.0), of(&SERIES[70..], shift));
            let found = anderson_darling_two_sample(&first, &second).unwrap();
            assert!(
                (found.statistic - expected).abs() < 1e-8,
                "{found:?} {expected}"
            );
        }
        assert_eq!(anderson_darling_two_sample(&[1.0; 5], &[1.0; 5]), None);
        assert_eq!(anderson_darling_two_sample(&[1.0], &[1.0, 2.0]), None);
    }

    #[test]
    fn the_sums_of_large_samples_go_over_into_their_limits() {
        let (harmonic, double) = double_harmonic(100_000);
        let (beyond, limit) = double_harmonic(100_001);
        assert!((harmonic - beyond).abs() < 2e-5 && (double - limit).abs() < 1e-3);
        assert_eq!(double_harmonic(3), (1.5, 0.25));
    }

    #[test]
    fn places_that_come_late_are_not_evenly_spread() {
        let even: Vec<u64> = (0..100).map(|i| i * 10 + 5).collect();
        assert!(evenly_spread(&even, 1000).unwrap().p_value > 0.99);
        let late: Vec<u64> = (0..100).map(|i| 500 + i * 5).collect();
        let found = evenly_spread(&late, 1000).unwrap();
        assert!(found.p_value < 1e-6 && found.effect == 1.0, "{found:?}");
        assert_eq!(evenly_spread(&[], 10), None);
    }

    #[test]
    fn stretches_leave_out_no_more_than_a_beginning() {
        assert_eq!(stretch_means(&[9, 1, 2, 3, 4, 5, 6], 3), [2.0, 5.0]);
        assert_eq!(stretch_means(&[1, 2, 3], 10), [1.0, 2.0, 3.0]);
        assert!(stretch_means(&[], 10).is_empty());
    }
}
