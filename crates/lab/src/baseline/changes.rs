//! Counts of a later run that differ from a baseline, and the stretches of code responsible.

use super::{Baseline, BaselineError, GuestCounts, PathPart};
use serde::Serialize;
use std::fmt;

/// A count that has changed.
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

/// A stretch whose duration has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StretchChange {
    /// Stretch of the path.
    pub stretch: String,
    /// In the baseline, in virtual nanoseconds.
    pub before: i64,
    /// Now.
    pub now: i64,
    /// The largest part of it now, or of the baseline if nothing is left.
    pub cause: String,
}

impl Baseline {
    /// Every count that changed. `allowed` is the share by which one can grow, such as 0.02.
    ///
    /// # Errors
    /// If the two have different conditions.
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
    use super::super::tests::baseline;
    use super::*;

    #[test]
    fn one_nanosecond_more_is_longer_and_one_less_is_not() {
        let before = baseline(5_000, 0);
        assert_eq!(before.changes(&before, 0.0).unwrap(), []);
        let longer = before.changes(&baseline(5_001, 0), 0.0).unwrap();
        assert_eq!(
            longer[0].to_string(),
            "debian:rt: FIFO 80, idle: latency_of_wake_ups_max_ns 5000 → 5001 (+1)"
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
