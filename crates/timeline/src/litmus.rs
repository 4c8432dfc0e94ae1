//! Parameters of a task of LITMUS^RT, and the core's scheduling plugins.
//!
//! Types only: the loop library passes them to the core.

use crate::duration::{exact, exact_ascii};
use std::fmt;

/// A plugin of LITMUS^RT: the algorithm that schedules all of its tasks. One is active at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum LitmusPlugin {
    /// Fixed priorities, each task on its CPU.
    PFp,
    /// Earliest deadline first, each task on its CPU.
    PsnEdf,
    /// Earliest deadline first over all CPUs.
    GsnEdf,
    /// Earliest deadline first over the CPUs of a cluster.
    CEdf,
}

impl LitmusPlugin {
    /// All that have a policy here.
    pub const ALL: [Self; 4] = [Self::PFp, Self::PsnEdf, Self::GsnEdf, Self::CEdf];

    /// As `/proc/litmus` calls it: `PSN-EDF`.
    pub fn name(self) -> &'static str {
        match self {
            Self::PFp => "P-FP",
            Self::PsnEdf => "PSN-EDF",
            Self::GsnEdf => "GSN-EDF",
            Self::CEdf => "C-EDF",
        }
    }

    /// The plugin of this name, in upper or lower case.
    pub fn named(name: &str) -> Option<Self> {
        let same = |plugin: &Self| plugin.name().eq_ignore_ascii_case(name);
        Self::ALL.into_iter().find(same)
    }

    /// Whether a task can run on other CPUs than the one that it was admitted on.
    pub fn migrates(self) -> bool {
        matches!(self, Self::GsnEdf | Self::CEdf)
    }
}

impl fmt::Display for LitmusPlugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// When the core looks whether a job has used up its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Enforcement {
    /// Never: the budget is only used by analyses.
    #[default]
    None,
    /// At ticks.
    Quantum,
    /// By a timer.
    Precise,
}

/// How a cycle waits for its due time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum JobRelease {
    /// It completes its job, and the core releases the next one at the due time.
    #[default]
    Job,
    /// It sleeps by `clock_nanosleep`, and the core treats the wake-up as the job's release.
    Sleep,
}

/// Times of a task's jobs, which the tasks of every plugin have. One cycle of a loop is one job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LitmusTask {
    /// CPU time of a job, in nanoseconds; `None`: all that there is until its deadline.
    pub budget_ns: Option<u64>,
    /// Least time between two releases, in nanoseconds; `None`: the loop's period.
    pub period_ns: Option<u64>,
    /// Relative deadline of a job, in nanoseconds; `None`: the period.
    pub deadline_ns: Option<u64>,
    /// Whether the budget is enforced.
    pub enforcement: Enforcement,
    /// How a cycle waits.
    pub release: JobRelease,
}

impl LitmusTask {
    /// The same with missing values filled in for a loop with this period: its period, its
    /// deadline, its budget.
    #[must_use]
    pub fn of_a_loop(self, period_ns: u64) -> Self {
        let period = self.period_ns.unwrap_or(period_ns);
        let deadline = self.deadline_ns.unwrap_or(period);
        Self {
            budget_ns: Some(self.budget_ns.unwrap_or(deadline.min(period))),
            period_ns: Some(period),
            deadline_ns: Some(deadline),
            ..self
        }
    }

    /// Differences from the defaults, for use after a plugin's name: `, budget 400 µs, release
    /// sleep`.
    pub(crate) fn told(&self, ascii: bool) -> String {
        let time = |ns| if ascii { exact_ascii(ns) } else { exact(ns) };
        let mut text = String::new();
        for (name, value) in [
            ("budget", self.budget_ns),
            ("period", self.period_ns),
            ("deadline", self.deadline_ns),
        ] {
            if let Some(ns) = value {
                text += &format!(", {name} {}", time(ns));
            }
        }
        text += match self.enforcement {
            Enforcement::None => "",
            Enforcement::Quantum => ", enforce quantum",
            Enforcement::Precise => ", enforce precise",
        };
        text += match self.release {
            JobRelease::Job => "",
            JobRelease::Sleep => ", release sleep",
        };
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_open_is_the_loops() {
        let open = LitmusTask::default().of_a_loop(4_000_000);
        assert_eq!(open.period_ns, Some(4_000_000));
        assert_eq!(
            (open.deadline_ns, open.budget_ns),
            (open.period_ns, open.period_ns)
        );
        let early = LitmusTask {
            deadline_ns: Some(1_000_000),
            ..LitmusTask::default()
        };
        assert_eq!(early.of_a_loop(4_000_000).budget_ns, Some(1_000_000));
        let given = early.of_a_loop(4_000_000);
        assert_eq!(given.of_a_loop(1), given);
    }

    #[test]
    fn a_plugin_is_known_by_its_name_in_any_case() {
        for plugin in LitmusPlugin::ALL {
            assert_eq!(
                LitmusPlugin::named(&plugin.name().to_lowercase()),
                Some(plugin)
            );
        }
        assert_eq!(LitmusPlugin::named("PFAIR"), None);
    }
}
