//! Counts of a laboratory run as a file to commit to a repository.
//!
//! `changes` compares a later run with it. Pure: it boots nothing and applies no criterion. A path
//! has become longer or it hasn't.

mod changes;

pub use changes::{Change, StretchChange, stretch_changes};

use crate::asked::GuestsAsked;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the file's format, the only one that can be read. Version 5 has the latency of wake-ups
/// next to the latency as scheduled.
pub const BASELINE_VERSION: u32 = 5;

/// The file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// [`BASELINE_VERSION`].
    pub version: u32,
    /// The options, which are sufficient to repeat the run.
    pub order: BaselineOrder,
    /// Counts of each guest, ordered by kernel, variant and seed.
    pub guests: Vec<GuestCounts>,
}

/// The options of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaselineOrder {
    /// The guests.
    #[serde(flatten)]
    pub guests: GuestsAsked,
    /// Seeds of the emulator's random numbers.
    pub seeds: Vec<u64>,
    /// The scenario, resolved, as TOML.
    pub scenario: String,
}

/// Counts of one guest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GuestCounts {
    /// Kernel, variant and seed, as tables call it.
    pub guest: String,
    /// Versions of `kernel`, `emulator` …, to explain different counts.
    pub provenance: BTreeMap<String, String>,
    /// Its conditions, in the order in which they were measured.
    pub conditions: Vec<ConditionCounts>,
}

/// Counts of one condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConditionCounts {
    /// Policy and phase.
    pub condition: String,
    /// Counts and times by name; times in virtual nanoseconds end with `_ns`.
    pub counts: BTreeMap<String, i64>,
    /// Path of cycles around the median latency; empty if the run was not traced.
    pub median_path: Vec<PathPart>,
    /// Path of the worst cycle; likewise.
    pub worst_path: Vec<PathPart>,
}

/// A part of a wake-up path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathPart {
    /// Stretch of the path.
    pub stretch: String,
    /// The cause.
    pub cause: String,
    /// Time in virtual nanoseconds.
    pub ns: i64,
}

/// Reasons why two files can't be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BaselineError {
    /// Of another version.
    #[error(
        "baseline of version {0}: this wakepath reads version {BASELINE_VERSION}; write it again with `lab \
         run --baseline`"
    )]
    Version(u32),
    /// Doesn't match its own order.
    #[error(
        "the baseline was cut or edited: {0}; write it again with `lab run --baseline` or `lab check --write`"
    )]
    Contradiction(String),
    /// Other guests or conditions.
    #[error("the baseline has {before}, this run {now}: write the baseline again")]
    Other {
        /// In the baseline.
        before: String,
        /// Now.
        now: String,
    },
}

/// A quantile that is below a lower one, if there is any.
fn falling(counts: &BTreeMap<String, i64>) -> Option<String> {
    const RISING: [&str; 4] = ["min", "median", "p99", "max"];
    let times = [
        "latency_of_wake_ups",
        "latency_as_scheduled",
        "execution",
        "response",
    ];
    times.iter().find_map(|time| {
        let names = RISING.map(|which| format!("{time}_{which}_ns"));
        let known: Vec<_> = names
            .iter()
            .filter_map(|name| Some((name, counts.get(name)?)))
            .collect();
        let mut pairs = known.windows(2);
        let wrong = pairs.find(|pair| pair[0].1 > pair[1].1)?;
        let [(low, is), (high, other)] = [wrong[0], wrong[1]];
        Some(format!("{low} {is} is above {high} {other}"))
    })
}

impl Baseline {
    /// Checks that the file is consistent.
    ///
    /// # Errors
    /// [`BaselineError::Version`]; [`BaselineError::Contradiction`] if no run could have produced
    /// these counts.
    pub fn check(&self) -> Result<(), BaselineError> {
        if self.version != BASELINE_VERSION {
            return Err(BaselineError::Version(self.version));
        }
        let order = &self.order;
        let ordered =
            order.guests.kernels.len() * (1 + order.guests.variants.len()) * order.seeds.len();
        if self.guests.len() != ordered {
            let there = self.guests.len();
            let why = format!("{ordered} guests are ordered in it, and it has figures of {there}");
            return Err(BaselineError::Contradiction(why));
        }
        for guest in &self.guests {
            for condition in &guest.conditions {
                if let Some(why) = falling(&condition.counts) {
                    let why = format!("{}: {}: {why}", guest.guest, condition.condition);
                    return Err(BaselineError::Contradiction(why));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use wakepath_archive::GuestAdditions;

    pub(super) fn baseline(latency: i64, skipped: i64) -> Baseline {
        let counts = [
            ("executed", 200 - skipped),
            ("latency_of_wake_ups_max_ns", latency),
            ("skipped", skipped),
        ];
        let counts = counts.map(|(name, value)| (name.to_owned(), value));
        Baseline {
            version: BASELINE_VERSION,
            order: BaselineOrder {
                guests: GuestsAsked {
                    kernels: vec!["debian:rt".into()],
                    variants: Vec::new(),
                    architecture: "x86-64".into(),
                    cpus: 1,
                    topology: None,
                    before: Vec::new(),
                    ns_per_instruction: 1,
                    memory_mib: 1024,
                    added: GuestAdditions::default(),
                },
                seeds: vec![1],
                scenario: "name = \"a\"\n".into(),
            },
            guests: vec![GuestCounts {
                guest: "debian:rt".into(),
                provenance: BTreeMap::new(),
                conditions: vec![ConditionCounts {
                    condition: "FIFO 80, idle".into(),
                    counts: counts.into(),
                    median_path: Vec::new(),
                    worst_path: Vec::new(),
                }],
            }],
        }
    }

    #[test]
    fn a_file_of_another_version_is_refused_before_anything_boots() {
        for version in [1, BASELINE_VERSION - 1, BASELINE_VERSION + 1] {
            let other = Baseline {
                version,
                ..baseline(5_000, 0)
            };
            let said = other.check().unwrap_err().to_string();
            let expected =
                format!("version {version}: this wakepath reads version 5; write it again");
            assert!(said.contains(&expected), "{said}");
        }
    }

    #[test]
    fn a_baseline_that_no_run_could_have_counted_is_refused_before_anything_boots() {
        let mut cut = baseline(5_000, 0);
        cut.guests.clear();
        let said = cut.check().unwrap_err().to_string();
        assert!(
            said.contains("1 guests are ordered in it, and it has figures of 0"),
            "{said}"
        );
        let mut edited = baseline(10, 0);
        let counts = &mut edited.guests[0].conditions[0].counts;
        counts.insert("latency_of_wake_ups_median_ns".into(), 10);
        assert_eq!(edited.check(), Ok(()));
        let counts = &mut edited.guests[0].conditions[0].counts;
        counts.insert("latency_of_wake_ups_median_ns".into(), 4_154);
        let said = edited.check().unwrap_err().to_string();
        assert!(
            said.contains(
                "latency_of_wake_ups_median_ns 4154 is above latency_of_wake_ups_max_ns 10"
            ),
            "{said}"
        );
    }
}
