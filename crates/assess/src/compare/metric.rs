//! Metrics of a comparison, their units, and the differences declared not to matter.

use serde::{Serialize, Serializer};
use std::fmt;
use wakepath_scenario::Criterion;
use wakepath_statistics::Quantile;
use wakepath_verdict::DEFAULT_EVIDENCE;

/// A figure of a condition in one run. Of every one, more is worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Median wake-up latency over all due times.
    Median,
    /// 99 % quantile of it.
    P99,
    /// 99.9 % quantile of it.
    P999,
    /// The largest one, over as many due times in every run.
    Maximum,
    /// Share of due times missed.
    Misses,
}

/// A word that is no metric.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a metric; there are {all}", all = Metric::ALL.map(Metric::word).join(", "))]
pub struct UnknownMetric(pub String);

impl Metric {
    /// All of them, in the order of a table.
    pub const ALL: [Self; 5] = [
        Self::Median,
        Self::P99,
        Self::P999,
        Self::Maximum,
        Self::Misses,
    ];

    /// Its word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Median => "median",
            Self::P99 => "p99",
            Self::P999 => "p99.9",
            Self::Maximum => "max",
            Self::Misses => "misses",
        }
    }

    /// The metric of a word.
    ///
    /// # Errors
    /// For a word that is none of [`Metric::ALL`].
    pub fn of_word(word: &str) -> Result<Self, UnknownMetric> {
        Self::ALL
            .into_iter()
            .find(|metric| metric.word() == word)
            .ok_or_else(|| UnknownMetric(word.to_owned()))
    }

    /// The quantile that it is, if it is one.
    pub(crate) fn quantile(self) -> Option<Quantile> {
        match self {
            Self::Median => Some(Quantile::P50),
            Self::P99 => Some(Quantile::P99),
            Self::P999 => Some(Quantile::P999),
            Self::Maximum | Self::Misses => None,
        }
    }

    /// Unit of its values: nanoseconds, or a share from 0 to 1.
    pub fn is_time(self) -> bool {
        self != Self::Misses
    }
}

/// The largest difference that does not matter, declared before looking.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Margin {
    /// A share of the base's median run; for misses, of the tolerated miss fraction.
    Share(f64),
    /// A time in nanoseconds; for misses a tenth of the tolerated miss fraction.
    Time(u64),
}

impl Margin {
    /// Without a declaration: a tenth.
    pub const DEFAULT: Self = Self::Share(0.1);

    /// In the metric's own unit. `base` is the value of the base's median run.
    pub(crate) fn absolute(self, metric: Metric, base: f64, criterion: &Criterion) -> f64 {
        let tolerated = if criterion.miss_fraction > 0.0 {
            criterion.miss_fraction
        } else {
            criterion.evidence.unwrap_or(DEFAULT_EVIDENCE)
        };
        match (metric, self) {
            (Metric::Misses, Self::Share(share)) => share * tolerated,
            (Metric::Misses, Self::Time(_)) => 0.1 * tolerated,
            (_, Self::Share(share)) => share * base.abs(),
            (_, Self::Time(ns)) => ns as f64,
        }
    }
}

impl fmt::Display for Margin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Share(share) => {
                let percent = (share * 1e6).round() / 1e4;
                write!(
                    f,
                    "{percent} % of the base's median run, for misses {percent} % of the tolerated \
                     miss fraction"
                )
            }
            Self::Time(ns) => write!(
                f,
                "{}, for misses a tenth of the tolerated miss fraction",
                wakepath_verdict::duration(*ns as i64)
            ),
        }
    }
}

impl Serialize for Margin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "kebab-case")]
        enum Form {
            Share(f64),
            TimeNs(u64),
        }
        match self {
            Self::Share(share) => Form::Share(*share).serialize(serializer),
            Self::Time(ns) => Form::TimeNs(*ns).serialize(serializer),
        }
    }
}
