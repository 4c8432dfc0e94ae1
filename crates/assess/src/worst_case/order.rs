//! Request for a run's largest values: which time, which conditions, how rarely exceeded.

use serde::{Serialize, Serializer};
use std::fmt;

/// Which time of a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BoundMetric {
    /// First instruction − due time.
    Latency,
    /// End of the work − first instruction.
    Execution,
    /// End of the work − due time.
    Response,
}

impl BoundMetric {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Latency => "wake-up latency",
            Self::Execution => "execution time",
            Self::Response => "response time",
        }
    }
}

/// How rarely a level may be exceeded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Exceed {
    /// With this probability by any one cycle.
    PerCycle(f64),
    /// With at most this probability by any cycle of an hour of flight.
    PerHour(f64),
}

const WANTED: &str =
    "a probability between 0 and 1, for each cycle (1e-6) or for an hour of flight (1e-3/h)";

/// Why words are no probability.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExceedError {
    /// They are no number.
    #[error("`{0}` is not a number; give {WANTED}")]
    NoNumber(String),
    /// They are a number that is none.
    #[error("{0} is outside; give {WANTED}")]
    Outside(String),
}

impl Exceed {
    /// Unless given: once in a million cycles.
    pub const DEFAULT: Self = Self::PerCycle(1e-6);

    /// From words such as `1e-6` (each cycle) and `1e-3/h` (an hour of flight).
    ///
    /// # Errors
    /// The fault, and the correct form.
    pub fn of_words(words: &str) -> Result<Self, ExceedError> {
        let (number, per_hour) = match words.strip_suffix("/h") {
            Some(number) => (number, true),
            None => (words, false),
        };
        let value: Result<f64, _> = number.trim().parse();
        let value = value.map_err(|_| ExceedError::NoNumber(words.to_owned()))?;
        match value > 0.0 && value < 1.0 {
            true if per_hour => Ok(Self::PerHour(value)),
            true => Ok(Self::PerCycle(value)),
            false => Err(ExceedError::Outside(words.to_owned())),
        }
    }

    /// For any one cycle of a loop: P/n with n cycles in an hour. An hour then has a cycle beyond the level
    /// with a probability of at most P, however cycles depend on each other (Boole's inequality).
    pub fn per_cycle(self, period_ns: u64) -> f64 {
        match self {
            Self::PerCycle(probability) => probability,
            Self::PerHour(probability) => probability * period_ns.max(1) as f64 / 3.6e12,
        }
    }
}

impl fmt::Display for Exceed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PerCycle(probability) => write!(f, "{probability:e} per cycle"),
            Self::PerHour(probability) => write!(f, "{probability:e} per hour of flight"),
        }
    }
}

impl Serialize for Exceed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "kebab-case")]
        enum Form {
            PerCycle(f64),
            PerHour(f64),
        }
        match *self {
            Self::PerCycle(probability) => Form::PerCycle(probability).serialize(serializer),
            Self::PerHour(probability) => Form::PerHour(probability).serialize(serializer),
        }
    }
}

/// The request.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundOrder {
    /// Of which time.
    pub metric: BoundMetric,
    /// How rarely exceeded.
    pub exceed: Exceed,
    /// Only conditions under this policy, as the table calls it, such as `FIFO 80`.
    pub policy: Option<String>,
    /// Only conditions of this phase.
    pub phase: Option<String>,
}

impl Default for BoundOrder {
    /// The wake-up latency of every condition, once in a million cycles.
    fn default() -> Self {
        Self {
            metric: BoundMetric::Latency,
            exceed: Exceed::DEFAULT,
            policy: None,
            phase: None,
        }
    }
}

impl BoundOrder {
    pub(super) fn wants(&self, label: &str, phase: &str) -> bool {
        let same = |wanted: &Option<String>, name: &str| {
            wanted
                .as_ref()
                .is_none_or(|wanted| wanted.eq_ignore_ascii_case(name))
        };
        same(&self.policy, label) && same(&self.phase, phase)
    }

    pub(super) fn asked(&self) -> String {
        let words: Vec<&str> = [&self.policy, &self.phase]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect();
        words.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_read_for_a_cycle_or_an_hour() {
        assert_eq!(Exceed::of_words("1e-6"), Ok(Exceed::PerCycle(1e-6)));
        assert_eq!(Exceed::of_words("1e-3/h"), Ok(Exceed::PerHour(1e-3)));
        for wrong in ["0", "1", "-1e-6", "1.5/h", "NaN", "inf", "seldom", ""] {
            let refused = Exceed::of_words(wrong).unwrap_err().to_string();
            assert!(refused.contains("between 0 and 1"), "{wrong}: {refused}");
        }
    }

    #[test]
    fn an_hour_at_a_kilohertz_has_3_6_million_chances() {
        let per_cycle = Exceed::PerHour(1e-3).per_cycle(1_000_000);
        assert!((per_cycle * 3.6e6 - 1e-3).abs() < 1e-12, "{per_cycle}");
        assert_eq!(Exceed::PerCycle(1e-6).per_cycle(1), 1e-6);
    }
}
