//! Why a verdict is what it is: each reason with its numbers, and what it bears on the verdict.

mod sentence;

use crate::{EarlyEnd, FlightFinding, Inconsistency, Outcome, SkippedCounts};
use serde::Serialize;
use wakepath_timeline::Policy;

/// How much longer a run must be before it can be decided.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MoreNeeded {
    /// Further due times, if misses continue at the present rate.
    pub due_times: u64,
    /// The time these take, in seconds.
    pub seconds: f64,
}

/// One reason for a verdict. Times are nanoseconds, shares and confidences 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[allow(
    missing_docs,
    reason = "the fields are named by the words of the glossary"
)]
pub enum Reason {
    /// The samples contradict themselves.
    InconsistentSamples { inconsistency: Inconsistency },
    /// The judged windows hold no due time.
    NoDueTimes,
    /// A history under way has no due time yet.
    NoDueTimesYet,
    /// Nothing could be measured: someone ended the run in the warm-up.
    InterruptedInWarmUp,
    /// Samples were lost on the way to the recording.
    SamplesLost { lost: u64, written: u64 },
    /// Kernel events that the samples were made of are missing.
    EventsLost { lost: u64, cpus: Vec<u16> },
    /// Written samples are not those recorded and lost.
    CountsDisagree {
        written: u64,
        recorded: u64,
        lost: u64,
    },
    /// The loop skipped other due times than the samples leave out.
    SkippedCountsDiffer { counts: SkippedCounts },
    /// Judged and recorded samples differ.
    JudgedCountDiffers { recorded: u64, judged: u64 },
    /// A load did not prove its work.
    LoadNotProven { load: String, detail: String },
    /// A thread ran under another policy than asked for.
    PolicyNotEffective {
        task: String,
        requested: Policy,
        effective: Option<Policy>,
    },
    /// A loop ended before its time.
    EndedEarly { cause: EarlyEnd },
    /// The clock source changed during the run.
    ClockSourceChanged { from: String, to: String },
    /// The work reported faults of its own.
    WorkFaults { faults: u64, executed: u64 },
    /// A loop on a real-time core switched into Linux: Linux scheduled it then.
    ModeSwitches {
        switched: u64,
        executed: u64,
        tolerated: f64,
    },
    /// No miss was allowed and some were seen.
    MissesObserved { missed: u64, due: u64, skipped: u64 },
    /// The miss fraction is above the criterion.
    MissFractionAbove {
        missed: u64,
        due: u64,
        at_least: f64,
        confidence: f64,
        criterion: f64,
    },
    /// The run of consecutive misses is longer than tolerated.
    ConsecutiveMissesAbove { longest: u64, limit: u64 },
    /// The loop was away for longer than tolerated.
    OutageAbove { longest_ns: u64, limit_ns: u64 },
    /// The miss fraction may be on either side of the criterion.
    MissFractionUndecided {
        missed: u64,
        due: u64,
        /// Due times treated as one; see `MissTally::evidence_unit`.
        evidence_unit: f64,
        at_most: f64,
        confidence: f64,
        criterion: f64,
        more: Option<MoreNeeded>,
    },
    /// As many independent due times would decide; misses or near misses that come together leave it
    /// open.
    MissesDepend {
        missed: u64,
        due: u64,
        /// Due times treated as one; see `MissTally::evidence_unit`.
        evidence_unit: f64,
        at_most: f64,
        confidence: f64,
        /// The miss fraction tolerated, or the evidence asked for.
        criterion: f64,
        more: Option<MoreNeeded>,
    },
    /// No miss was seen, in too few due times.
    EvidenceMissing {
        due: u64,
        at_most: f64,
        confidence: f64,
        evidence: f64,
        more: Option<MoreNeeded>,
    },
    /// The miss fraction is within the criterion.
    MissFractionWithin {
        missed: u64,
        due: u64,
        /// Due times treated as one; see `MissTally::evidence_unit`.
        evidence_unit: f64,
        at_most: f64,
        confidence: f64,
        criterion: f64,
    },
    /// No miss was allowed, none was seen, and the evidence asked for is there.
    NoMissesObserved {
        due: u64,
        at_most: f64,
        confidence: f64,
        evidence: f64,
    },
    /// The longest run of consecutive misses is tolerated.
    ConsecutiveMissesWithin { longest: u64, limit: u64, due: u64 },
    /// The longest outage is tolerated.
    OutageWithin {
        longest_ns: u64,
        limit_ns: u64,
        due: u64,
    },
    /// The instants count instructions of an emulated CPU.
    VirtualTime { ns_per_instruction: u32 },
    /// No criterion was given.
    NoCriterion,
    /// The tool that measured does not record what a verdict needs.
    NotRecorded { what: String },
    /// The criterion asked for does not fit a loop of a service.
    CriterionUnfit,
    /// A service's program ended while its loop ran.
    ProgramEnded { times: u64 },
    /// The machine went down while a service's loop ran.
    MachineWentDown { times: u64 },
    /// Rounds that are no evidence, and are in no count.
    RoundsSetAside { rounds: u64, last: String },
    /// Rounds that failed by more than their counts.
    RoundsFailed { rounds: u64, last: String },
    /// Rounds that left something open which no count shows.
    RoundsUndecided { rounds: u64, last: String },
    /// Something is wrong with segments that were traced, which judge nothing else.
    WhileTraced { reason: Box<Reason> },
    /// Finding of the flight of a vehicle through the measured timing.
    Flight { finding: FlightFinding },
}

impl Reason {
    /// This reason, of segments that were traced.
    #[must_use]
    pub fn while_traced(self) -> Self {
        Self::WhileTraced {
            reason: Box::new(self),
        }
    }

    /// Rank among reasons, most serious first.
    pub(crate) fn rank(&self) -> u8 {
        match self.bearing() {
            Outcome::Invalid => 0,
            Outcome::VirtualTime | Outcome::NotJudged => 1,
            Outcome::Failed => 2,
            Outcome::Undecided => 3,
            Outcome::Passed => 4,
        }
    }

    /// Whether the counts of due times show it, so that merged counts show it again.
    pub fn is_counted(&self) -> bool {
        matches!(
            self,
            Self::MissesObserved { .. }
                | Self::MissFractionAbove { .. }
                | Self::MissFractionUndecided { .. }
                | Self::MissesDepend { .. }
                | Self::MissFractionWithin { .. }
                | Self::EvidenceMissing { .. }
                | Self::NoMissesObserved { .. }
                | Self::ConsecutiveMissesAbove { .. }
                | Self::ConsecutiveMissesWithin { .. }
                | Self::OutageAbove { .. }
                | Self::OutageWithin { .. }
        )
    }

    /// Size of the largest groups of misses for which a pass without a miss is evidence enough: if
    /// misses came in groups of this size, and as many as tolerated, the run would have had one at
    /// the confidence asked for.
    pub fn largest_groups(&self) -> Option<u64> {
        let (due, tolerated, confidence) = match *self {
            Self::MissFractionWithin {
                missed: 0,
                due,
                criterion,
                confidence,
                ..
            } => (due, criterion, confidence),
            Self::NoMissesObserved {
                due,
                evidence,
                confidence,
                ..
            } => (due, evidence, confidence),
            _ => return None,
        };
        let largest = due as f64 * (-tolerated).ln_1p() / (1.0 - confidence).ln();
        Some((largest as u64).clamp(1, due.max(1)))
    }

    /// Outcome by this reason alone.
    pub fn bearing(&self) -> Outcome {
        match self {
            Self::InconsistentSamples { .. }
            | Self::NoDueTimes
            | Self::SamplesLost { .. }
            | Self::EventsLost { .. }
            | Self::CountsDisagree { .. }
            | Self::SkippedCountsDiffer { .. }
            | Self::JudgedCountDiffers { .. }
            | Self::LoadNotProven { .. }
            | Self::PolicyNotEffective { .. }
            | Self::ClockSourceChanged { .. }
            | Self::WorkFaults { .. }
            | Self::ModeSwitches { .. } => Outcome::Invalid,
            Self::EndedEarly { cause } => match cause {
                EarlyEnd::Overrun { .. } => Outcome::Failed,
                EarlyEnd::Interrupted => Outcome::Undecided,
                EarlyEnd::Guard { .. } | EarlyEnd::Killed { .. } | EarlyEnd::Error { .. } => {
                    Outcome::Invalid
                }
            },
            Self::MissesObserved { .. }
            | Self::MissFractionAbove { .. }
            | Self::ConsecutiveMissesAbove { .. }
            | Self::OutageAbove { .. }
            | Self::RoundsFailed { .. } => Outcome::Failed,
            Self::MissFractionUndecided { .. }
            | Self::MissesDepend { .. }
            | Self::InterruptedInWarmUp
            | Self::EvidenceMissing { .. }
            | Self::NoDueTimesYet
            | Self::CriterionUnfit
            | Self::ProgramEnded { .. }
            | Self::MachineWentDown { .. }
            | Self::RoundsSetAside { .. }
            | Self::RoundsUndecided { .. }
            | Self::NotRecorded { .. } => Outcome::Undecided,
            Self::MissFractionWithin { .. }
            | Self::NoMissesObserved { .. }
            | Self::ConsecutiveMissesWithin { .. }
            | Self::OutageWithin { .. } => Outcome::Passed,
            Self::VirtualTime { .. } => Outcome::VirtualTime,
            Self::NoCriterion => Outcome::NotJudged,
            Self::WhileTraced { reason } => match reason.bearing() {
                // What tracing costs is no failure of the condition.
                Outcome::Failed => Outcome::Undecided,
                other => other,
            },
            Self::Flight { finding } => finding.bearing(),
        }
    }
}
