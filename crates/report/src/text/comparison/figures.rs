//! The figures of a comparison as they are written: times, shares, differences,
//! probabilities.

use wakepath_assess::{Metric, RunFigures};
use wakepath_timeline::duration::three_digits;
use wakepath_timeline::number::percent;
use wakepath_verdict::upper_fraction;

/// The widest bound on the miss probability among the runs without a miss, in per cent.
pub(super) fn bound_without_misses(runs: &[RunFigures]) -> String {
    let without = runs.iter().filter(|run| run.misses.missed == 0);
    let widest = without
        .map(|run| run.miss_fraction_at_most)
        .fold(0.0, f64::max);
    upper_fraction(widest, 1.0)
}

/// A time or a share in three digits.
pub(super) fn shown(metric: Metric, value: f64) -> String {
    if metric.is_time() {
        three_digits(value.round() as i64)
    } else {
        percent(value)
    }
}

/// A difference with its sign: a time, or percentage points.
pub(super) fn difference(metric: Metric, value: f64) -> String {
    let text = if metric.is_time() {
        shown(metric, value)
    } else {
        format!("{} points", shown(metric, value))
    };
    if value > 0.0 {
        format!("+{text}")
    } else {
        text
    }
}

/// A p-value as a reader takes it in.
pub(in crate::text) fn p_value(p: f64) -> String {
    match p {
        ..0.0001 => "< 0.0001".to_owned(),
        ..0.1 => format!("{p:.4}"),
        _ => format!("{p:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_and_shares_per_cent() {
        let times = [1_020_300.0, 5_652_400.0, 59_150.0, 1.0];
        let times = times.map(|time| shown(Metric::Maximum, time));
        assert_eq!(times, ["1.02 ms", "5.65 ms", "59.2 µs", "1 ns"]);
        let shares = [0.1728, -0.032, 0.0, 0.000_012, 0.000_001];
        let shares = shares.map(|share| shown(Metric::Misses, share));
        assert_eq!(shares, ["17.3 %", "-3.2 %", "0 %", "0.0012 %", "1e-4 %"]);
    }
}
