//! The figures of a comparison as they are written: microseconds, shares, differences,
//! probabilities.

use wakepath_assess::{Metric, RunFigures};

/// The widest bound on the miss probability among the runs without a miss, in per cent.
pub(super) fn bound_without_misses(runs: &[RunFigures]) -> String {
    let without = runs.iter().filter(|run| run.misses.missed == 0);
    let widest = without
        .map(|run| run.miss_fraction_at_most)
        .fold(0.0, f64::max);
    let percent = (widest * 1e6).ceil() / 1e4;
    percent.to_string()
}

/// Microseconds, or per cent with as many digits as a miss in a million needs.
pub(super) fn shown(metric: Metric, value: f64) -> String {
    match metric.is_time() {
        true => format!("{:.1}", value / 1e3),
        false => {
            let digits = format!("{:.4}", value * 100.0);
            digits
                .trim_end_matches('0')
                .trim_end_matches('.')
                .to_owned()
        }
    }
}

pub(super) fn signed(shown: impl Fn(f64) -> String, value: f64) -> String {
    match value > 0.0 {
        true => format!("+{}", shown(value)),
        false => shown(value).replace('-', "−"),
    }
}

pub(super) fn probability(p: f64) -> String {
    match p {
        ..0.0001 => "< 0.0001".to_owned(),
        ..0.1 => format!("{p:.4}"),
        _ => format!("{p:.2}"),
    }
}
