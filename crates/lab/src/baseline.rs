//! What a laboratory run counted, as a file for a repository, and where a later run counts more. Pure;
//! it boots nothing and judges no criterion: a path is longer than it was, or it isn't.

use crate::architecture::Architecture;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Version of the file's format; older files can be read. Since 2 the architecture
/// is in it.
pub const BASELINE_VERSION: u32 = 2;
/// The oldest that can be read.
const OLDEST_BASELINE: u32 = 1;

/// The file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// [`BASELINE_VERSION`].
    pub version: u32,
    /// What was asked for: with it alone the run can be made again.
    pub order: BaselineOrder,
    /// What each guest counted, in the order of kernels, variants and seeds.
    pub guests: Vec<GuestCounts>,
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaselineOrder {
    /// Kernels, as a person names them.
    pub kernels: Vec<String>,
    /// Further parameters of the kernels.
    pub variants: Vec<String>,
    /// Architecture of the guests; before version 2 there was one.
    #[serde(default = "first_architecture")]
    pub architecture: String,
    /// Seeds of the emulator's random numbers.
    pub seeds: Vec<u64>,
    /// CPUs of each guest.
    pub cpus: u16,
    /// Commands that ran first.
    pub before: Vec<String>,
    /// Virtual nanoseconds that pass with each instruction.
    pub ns_per_instruction: u32,
    /// Memory of each guest in MiB.
    pub memory_mib: u32,
    /// The scenario, resolved, as TOML.
    pub scenario: String,
}

fn first_architecture() -> String {
    Architecture::X86_64.to_string()
}

/// What one guest counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GuestCounts {
    /// Kernel, variant and seed, as tables call it.
    pub guest: String,
    /// What it ran on: `kernel`, `emulator` …; where the counts differ, these say what else does.
    pub provenance: BTreeMap<String, String>,
    /// Its conditions, in the order in which they were measured.
    pub conditions: Vec<ConditionCounts>,
}

/// What one condition counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConditionCounts {
    /// Policy and phase.
    pub condition: String,
    /// Counts and times by name; times in virtual nanoseconds end with `_ns`.
    pub counts: BTreeMap<String, i64>,
    /// Where cycles around the median spend their latency; empty where the run was not traced.
    pub median_path: Vec<PathPart>,
    /// Where the worst cycle spent it; likewise.
    pub worst_path: Vec<PathPart>,
}

/// A part of a wake-up path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathPart {
    /// Stretch of the path.
    pub stretch: String,
    /// What took the time.
    pub cause: String,
    /// Time in virtual nanoseconds.
    pub ns: i64,
}

/// A count that is not what it was.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// The guest.
    pub guest: String,
    /// Policy and phase.
    pub condition: String,
    /// Name of the count.
    pub count: String,
    /// In the baseline.
    pub before: i64,
    /// Now.
    pub now: i64,
    /// Whether it is more, and by more than is allowed.
    pub longer: bool,
}

/// A stretch that takes longer or shorter than it did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StretchChange {
    /// Stretch of the path.
    pub stretch: String,
    /// In the baseline, in virtual nanoseconds.
    pub before: i64,
    /// Now.
    pub now: i64,
    /// What takes the most of it now, or took it where nothing is left.
    pub cause: String,
}

/// Why two files can't be held against each other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BaselineError {
    /// Of another version.
    #[error(
        "baseline of version {0}: this wakepath reads {OLDEST_BASELINE} to {BASELINE_VERSION}; write it \
         anew with `lab run --baseline`"
    )]
    Version(u32),
    /// Not what its own order gives.
    #[error(
        "the baseline was cut or edited: {0}; write it anew with `lab run --baseline` or `lab check --write`"
    )]
    Contradiction(String),
    /// Other guests or conditions.
    #[error("the baseline has {before}, this run {now}: write the baseline anew")]
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
    ["latency", "execution", "response"]
        .iter()
        .find_map(|time| {
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
    /// Whether it can be understood.
    ///
    /// # Errors
    /// [`BaselineError::Version`]; [`BaselineError::Contradiction`] where no run could have counted so.
    pub fn check(&self) -> Result<(), BaselineError> {
        if !(OLDEST_BASELINE..=BASELINE_VERSION).contains(&self.version) {
            return Err(BaselineError::Version(self.version));
        }
        let order = &self.order;
        let ordered = order.kernels.len() * (1 + order.variants.len()) * order.seeds.len();
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

    /// Every count that changed. `allowed` is the share by which one may grow, such as 0.02.
    ///
    /// # Errors
    /// Where the two have not counted the same.
    pub fn changes(&self, now: &Self, allowed: f64) -> Result<Vec<Change>, BaselineError> {
        self.check()?;
        let names = |of: &Self| -> Vec<Vec<String>> {
            let conditions = |guest: &GuestCounts| {
                let all = guest.conditions.iter();
                all.map(|one| one.condition.clone()).collect()
            };
            of.guests.iter().map(conditions).collect()
        };
        if names(self) != names(now) {
            let told = |of: &Self| format!("{} guests with {:?}", of.guests.len(), names(of));
            let (before, now) = (told(self), told(now));
            return Err(BaselineError::Other { before, now });
        }
        let mut changes = Vec::new();
        for (old, new) in self.guests.iter().zip(&now.guests) {
            for (old, condition) in old.conditions.iter().zip(&new.conditions) {
                for (count, &found) in &condition.counts {
                    let before = old.counts.get(count).copied().unwrap_or(0);
                    if before == found {
                        continue;
                    }
                    changes.push(Change {
                        guest: new.guest.clone(),
                        condition: condition.condition.clone(),
                        count: count.clone(),
                        before,
                        now: found,
                        longer: is_cost(count) && found as f64 > before as f64 * (1.0 + allowed),
                    });
                }
            }
        }
        Ok(changes)
    }
}

/// Whether more of it is worse; of cycles that ran it is better.
fn is_cost(count: &str) -> bool {
    count != "executed" && count != "scheduled"
}

/// The stretches of two paths that differ, those that grew the most first.
pub fn stretch_changes(before: &[PathPart], now: &[PathPart]) -> Vec<StretchChange> {
    let mut stretches: Vec<&str> = Vec::new();
    for part in before.iter().chain(now) {
        if !stretches.contains(&part.stretch.as_str()) {
            stretches.push(&part.stretch);
        }
    }
    let sum = |path: &[PathPart], stretch: &str| -> i64 {
        let parts = path.iter().filter(|part| part.stretch == stretch);
        parts.map(|part| part.ns).sum()
    };
    let cause = |stretch: &str| {
        let of = |path: &[PathPart]| {
            let parts = path.iter().filter(|part| part.stretch == stretch);
            let most = parts.max_by_key(|part| part.ns);
            most.map(|part| part.cause.clone())
        };
        of(now).or_else(|| of(before)).unwrap_or_default()
    };
    let mut changes: Vec<StretchChange> = stretches
        .into_iter()
        .map(|stretch| StretchChange {
            stretch: stretch.to_owned(),
            before: sum(before, stretch),
            now: sum(now, stretch),
            cause: cause(stretch),
        })
        .filter(|change| change.before != change.now)
        .collect();
    changes.sort_by_key(|change| change.before - change.now);
    changes
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (condition, count) = (&self.condition, &self.count);
        write!(
            f,
            "{}: {condition}: {count} {} → {} ({:+})",
            self.guest,
            self.before,
            self.now,
            self.now - self.before
        )
    }
}

impl fmt::Display for StretchChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, now) = (self.before, self.now);
        write!(
            f,
            "{} {before} → {now} ns ({:+}): {}",
            self.stretch,
            now - before,
            self.cause
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn baseline(latency: i64, skipped: i64) -> Baseline {
        let counts = [
            ("executed", 200 - skipped),
            ("latency_max_ns", latency),
            ("skipped", skipped),
        ];
        let counts = counts.map(|(name, value)| (name.to_owned(), value));
        Baseline {
            version: BASELINE_VERSION,
            order: BaselineOrder {
                kernels: vec!["debian:rt".into()],
                variants: Vec::new(),
                architecture: "x86-64".into(),
                seeds: vec![1],
                cpus: 1,
                before: Vec::new(),
                ns_per_instruction: 1,
                memory_mib: 1024,
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
    fn one_nanosecond_more_is_longer_and_one_less_is_not() {
        let before = baseline(5_000, 0);
        assert_eq!(before.changes(&before, 0.0).unwrap(), []);
        let longer = before.changes(&baseline(5_001, 0), 0.0).unwrap();
        assert_eq!(
            longer[0].to_string(),
            "debian:rt: FIFO 80, idle: latency_max_ns 5000 → 5001 (+1)"
        );
        assert!(longer[0].longer && longer.len() == 1);
        let shorter = before.changes(&baseline(4_999, 0), 0.0).unwrap();
        assert!(!shorter[0].longer);
        let allowed = before.changes(&baseline(5_100, 0), 0.02).unwrap();
        assert!(!allowed[0].longer, "2 % of 5000 ns is 100 ns");
    }

    #[test]
    fn a_skipped_cycle_is_worse_once() {
        let changes = baseline(5_000, 0).changes(&baseline(5_000, 1), 0.0);
        let longer: Vec<String> = changes
            .unwrap()
            .into_iter()
            .filter(|change| change.longer)
            .map(|change| change.count)
            .collect();
        assert_eq!(longer, ["skipped"]);
    }

    #[test]
    fn other_conditions_and_another_version_are_refused() {
        let mut other = baseline(5_000, 0);
        other.guests[0].conditions[0].condition = "FIFO 80, stress".into();
        let error = baseline(5_000, 0).changes(&other, 0.0).unwrap_err();
        assert!(error.to_string().contains("FIFO 80, stress"), "{error}");
        let old = Baseline {
            version: 0,
            ..baseline(5_000, 0)
        };
        let refused = old.changes(&baseline(5_000, 0), 0.0);
        assert_eq!(refused, Err(BaselineError::Version(0)));
    }

    #[test]
    fn a_file_of_the_first_version_is_read_as_one_of_the_only_architecture_there_was() {
        let mut old = serde_json::to_value(baseline(5_000, 0)).unwrap();
        old["version"] = 1.into();
        old["order"].as_object_mut().unwrap().remove("architecture");
        let old: Baseline = serde_json::from_value(old).unwrap();
        assert_eq!(old.order.architecture, "x86-64");
        assert_eq!(old.changes(&baseline(5_000, 0), 0.0), Ok(Vec::new()));
        let newer = BASELINE_VERSION + 1;
        let newer = Baseline {
            version: newer,
            ..old
        };
        let said = newer.check().unwrap_err().to_string();
        assert!(
            said.contains("version 3: this wakepath reads 1 to 2"),
            "{said}"
        );
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
        counts.insert("latency_median_ns".into(), 10);
        assert_eq!(edited.check(), Ok(()));
        let counts = &mut edited.guests[0].conditions[0].counts;
        counts.insert("latency_median_ns".into(), 4_154);
        let said = edited.check().unwrap_err().to_string();
        assert!(
            said.contains("latency_median_ns 4154 is above latency_max_ns 10"),
            "{said}"
        );
    }

    #[test]
    fn the_stretch_that_grew_comes_first_with_what_took_it() {
        let part = |stretch: &str, cause: &str, ns| PathPart {
            stretch: stretch.into(),
            cause: cause.into(),
            ns,
        };
        let before = [
            part("due → interrupt", "interrupt entry", 900),
            part("waking → switch-in", "scheduler", 1_000),
        ];
        let now = [
            part("due → interrupt", "interrupt entry", 700),
            part("waking → switch-in", "scheduler", 1_000),
            part("waking → switch-in", "SoftIRQ RCU", 4_000),
        ];
        let changes = stretch_changes(&before, &now);
        let texts: Vec<String> = changes.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "waking → switch-in 1000 → 5000 ns (+4000): SoftIRQ RCU",
                "due → interrupt 900 → 700 ns (-200): interrupt entry"
            ]
        );
    }
}
