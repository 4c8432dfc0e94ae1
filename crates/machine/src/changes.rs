//! Changes on a machine between two readings that can matter to a loop.
//!
//! A clock rate that moves within its bounds is not a change; a bound that moves is.

use serde::{Deserialize, Serialize};

mod counters;
mod settings;

use crate::Facts;

/// How much a change can matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing: a fan started.
    Note,
    /// Can make cycles late: time was stolen, memory was swapped.
    Warning,
    /// Results before and after can't be compared: the governor changed, a CPU went offline.
    Serious,
}

/// A fact whose change others decide by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangedFact {
    /// The kernel's clock source.
    ClockSource,
    /// CPU time that the hypervisor took.
    StolenCpuTime,
    /// Control group of the process that reads.
    OwnControlGroup,
    /// CPU quota of that group.
    OwnCpuQuota,
    /// CPUs that the process that reads may use.
    OwnAffinity,
    /// Any other.
    #[default]
    Other,
}

impl ChangedFact {
    /// Whether it describes the process that reads, not the machine.
    fn is_of_this_process(self) -> bool {
        matches!(
            self,
            Self::OwnControlGroup | Self::OwnCpuQuota | Self::OwnAffinity
        )
    }
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The changed fact, where others decide by it.
    pub fact: ChangedFact,
    /// The changed thing, in words: `governor of CPUs 0-3`.
    pub what: String,
    /// The file that shows it.
    pub path: String,
    /// As it was.
    pub before: String,
    /// As it is; for counters, by how much they advanced.
    pub after: String,
    /// How much it can matter.
    pub severity: Severity,
}

/// The changes from `earlier` to `later`, most severe first.
pub(crate) fn between(earlier: &Facts, later: &Facts) -> Vec<Change> {
    let mut changes = Changes::default();
    let boot = (
        earlier.fixed.kernel.boot_id.known(),
        later.fixed.kernel.boot_id.known(),
    );
    if let (Some(before), Some(after)) = boot
        && before != after
    {
        // Counters of two boots can't be compared, and everything else is explained by it.
        changes.add(
            Severity::Serious,
            "the machine was rebooted",
            "",
            before,
            after,
        );
        changes.0[0].path = later.fixed.kernel.boot_id.path().to_owned();
        return changes.0;
    }
    settings::compare(earlier, later, &mut changes);
    counters::compare(earlier, later, &mut changes);
    changes
        .0
        .sort_by_cached_key(|change| std::cmp::Reverse(change.severity));
    changes.0
}

/// Differences between two machines, or one machine in two boots: hardware first, then settings.
/// Counters of two boots can't be compared and are left out.
pub(crate) fn apart(one: &Facts, other: &Facts) -> Differences {
    let mut hardware = Changes::default();
    settings::compare_hardware(one, other, &mut hardware);
    let mut settings = Changes::default();
    settings::compare(one, other, &mut settings);
    Differences {
        hardware: hardware.0,
        settings: settings.0,
    }
}

/// Differences between two machines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Differences {
    /// Another machine: its name, its CPUs.
    pub hardware: Vec<Change>,
    /// The same or another machine, booted or set otherwise.
    pub settings: Vec<Change>,
}

/// The settings that differ, also across a reboot, most severe first.
pub(crate) fn drift(earlier: &Facts, later: &Facts) -> Vec<Change> {
    let mut changes = Changes::default();
    settings::compare(earlier, later, &mut changes);
    // The reading process's own settings don't matter: a run places itself away from its loop's
    // CPU.
    changes.0.retain(|change| !change.fact.is_of_this_process());
    changes
        .0
        .sort_by_cached_key(|change| std::cmp::Reverse(change.severity));
    changes.0
}

/// The changes found so far.
#[derive(Default)]
struct Changes(Vec<Change>);

impl Changes {
    fn add(
        &mut self,
        severity: Severity,
        what: impl Into<String>,
        path: &str,
        before: impl ToString,
        after: impl ToString,
    ) {
        self.add_fact(ChangedFact::Other, severity, what, path, before, after);
    }

    fn add_fact(
        &mut self,
        fact: ChangedFact,
        severity: Severity,
        what: impl Into<String>,
        path: &str,
        before: impl ToString,
        after: impl ToString,
    ) {
        self.0.push(Change {
            fact,
            what: what.into(),
            path: path.to_owned(),
            before: before.to_string(),
            after: after.to_string(),
            severity,
        });
    }
}
