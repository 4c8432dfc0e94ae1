//! Warnings about valid settings that are probably mistakes.

use crate::Scenario;
use std::fmt;
use wakepath_timeline::Policy;
use wakepath_timeline::duration::exact;

/// A valid but possibly surprising setting.
#[derive(Debug, Clone, PartialEq)]
pub enum Warning {
    /// The rate's period is not a whole number of nanoseconds, so the loop drifts against it.
    RateNotWhole {
        /// Key of the rate.
        key: String,
        /// The rate as written.
        rate: String,
        /// The period that is kept, in nanoseconds.
        period_ns: u64,
    },
    /// The run is too short to meet the criterion, even without a single miss.
    TooShortToPass {
        /// Judged due times of each condition.
        cycles: u64,
        /// Due times without a miss that would do.
        needed: u64,
        /// Length of a whole run that has them, in nanoseconds.
        run_ns: u64,
    },
    /// Threads with these policies are not pinned although CPUs are given for them.
    PinNotApplied {
        /// The DEADLINE policies.
        policies: Vec<Policy>,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RateNotWhole {
                key,
                rate,
                period_ns,
            } => write!(
                f,
                "{key} = \"{rate}\" is not a whole number of nanoseconds: the period is {}, so the \
                 loop drifts against it",
                exact(*period_ns),
            ),
            Self::TooShortToPass {
                cycles,
                needed,
                run_ns,
            } => write!(
                f,
                "too short to pass: each condition needs {} cycles and gets {}; a run of {} has \
                 enough",
                grouped(*needed),
                grouped(*cycles),
                exact(*run_ns),
            ),
            Self::PinNotApplied { policies } => {
                match &policies[..] {
                    [one] => write!(f, "{one} is")?,
                    several => write!(f, "{} DEADLINE policies are", several.len())?,
                }
                f.write_str(
                    " not pinned to the CPUs given: Linux only allows DEADLINE on all CPUs of the \
                     root domain",
                )
            }
        }
    }
}

impl Scenario {
    /// Possibly surprising settings of the resolved scenario. Call it again after a change.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let needed = self.criterion_of_each().due_times_needed();
        let judged = self.phases.iter().any(|phase| {
            let works = self
                .tasks
                .iter()
                .map(|task| self.work_in(&phase.name, task));
            works.into_iter().any(|work| !work.is_measurement())
        });
        if self.cycles < needed && judged {
            warnings.push(Warning::TooShortToPass {
                cycles: self.cycles,
                needed,
                run_ns: self.run_ns_of(needed),
            });
        }
        let pinned = |own: Option<Policy>| {
            self.tasks
                .iter()
                .any(|task| task.policy == own && task.cpus.is_some())
        };
        let is_deadline = |policy: &&Policy| matches!(policy, Policy::Deadline { .. });
        let of_all = self.policies.iter().filter(|_| pinned(None));
        let own = self.tasks.iter().filter(|task| task.cpus.is_some());
        let own = own.filter_map(|task| task.policy.as_ref());
        let mut policies: Vec<Policy> = Vec::new();
        for policy in of_all.chain(own).filter(is_deadline) {
            if !policies.contains(policy) {
                policies.push(*policy);
            }
        }
        if !policies.is_empty() {
            warnings.push(Warning::PinNotApplied { policies });
        }
        warnings
    }
}

/// Digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let mut shown = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && index % 3 == first {
            shown.push(' ');
        }
        shown.push(digit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_are_grouped() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1_000), "1 000");
        assert_eq!(grouped(29_956), "29 956");
        assert_eq!(grouped(600_000), "600 000");
    }
}
