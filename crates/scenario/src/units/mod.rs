//! Quantities as they are written in a scenario, each with its unit. Arithmetic is exact; nothing
//! here knows about TOML or the machine.

mod cpu_set;
mod decimal;
mod duration;
mod rate;
mod share;
mod size;

pub use duration::parse_duration;
pub use rate::{Rate, parse_rate};
pub use size::{format_size, parse_size};

pub(crate) use cpu_set::parse_cpus;
pub(crate) use duration::{LONGEST_PERIOD_NS, SHORTEST_PERIOD_NS};
pub(crate) use share::{parse_of_period, parse_share};

/// Reason why a quantity was refused: the fault, and what would be right. Both are phrases that
/// follow the key and the text found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; {remedy}")]
pub struct Complaint {
    /// The fault, as a phrase that follows the text: "has no unit".
    pub problem: String,
    /// What would be right: "give a time such as "4 ms"".
    pub remedy: String,
}

impl Complaint {
    pub(crate) fn new(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }
}
