//! The figures of a comparison as they are written: times, shares, differences,
//! probabilities.

use wakepath_assess::{Metric, RunFigures};
use wakepath_timeline::duration::Unit;

/// The widest bound on the miss probability among the runs without a miss, in per cent.
pub(super) fn bound_without_misses(runs: &[RunFigures]) -> String {
    let without = runs.iter().filter(|run| run.misses.missed == 0);
    let widest = without
        .map(|run| run.miss_fraction_at_most)
        .fold(0.0, f64::max);
    let percent = (widest * 1e6).ceil() / 1e4;
    percent.to_string()
}

/// The unit in which the largest of these times, in nanoseconds, is easily read; per cent where the
/// metric is no time.
pub(super) fn unit_of(metric: Metric, values: impl IntoIterator<Item = f64>) -> Option<Unit> {
    let largest = values.into_iter().map(f64::abs).fold(0.0, f64::max);
    metric.is_time().then_some(match largest {
        ..1e6 => Unit::Micros,
        ..1e9 => Unit::Millis,
        _ => Unit::Seconds,
    })
}

/// The part after the metric's name.
pub(super) fn unit_name(unit: Option<Unit>) -> &'static str {
    unit.map_or("%", Unit::name)
}

/// In this unit, or per cent with two decimals, and as many more as a miss in a million needs.
pub(super) fn shown(unit: Option<Unit>, value: f64) -> String {
    match unit {
        Some(Unit::Micros) => Unit::Micros.figure(value.round() as i64, 1),
        Some(unit) => unit.figure(value.round() as i64, 3),
        None => {
            let digits = format!("{:.4}", value * 100.0);
            let kept = ["00", "0"].iter().find_map(|end| digits.strip_suffix(end));
            kept.unwrap_or(&digits).to_owned()
        }
    }
}

pub(super) fn signed(shown: impl Fn(f64) -> String, value: f64) -> String {
    match value > 0.0 {
        true => format!("+{}", shown(value)),
        false => shown(value).replace('-', "−"),
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
    fn a_row_s_times_are_in_the_unit_of_its_largest() {
        let row = |values: [f64; 3]| {
            let unit = unit_of(Metric::Maximum, values);
            (values.map(|value| shown(unit, value)), unit_name(unit))
        };
        assert_eq!(
            row([1_020_300.0, 5_652_400.0, 4_632_100.0]),
            (["1.020", "5.652", "4.632"].map(str::to_owned), "ms")
        );
        assert_eq!(
            row([59_150.0, 999_000.0, 1.0]),
            (["59.2", "999.0", "0.0"].map(str::to_owned), "µs")
        );
        let shares = unit_of(Metric::Misses, [0.5]);
        assert_eq!(unit_name(shares), "%");
        let shown = [0.1728, -0.032, 0.0, 0.000_012, 0.000_001].map(|share| shown(shares, share));
        assert_eq!(shown, ["17.28", "-3.20", "0.00", "0.0012", "0.0001"]);
    }
}
