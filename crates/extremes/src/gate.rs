//! The gates that a series must pass before more is reported of it than its largest value: the finding, its
//! statistic, and the cure for a failure. The maker of a gate decides what passes.

use std::fmt;

/// The subject of a gate, in the order of the statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum GateName {
    /// How the values were measured.
    Provenance,
    /// Enough values beyond a threshold.
    Count,
    /// The series does not change over time.
    Stationarity,
    /// The values are in the order of time: clusters and drift can be seen.
    Order,
    /// The level asked for is near enough to what was seen.
    Reach,
}

impl GateName {
    /// The word for a reader.
    pub fn word(self) -> &'static str {
        match self {
            Self::Provenance => "provenance",
            Self::Count => "count",
            Self::Stationarity => "stationarity",
            Self::Order => "order",
            Self::Reach => "reach",
        }
    }
}

impl fmt::Display for GateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A gate that was looked at.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Gate {
    /// Which.
    pub name: GateName,
    /// Whether it was passed.
    pub passed: bool,
    /// The finding, with its statistic.
    pub finding: String,
    /// The cure for a failure; `None` if it was passed.
    pub cure: Option<String>,
}

impl Gate {
    /// A gate that was passed.
    pub fn passed(name: GateName, finding: impl Into<String>) -> Self {
        Self {
            name,
            passed: true,
            finding: finding.into(),
            cure: None,
        }
    }

    /// A gate that was not passed, with what would cure it.
    pub fn failed(name: GateName, finding: impl Into<String>, cure: impl Into<String>) -> Self {
        Self {
            name,
            passed: false,
            finding: finding.into(),
            cure: Some(cure.into()),
        }
    }

    pub(crate) fn new(name: GateName, passed: bool, finding: String, cure: &str) -> Self {
        if passed {
            Self::passed(name, finding)
        } else {
            Self::failed(name, finding, cure)
        }
    }
}

/// Probabilities after Holm's correction for as many tests (Holm 1979), in the order given: the
/// chance that any of them rejects what is true stays within the level.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (rank, &place) in order.iter().enumerate() {
        let left = (p_values.len() - rank) as f64;
        largest = largest.max(left * p_values[place]).min(1.0);
        adjusted[place] = largest;
    }
    adjusted
}

/// Three significant digits; below 0.0001 a power of ten.
pub(crate) fn figure(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        ..1e-4 => format!("{value:.0e}"),
        size => {
            let decimals = (2 - size.log10().floor() as i32).max(0) as usize;
            format!("{value:.decimals$}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holms_correction_is_that_of_the_worked_example() {
        // p = 0.01, 0.04, 0.03, 0.005: times 4, 3, 2, 1 from the smallest, never falling.
        let found = holm(&[0.01, 0.04, 0.03, 0.005]);
        let expected = [0.03, 0.06, 0.06, 0.02];
        assert!(
            found
                .iter()
                .zip(expected)
                .all(|(a, b)| (a - b).abs() < 1e-15),
            "{found:?}"
        );
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn figures_have_three_digits() {
        assert_eq!(figure(0.0571), "0.0571");
        assert_eq!(figure(5.82984), "5.83");
        assert_eq!(figure(-1.1235), "-1.12");
        assert_eq!(figure(3e-7), "3e-7");
        assert_eq!(figure(812.34), "812");
    }
}
