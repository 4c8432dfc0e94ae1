//! Choices that a recording of wake and end times leaves open.

use serde::{Deserialize, Serialize};

/// When the state that a cycle works on was latched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sampling {
    /// By the loop itself when it wakes: a late wake-up shifts the sampling.
    #[default]
    AtWake,
    /// By the sensor at the due time, its data ready then: a late wake-up is a delay.
    AtRelease,
}

/// Behaviour of the rotors when a due time's command has not arrived by the next due time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missed {
    /// They keep the last command.
    #[default]
    Hold,
    /// They are commanded to zero until the next command arrives.
    Zero,
}

/// Behaviour of the loop when a job runs into the next due time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OverrunRule {
    /// The job ends late; the due times passed by then are skipped. A recording made by a loop that
    /// skips is replayed exactly as it happened.
    #[default]
    Skip,
    /// The job ends late; the jobs of the due times passed by then run one after the other, each
    /// for the recording's median execution time if it has none of its own.
    Queue,
    /// The job is abandoned at the next due time without a command.
    Kill,
}

/// All three together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Choices {
    /// When the state is latched.
    pub sampling: Sampling,
    /// Effect of a missed actuation.
    pub missed: Missed,
    /// Effect of an overrun.
    pub overrun: OverrunRule,
}
