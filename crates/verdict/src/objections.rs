//! Objections to a condition's samples, whatever their values. A verdict asks first, and so does
//! every other computation from them: there is one list.

use crate::{FactChange, Inconsistency, Provenance, Reason, UnprovenLoad};

/// Statements of a condition's samples about themselves, over all its segments and threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SamplesSeen {
    /// How many there are, warm-up included.
    pub count: u64,
    /// The first contradiction in them.
    pub inconsistency: Option<Inconsistency>,
    /// Cycles in the judged windows.
    pub executed: u64,
    /// Those of them whose work reported a fault of its own.
    pub work_faults: u64,
    /// Those of them in which a thread of a real-time core switched into Linux.
    pub mode_switches: u64,
}

impl SamplesSeen {
    /// These and others.
    pub fn and(self, other: Self) -> Self {
        Self {
            count: self.count.saturating_add(other.count),
            inconsistency: self.inconsistency.or(other.inconsistency),
            executed: self.executed.saturating_add(other.executed),
            work_faults: self.work_faults.saturating_add(other.work_faults),
            mode_switches: self.mode_switches.saturating_add(other.mode_switches),
        }
    }
}

/// Every reason not to believe what a condition shows, or to believe it only in part: an interruption
/// and virtual time are among them. [`Reason::bearing`] says what each makes of a verdict.
pub fn objections(samples: &SamplesSeen, provenance: &Provenance) -> Vec<Reason> {
    let Provenance {
        written,
        recorded,
        lost,
        ..
    } = *provenance;
    let mut reasons = Vec::new();
    if let Some(inconsistency) = samples.inconsistency {
        reasons.push(Reason::InconsistentSamples { inconsistency });
    }
    if lost > 0 {
        reasons.push(Reason::SamplesLost { lost, written });
    }
    if provenance.lost_events > 0 {
        reasons.push(Reason::EventsLost {
            lost: provenance.lost_events,
            cpus: provenance.lost_events_cpus.clone(),
        });
    }
    if recorded.checked_add(lost) != Some(written) {
        reasons.push(Reason::CountsDisagree {
            written,
            recorded,
            lost,
        });
    }
    for counts in provenance.skipped.iter().filter(|counts| !counts.agree()) {
        reasons.push(Reason::SkippedCountsDiffer { counts: *counts });
    }
    if recorded != samples.count {
        reasons.push(Reason::JudgedCountDiffers {
            recorded,
            judged: samples.count,
        });
    }
    for UnprovenLoad { load, why } in &provenance.unproven_loads {
        let (load, detail) = (load.clone(), why.clone());
        reasons.push(Reason::LoadNotProven { load, detail });
    }
    for policy in &provenance.policies {
        if policy.effective != Some(policy.requested) {
            reasons.push(Reason::PolicyNotEffective {
                task: policy.task.clone(),
                requested: policy.requested,
                effective: policy.effective,
            });
        }
    }
    for cause in &provenance.early_ends {
        reasons.push(Reason::EndedEarly {
            cause: cause.clone(),
        });
    }
    for change in &provenance.changes {
        if let FactChange::ClockSource { from, to } = change {
            let (from, to) = (from.clone(), to.clone());
            reasons.push(Reason::ClockSourceChanged { from, to });
        }
    }
    if let Some(ns_per_instruction) = provenance.virtual_ns_per_instruction {
        reasons.push(Reason::VirtualTime { ns_per_instruction });
    }
    if samples.work_faults > 0 {
        reasons.push(Reason::WorkFaults {
            faults: samples.work_faults,
            executed: samples.executed,
        });
    }
    let tolerated = provenance.mode_switches_tolerated;
    if samples.mode_switches as f64 > tolerated * samples.executed as f64 {
        reasons.push(Reason::ModeSwitches {
            switched: samples.mode_switches,
            executed: samples.executed,
            tolerated,
        });
    }
    reasons
}
