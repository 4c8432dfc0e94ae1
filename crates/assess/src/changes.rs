//! What changed on the machine from the first look to the last, and which phases that concerns.

use wakepath_archive::FactsTaken;
use wakepath_machine::{Change, ChangedFact, Facts, GroupThrottling, Severity, SummaryLine};
use wakepath_verdict::FactChange;

/// The changes of a run.
#[derive(Debug, Default)]
pub(crate) struct RunChanges {
    /// From the first look to the last, with what came and went again.
    pub(crate) all: Vec<Change>,
    /// By phase: from the look before it to the look after it.
    by_phase: Vec<(String, Vec<Change>)>,
    /// Control groups that ran into their CPU quotas from the first look to the last.
    pub(crate) throttled: Vec<GroupThrottling>,
    /// The machine as labelled lines, from the first look.
    pub(crate) machine: Vec<SummaryLine>,
}

impl RunChanges {
    /// The clock source before and after, if it changed at any time of the run.
    pub(crate) fn clock_source(&self) -> Option<(&str, &str)> {
        let mut all = self.all.iter();
        let change = all.find(|change| change.fact == ChangedFact::ClockSource)?;
        Some((&change.before, &change.after))
    }

    /// What concerns the verdict on conditions of a phase: facts that changed during it, with the run's figures, so that
    /// one run has one figure for each fact. Notes don't count.
    pub(crate) fn fact_changes(&self, phase: &str) -> Vec<FactChange> {
        let of_phase = self.by_phase.iter().filter(|(name, _)| name == phase);
        let mut found: Vec<FactChange> = Vec::new();
        for change in of_phase.flat_map(|(_, changes)| changes) {
            let of_run = self.all.iter().find(|of_run| of_run.what == change.what);
            let change_of_fact = fact_change(of_run.unwrap_or(change));
            if change.severity > Severity::Note && !found.contains(&change_of_fact) {
                found.push(change_of_fact);
            }
        }
        found
    }
}

/// Compares the looks at the machine. Facts that another version wrote and this one can't read
/// are compared no further.
pub(crate) fn run_changes(records: &[FactsTaken]) -> RunChanges {
    let read = |record: &FactsTaken| Facts::of_json(&record.facts).ok();
    let (Some(first), Some(last)) = (records.first(), records.last()) else {
        return RunChanges::default();
    };
    let (Some(before), Some(after)) = (read(first), read(last)) else {
        return RunChanges::default();
    };
    let mut by_phase = Vec::new();
    let same_stretch = |a: &FactsTaken, b: &FactsTaken| {
        a.phase.is_some() && a.phase == b.phase && a.repetition == b.repetition
    };
    // Looks of one phase in one repetition follow each other: before, during, after.
    for looks in records.chunk_by(same_stretch) {
        if let (Some(phase), Some(facts)) = (
            looks[0].phase.clone(),
            looks.iter().map(read).collect::<Option<Vec<_>>>(),
        ) {
            by_phase.push((phase, changes_over(&facts)));
        }
    }
    let looks: Vec<Facts> = records.iter().filter_map(read).collect();
    let all = changes_over(&looks);
    RunChanges {
        all,
        by_phase,
        throttled: after.varying.cgroup.throttled_since(&before.varying.cgroup),
        machine: before.summary(),
    }
}

/// From the first look to the last, and what came and went again between two looks.
fn changes_over(looks: &[Facts]) -> Vec<Change> {
    let (Some(first), Some(last)) = (looks.first(), looks.last()) else {
        return Vec::new();
    };
    let mut changes = last.changes_since(first);
    for pair in looks.windows(2) {
        let between = pair[1].changes_since(&pair[0]);
        add_unknown(&mut changes, &between);
    }
    changes
}

/// Adds the changes of what isn't among `known` yet.
fn add_unknown<'a>(known: &mut Vec<Change>, more: impl IntoIterator<Item = &'a Change>) {
    for change in more {
        if !known.iter().any(|known| known.what == change.what) {
            known.push(change.clone());
        }
    }
}

/// A change of the machine in the verdict's words.
fn fact_change(change: &Change) -> FactChange {
    let (from, to) = (change.before.clone(), change.after.clone());
    match change.fact {
        ChangedFact::ClockSource => FactChange::ClockSource { from, to },
        _ => FactChange::Other {
            fact: change.what.clone(),
            from,
            to,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stolen(after: &str) -> Change {
        Change {
            fact: ChangedFact::StolenCpuTime,
            what: "CPU time taken by the hypervisor".into(),
            path: "/proc/stat".into(),
            before: "0".into(),
            after: after.into(),
            severity: Severity::Warning,
        }
    }

    #[test]
    fn a_phase_shows_the_figures_of_the_run() {
        let by_phase = [
            ("idle", "1 tick"),
            ("stress", "2 ticks"),
            ("stress", "3 ticks"),
        ];
        let by_phase = by_phase.map(|(phase, after)| (phase.to_owned(), vec![stolen(after)]));
        let changes = RunChanges {
            all: vec![stolen("7 ticks")],
            by_phase: by_phase.into(),
            ..RunChanges::default()
        };
        for phase in ["idle", "stress"] {
            let found = changes.fact_changes(phase);
            let of_run = fact_change(&stolen("7 ticks"));
            assert_eq!(found, [of_run], "{phase}");
        }
        assert_eq!(changes.fact_changes("rest"), []);
    }
}
