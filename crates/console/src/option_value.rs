//! Values of options: times, policies, CPUs. An error names the option, its value, and what would be right.

use std::fmt;
use wakepath_scenario::parse_policy;
use wakepath_scenario::units::{Complaint, parse_duration};
use wakepath_timeline::{CpuSet, CpuSetError, Policy};

/// An option with an invalid value.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("{option} {shown}{joint}{why}", shown = Shown(given), joint = why.joint())]
pub struct OptionError {
    option: &'static str,
    given: String,
    why: InvalidValue,
}

/// Why a value is invalid.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum InvalidValue {
    /// The text can't be parsed.
    #[error(transparent)]
    Text(#[from] Complaint),
    /// It is zero.
    #[error("must be greater than 0")]
    Nothing,
    /// A reservation without a period.
    #[error(
        "the period is unknown here; give runtime/deadline/period, such as 'DEADLINE 400us/4ms/4ms'"
    )]
    NoPeriod,
    /// The CPU list can't be parsed.
    #[error(transparent)]
    Cpus(#[from] CpuSetError),
    /// The list has no CPU.
    #[error("names no CPU; expected e.g. 1 or 2-3,6")]
    NoCpu,
    /// A CPU that isn't online.
    #[error("only CPUs {0} are online; give one or more of them")]
    NotOnline(CpuSet),
    /// Neither a share nor a time.
    #[error("give a share such as `10%` or a time such as `5us`")]
    Margin,
    /// A limit of the latency beyond that of the response.
    #[error("is longer than --deadline ({0}), so it has no effect; give at most {0}")]
    BeyondDeadline(String),
    /// No process has this number.
    #[error("there is no such process")]
    NoProcess,
    /// No process has this name.
    #[error("no process or thread has this name")]
    NoSuchName,
    /// No process is in this control group.
    #[error("no process is in a control group, unit or container of this name")]
    NoSuchGroup,
}

impl InvalidValue {
    /// Separator between the given text and this: some messages continue the sentence, others are
    /// separate.
    fn joint(&self) -> &'static str {
        match self {
            Self::Text(_) | Self::Nothing | Self::NoCpu | Self::BeyondDeadline(_) => " ",
            _ => ": ",
        }
    }
}

impl OptionError {
    /// For an option and its value.
    pub fn new(option: &'static str, given: impl ToString, why: impl Into<InvalidValue>) -> Self {
        Self {
            option,
            given: given.to_string(),
            why: why.into(),
        }
    }
}

/// As it would have to be typed.
pub struct Shown<'a>(pub &'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() || self.0.contains(char::is_whitespace) {
            write!(f, "'{}'", self.0)
        } else {
            f.write_str(self.0)
        }
    }
}

/// A time in nanoseconds, more than none.
pub fn time(option: &'static str, text: Option<&str>) -> Result<Option<u64>, OptionError> {
    let Some(text) = text else { return Ok(None) };
    match parse_duration(text) {
        Ok(ns) if ns > 0 => Ok(Some(ns)),
        Ok(_) => Err(OptionError::new(option, text, InvalidValue::Nothing)),
        Err(complaint) => Err(OptionError::new(option, text, complaint)),
    }
}

/// A policy that stands by itself: there is no loop whose period a DEADLINE could take.
pub fn policy(text: &str) -> Result<Policy, OptionError> {
    let lowered = text.to_lowercase();
    if lowered.starts_with("deadline ") && !lowered.contains('/') {
        return Err(OptionError::new("--policy", text, InvalidValue::NoPeriod));
    }
    parse_policy(text, 0).map_err(|complaint| OptionError::new("--policy", text, complaint))
}

/// One CPU at least.
pub fn cpus(text: &str) -> Result<Vec<u16>, OptionError> {
    match text.parse::<CpuSet>() {
        Ok(cpus) if cpus.is_empty() => Err(OptionError::new("--cpu", text, InvalidValue::NoCpu)),
        Ok(cpus) => Ok(cpus.numbers().to_vec()),
        Err(error) => Err(OptionError::new("--cpu", text, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit_and_is_more_than_nothing() {
        assert_eq!(time("--for", None), Ok(None));
        assert_eq!(time("--for", Some("2ms")), Ok(Some(2_000_000)));
        for (bad, shown) in [("0s", "0s"), ("5", "5"), ("", "''"), ("1 day", "'1 day'")] {
            let refused = time("--for", Some(bad)).unwrap_err().to_string();
            assert!(refused.starts_with(&format!("--for {shown} ")), "{refused}");
        }
    }

    #[test]
    fn a_deadline_without_a_period_and_cpus_that_are_none_are_refused() {
        let said = |text| policy(text).unwrap_err().to_string();
        assert!(said("DEADLINE 400us").contains("400us/4ms/4ms"));
        assert!(said("FIFO 100").contains("--policy 'FIFO 100'"));
        assert_eq!(
            cpus("").unwrap_err(),
            OptionError::new("--cpu", "", InvalidValue::NoCpu)
        );
        assert!(cpus("one").unwrap_err().to_string().contains("--cpu one"));
        assert_eq!(cpus("0-1,4"), Ok(vec![0, 1, 4]));
    }
}
