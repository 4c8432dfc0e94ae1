//! Whether values depend on preceding ones: Ljung and Box's test, runs about the median, and the extremal
//! index with the clusters that it makes of exceedances.

use crate::limit_laws::{chi_squared_tail, normal_two_sided};

/// A statistic with its probability under independence, and its size in terms that don't grow with the
/// sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tested {
    /// The statistic.
    pub statistic: f64,
    /// Probability of one as extreme under the null hypothesis.
    pub p_value: f64,
    /// Size of the effect; each test defines its quantity.
    pub effect: f64,
}

/// Q = n(n + 2) Σ ρ_k²/(n − k) over `lags` lags, χ² in the limit (Ljung and Box 1978). The effect is
/// the largest |ρ_k|. `None` for a series that is constant or no longer than the lags.
pub fn ljung_box(series: &[f64], lags: usize) -> Option<Tested> {
    if series.len() <= lags {
        return None;
    }
    let count = series.len() as f64;
    let mean = series.iter().sum::<f64>() / count;
    let variance: f64 = series.iter().map(|value| (value - mean).powi(2)).sum();
    if variance.is_nan() || variance <= 0.0 {
        return None;
    }
    let (mut sum, mut effect) = (0.0, 0.0_f64);
    for lag in 1..=lags {
        let together: f64 = series[lag..]
            .iter()
            .zip(series)
            .map(|(late, early)| (late - mean) * (early - mean))
            .sum();
        let correlation = together / variance;
        sum += correlation * correlation / (count - lag as f64);
        effect = effect.max(correlation.abs());
    }
    let statistic = count * (count + 2.0) * sum;
    Some(Tested {
        statistic,
        p_value: chi_squared_tail(statistic, lags as f64),
        effect,
    })
}

/// Runs above and below the median, as a normal score (Wald and Wolfowitz 1940); values at the
/// median count as above, as statsmodels does, or as below if nothing is below it: half of the values
/// may tie there. The effect is the share by which the number of runs
/// differs from the one expected. `None` for a series that is constant.
pub fn median_runs(series: &[f64]) -> Option<Tested> {
    let mut sorted = series.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let half = sorted.len() / 2;
    let median = match sorted.len() % 2 {
        _ if sorted.is_empty() => return None,
        1 => sorted[half],
        _ => f64::midpoint(sorted[half - 1], sorted[half]),
    };
    let is_least = sorted[0] >= median;
    let sides = |value: &f64| {
        if is_least {
            *value > median
        } else {
            *value >= median
        }
    };
    let above = series.iter().filter(|value| sides(value)).count() as f64;
    let count = series.len() as f64;
    let below = count - above;
    if above == 0.0 || below == 0.0 {
        return None;
    }
    let changes = series
        .windows(2)
        .filter(|two| sides(&two[0]) != sides(&two[1]));
    let runs = changes.count() as f64 + 1.0;
    let product = 2.0 * above * below;
    let expected = product / count + 1.0;
    let variance = product * (product - count) / (count * count * (count - 1.0));
    let statistic = (runs - expected) / variance.sqrt();
    Some(Tested {
        statistic,
        p_value: normal_two_sided(statistic),
        effect: (runs / expected - 1.0).abs(),
    })
}

/// The extremal index by the times between exceedances (Ferro and Segers 2003, equations 5 to 7): 1 for
/// isolated ones, 1/m for clusters of m on average. `places` are the exceedances' places in the series,
/// ascending. 1 for fewer than three.
pub fn extremal_index(places: &[u64]) -> f64 {
    let gaps: Vec<f64> = places
        .windows(2)
        .map(|two| (two[1] - two[0]) as f64)
        .collect();
    if gaps.len() < 2 {
        return 1.0;
    }
    let longest = gaps.iter().copied().fold(0.0, f64::max);
    let count = gaps.len() as f64;
    let (first, second): (f64, f64) = if longest <= 2.0 {
        (gaps.iter().sum(), gaps.iter().map(|t| t * t).sum())
    } else {
        (
            gaps.iter().map(|t| t - 1.0).sum(),
            gaps.iter().map(|t| (t - 1.0) * (t - 2.0)).sum(),
        )
    };
    (2.0 * first * first / (count * second)).clamp(f64::MIN_POSITIVE, 1.0)
}

/// The longest gap that does not part two clusters, from the extremal index: of the gaps, sorted
/// from the longest, as many part clusters as there are clusters but one (Ferro and Segers 2003,
/// section 4). Exceedances with that many cycles or fewer between them are one cluster.
pub fn run_length(places: &[u64], index: f64) -> u64 {
    let mut gaps: Vec<u64> = places.windows(2).map(|two| two[1] - two[0]).collect();
    gaps.sort_unstable_by(|a, b| b.cmp(a));
    let mut clusters = ((index * places.len() as f64).floor() as usize + 1).min(gaps.len() + 1);
    // Ties: the last gap that parts must be longer than the first that does not.
    while clusters > 1 && clusters <= gaps.len() && gaps[clusters - 2] == gaps[clusters - 1] {
        clusters -= 1;
    }
    gaps.get(clusters - 1).copied().unwrap_or(0)
}

/// The largest of each cluster with its place; gaps longer than `run_length` separate clusters (runs
/// declustering). Of equal ones, the first.
pub fn clusters(exceedances: &[(u64, f64)], run_length: u64) -> Vec<(u64, f64)> {
    let mut found: Vec<(u64, f64)> = Vec::new();
    let mut before: Option<u64> = None;
    for &(place, value) in exceedances {
        match (before, found.last_mut()) {
            (Some(before), Some(largest)) if place - before <= run_length => {
                if value > largest.1 {
                    *largest = (place, value);
                }
            }
            _ => found.push((place, value)),
        }
        before = Some(place);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::{DECLUSTERED, DEPENDENCE, PORT_PIRIE, SERIES};
    use crate::random::Random;

    #[test]
    fn the_sea_levels_of_port_pirie_have_their_published_statistics() {
        let found = ljung_box(&PORT_PIRIE, 10).unwrap();
        assert!((found.statistic - 5.829_84).abs() < 1e-5, "{found:?}");
        let found = median_runs(&PORT_PIRIE).unwrap();
        assert!((found.statistic + 1.123_48).abs() < 1e-5, "{found:?}");
    }

    #[test]
    fn statistics_agree_with_statsmodels() {
        let [q, q_p, runs, runs_p] = DEPENDENCE;
        let found = ljung_box(&SERIES, 10).unwrap();
        assert!((found.statistic - q).abs() < 1e-9 * q, "{found:?}");
        assert!((found.p_value - q_p).abs() < 1e-9, "{found:?}");
        let found = median_runs(&SERIES).unwrap();
        assert!((found.statistic - runs).abs() < 1e-9, "{found:?}");
        assert!((found.p_value - runs_p).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn what_has_no_spread_is_not_tested() {
        assert_eq!(ljung_box(&[2.0; 50], 10), None);
        assert_eq!(ljung_box(&[1.0, 2.0], 10), None);
        // Most values tie at the median, which is the smallest value: 10 runs of 10 and of 5.
        let tied: Vec<f64> = (0..75).map(|n| f64::from(u8::from(n % 15 >= 10))).collect();
        let found = median_runs(&tied).unwrap();
        assert!(found.p_value < 1e-6 && found.statistic < 0.0, "{found:?}");
        assert_eq!(median_runs(&[2.0; 50]), None);
        assert_eq!(median_runs(&[]), None);
    }

    #[test]
    fn a_moving_maximum_has_its_known_extremal_index() {
        // max of m neighbouring Fréchet values: θ = 1/m.
        for width in [1_usize, 2, 5] {
            let mut random = Random::stream(11, width as u64);
            let noise: Vec<f64> = (0..100_000).map(|_| 1.0 / random.exponential()).collect();
            let series: Vec<f64> = noise
                .windows(width)
                .map(|some| some.iter().copied().fold(0.0, f64::max))
                .collect();
            let mut sorted = series.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            let threshold = sorted[sorted.len() - 1000];
            let exceedances: Vec<(u64, f64)> = (0_u64..)
                .zip(series)
                .filter(|(_, value)| *value > threshold)
                .collect();
            let places: Vec<u64> = exceedances.iter().map(|(place, _)| *place).collect();
            let index = extremal_index(&places);
            let truth = 1.0 / width as f64;
            assert!((index - truth).abs() < 0.12, "{width}: {index}");
            let found = clusters(&exceedances, run_length(&places, index));
            let share = found.len() as f64 / places.len() as f64;
            assert!((share - index).abs() < 0.05, "{width}: {share} {index}");
        }
    }

    #[test]
    fn clusters_keep_their_largest_and_gaps_part_them() {
        let exceedances = [
            (3, 5.0),
            (4, 9.0),
            (5, 9.0),
            (20, 1.0),
            (31, 2.0),
            (33, 1.5),
        ];
        assert_eq!(clusters(&exceedances, 0).len(), 6);
        assert_eq!(clusters(&exceedances, 2), [(4, 9.0), (20, 1.0), (31, 2.0)]);
        assert_eq!(clusters(&[], 2), []);
        // Gaps 1, 1, 15, 11, 2: three clusters are parted by the two longest.
        let places: Vec<u64> = exceedances.iter().map(|(place, _)| *place).collect();
        assert_eq!(run_length(&places, 0.4), 2);
        assert_eq!(run_length(&places, 1.0), 0);
        assert_eq!(extremal_index(&[1, 2]), 1.0);
    }

    #[test]
    fn clusters_agree_with_pyextremes() {
        let at = |place: usize| SERIES.get(place).copied().unwrap_or(0.0);
        let smooth = |i: usize| {
            let before = if i == 0 { 0.0 } else { at(i - 1) };
            (at(i + 1) + 0.8 * at(i) + 0.5 * before).exp()
        };
        let exceedances: Vec<(u64, f64)> = (0..SERIES.len())
            .map(|i| (i as u64, smooth(i)))
            .filter(|(_, value)| *value > 2.0)
            .collect();
        let found: Vec<f64> = clusters(&exceedances, 3)
            .iter()
            .map(|(place, _)| *place as f64)
            .collect();
        assert_eq!(found, DECLUSTERED);
    }
}
