//! The first gate: how the values were measured. A tail is a statement about every value that the machine
//! produces in one state, so missing values, or values from two states, rule it out. The verdict reports
//! why it is invalid; this module adds the fix.

use super::BoundMetric;
use super::series::Series;
use crate::changes::run_changes;
use crate::conditions::ConditionSegments;
use crate::judged::provenance_of;
use wakepath_archive::{Run, Shortfall};
use wakepath_extremes::{Gate, GateName};
use wakepath_scenario::Scenario;
use wakepath_timeline::Lack;
use wakepath_verdict::{Caution, EarlyEnd, FactChange, Reason, SamplesSeen, counted, objections};

/// An objection, and its fix.
type Objection = (String, &'static str);

/// What speaks against every bound on a condition, whichever of its threads it is for: a verdict takes
/// them together too.
pub(super) struct Provenance {
    objections: Vec<Objection>,
    /// Facts missing from an imported or watched run.
    lacks: Vec<Lack>,
}

impl Provenance {
    pub(super) fn new<'a>(
        run: &Run,
        scenario: &Scenario,
        condition: &ConditionSegments<'_>,
        threads: impl Iterator<Item = &'a Series>,
    ) -> Self {
        let changes = run_changes(&run.manifest.facts);
        let mut provenance = provenance_of(run, scenario, condition, &changes);
        let mut samples = SamplesSeen::default();
        for series in threads {
            samples = samples.and(series.tally.samples_seen());
            provenance.skipped.extend(&series.skipped_counts);
        }
        let mut found = of_run(run);
        for reason in objections(&samples, &provenance) {
            found.extend(cure(&reason).map(|cure| (reason.to_string(), cure)));
        }
        for change in provenance.changes {
            // This one is among the reasons.
            if !matches!(change, FactChange::ClockSource { .. }) {
                let caution = Caution::MachineChanged { change };
                found.push((caution.to_string(), STEADY));
            }
        }
        let imported = run.manifest.imported.as_ref();
        Self {
            objections: found,
            lacks: imported.map_or_else(Vec::new, |imported| imported.lacks.clone()),
        }
    }

    /// The gate of one thread's values of this time.
    pub(super) fn gate(&self, series: &Series, metric: BoundMetric) -> Gate {
        let own = of_thread(series);
        let lacking = self.lacks.iter().find(|lack| matters(lack, metric));
        let lacking: Option<Objection> = lacking.map(|lack| {
            let finding = format!("not recorded: {}", lack.text());
            (
                finding,
                "measure with wakepath check, or wakepath run SCENARIO",
            )
        });
        let found: Vec<&Objection> = lacking.iter().chain(&self.objections).chain(&own).collect();
        let Some((_, cure)) = found.first() else {
            let finding = if self.lacks.is_empty() {
                "no sample lost, no period skipped, every load and policy proven, nothing changed \
                         on the machine"
            } else {
                "every cycle was recorded with its time, and no period was skipped; other facts are \
                          as the recording has them"
            };
            return Gate::passed(GateName::Provenance, finding);
        };
        let findings: Vec<&str> = found.iter().map(|(finding, _)| finding.as_str()).collect();
        Gate::failed(GateName::Provenance, findings.join("; "), *cure)
    }
}

const STEADY: &str =
    "measure again while nothing changes on the machine; wakepath doctor lists the causes";
const TO_ITS_END: &str = "measure again, and let the run end by its plan";

/// Whether a bound needs what was not recorded.
fn matters(lack: &Lack, metric: BoundMetric) -> bool {
    match lack {
        Lack::BeforeWakeUp
        | Lack::Timers { .. }
        | Lack::DueTimesOfSomeCycles { .. }
        | Lack::ProgrammedTimes { .. } => metric != BoundMetric::Execution,
        Lack::ExecutionTimes | Lack::EndOfWork => metric != BoundMetric::Latency,
        Lack::SkippedPeriods
        | Lack::OverflowedValues
        | Lack::OverflowCount
        | Lack::Quantiles
        | Lack::BinWidth
        | Lack::Order
        | Lack::Other(_) => true,
        // Values are as they were measured, warm-up and tracing included; periods that were inferred to be
        // skipped, and lost lines, are objections of their own.
        Lack::SkippedPeriodsInferred
        | Lack::MissedWakeUps
        | Lack::DueTimes
        | Lack::LastSamples
        | Lack::WarmUp
        | Lack::EffectivePolicy
        | Lack::Machine
        | Lack::LostLines
        | Lack::AfterLastLine
        | Lack::Loads
        | Lack::UnevenDueTimes
        | Lack::OwnDueTimes
        | Lack::FirstInstructions
        | Lack::Untraced
        | Lack::BelowMicroseconds => false,
    }
}

fn of_run(run: &Run) -> Vec<Objection> {
    let mut found = Vec::new();
    // Measurements until someone stopped it count.
    let lacks = run.shortfalls().into_iter();
    let lacks = lacks.filter(|of| *of != Shortfall::Interrupted);
    found.extend(lacks.map(|of| (of.to_string(), "measure again")));
    found
}

fn of_thread(series: &Series) -> Vec<Objection> {
    let mut found = Vec::new();
    if series.tally.skipped > 0 {
        found.push((
            format!(
                "{} skipped: their latencies were not measured",
                counted(series.tally.skipped, "period", "periods")
            ),
            "first make the loop keep its rate: a lower rate, another policy, or less load",
        ));
    }
    if series.tally.late_after_overrun > 0 {
        found.push((
            format!(
                "{} due while the previous one still ran: cycles after an overrun behave differently",
                counted(series.tally.late_after_overrun, "cycle was", "cycles were")
            ),
            "first make the work fit into its period",
        ));
    }
    found
}

/// What would cure it; `None` for what leaves the values as good as they are.
fn cure(reason: &Reason) -> Option<&'static str> {
    Some(match reason {
        Reason::InconsistentSamples { .. }
        | Reason::CountsDisagree { .. }
        | Reason::SkippedCountsDiffer { .. }
        | Reason::JudgedCountDiffers { .. } => {
            "measure again; if it happens again, it is a fault of the recording: please report it"
        }
        Reason::SamplesLost { .. } => "measure again, with less disturbance of the recorder",
        Reason::EventsLost { .. } => "trace again with larger buffers or fewer events",
        Reason::LoadNotProven { .. } => "measure again with all loads working",
        Reason::PolicyNotEffective { .. } => "measure again with the privilege for that policy",
        Reason::ClockSourceChanged { .. } => STEADY,
        Reason::ModeSwitches { .. } => {
            "remove the Linux system calls from the loop, and measure again"
        }
        Reason::WorkFaults { .. } => "fix the faults that the work reports, and measure again",
        Reason::VirtualTime { .. } => "measure on the machine itself",
        Reason::WhileTraced { reason } => return cure(reason),
        Reason::EndedEarly { cause } => match cause {
            // Measurements until then count.
            EarlyEnd::Interrupted => return None,
            EarlyEnd::Guard { .. }
            | EarlyEnd::Killed { .. }
            | EarlyEnd::Error { .. }
            | EarlyEnd::Overrun { .. } => TO_ITS_END,
        },
        // A criterion's verdict on the values is no objection to them.
        Reason::NoDueTimes
        | Reason::NoDueTimesYet
        | Reason::InterruptedInWarmUp
        | Reason::MissesObserved { .. }
        | Reason::MissFractionAbove { .. }
        | Reason::ConsecutiveMissesAbove { .. }
        | Reason::OutageAbove { .. }
        | Reason::MissFractionUndecided { .. }
        | Reason::MissesDepend { .. }
        | Reason::EvidenceMissing { .. }
        | Reason::MissFractionWithin { .. }
        | Reason::NoMissesObserved { .. }
        | Reason::ConsecutiveMissesWithin { .. }
        | Reason::OutageWithin { .. }
        | Reason::CriterionUnfit
        | Reason::ProgramEnded { .. }
        | Reason::MachineWentDown { .. }
        | Reason::RoundsSetAside { .. }
        | Reason::RoundsFailed { .. }
        | Reason::RoundsUndecided { .. }
        | Reason::NoCriterion
        | Reason::NotRecorded { .. }
        | Reason::Flight { .. } => return None,
    })
}
