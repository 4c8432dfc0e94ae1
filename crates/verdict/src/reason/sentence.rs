//! The sentence that a person reads of each reason.

use super::{MoreNeeded, Reason};
use crate::EarlyEnd;
use crate::wording::{
    confidence as as_confidence, count, counted, duration, duration_against, exact_fraction,
    fraction, lower_fraction, upper_fraction,
};
use std::fmt;

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InconsistentSamples { inconsistency } => {
                write!(f, "the samples contradict themselves: {inconsistency}")
            }
            Self::WhileTraced { reason } => write!(f, "while it was traced: {reason}"),
            Self::NotRecorded { what } => write!(f, "not recorded: {what}"),
            Self::NoDueTimes => write!(f, "nothing to judge: no due time outside the warm-up"),
            Self::InterruptedInWarmUp => write!(
                f,
                "the run was interrupted in the warm-up: nothing was measured"
            ),
            Self::SamplesLost { lost, written } => {
                write!(
                    f,
                    "{} of {} samples were lost",
                    count(*lost),
                    count(*written)
                )
            }
            Self::EventsLost { lost, cpus } => {
                let cpus: Vec<String> = cpus.iter().map(u16::to_string).collect();
                write!(
                    f,
                    "{} of CPU {} {} lost from the trace",
                    counted(*lost, "event", "events"),
                    cpus.join(", "),
                    if *lost == 1 { "was" } else { "were" },
                )
            }
            Self::CountsDisagree {
                written,
                recorded,
                lost,
            } => write!(
                f,
                "the loop wrote {} but {} recorded and {} lost make {}",
                counted(*written, "sample", "samples"),
                count(*recorded),
                count(*lost),
                count(recorded.saturating_add(*lost)),
            ),
            Self::SkippedCountsDiffer { counts } => write!(
                f,
                "the loop counted {} but its samples leave out {}",
                counted(counts.counted, "skipped due time", "skipped due times"),
                count(counts.left_out),
            ),
            Self::JudgedCountDiffers { recorded, judged } => write!(
                f,
                "{} recorded but {} given to judge",
                counted(*recorded, "sample was", "samples were"),
                count(*judged),
            ),
            Self::LoadNotProven { load, detail } => {
                write!(f, "the load {load} did not prove its work: {detail}")
            }
            Self::PolicyNotEffective {
                task,
                requested,
                effective,
            } => match effective {
                Some(policy) if policy.to_string() != requested.to_string() => {
                    write!(f, "{task} asked for {requested} but ran under {policy}")
                }
                Some(policy) => {
                    write!(f, "{task} asked for {requested:?} but ran under {policy:?}")
                }
                None => {
                    write!(
                        f,
                        "{task} asked for {requested}; the policy in effect could not be read"
                    )
                }
            },
            Self::EndedEarly { cause } => match cause {
                EarlyEnd::Guard { detail } => write!(f, "a guard ended the loop early: {detail}"),
                EarlyEnd::Killed { signal } => write!(f, "signal {signal} killed the loop"),
                EarlyEnd::Error { detail } => {
                    write!(f, "the loop did not run as it should: {detail}")
                }
                EarlyEnd::Overrun { cycle } => {
                    write!(
                        f,
                        "the loop overran in cycle {cycle} and stopped (overrun = \"stop\")"
                    )
                }
                EarlyEnd::Interrupted => write!(f, "the run was interrupted before its end"),
            },
            Self::ClockSourceChanged { from, to } => {
                write!(
                    f,
                    "the clock source changed from {from} to {to} during the run"
                )
            }
            Self::WorkFaults { faults, executed } => write!(
                f,
                "the work reported a fault in {} of {} cycles",
                count(*faults),
                count(*executed)
            ),
            Self::ModeSwitches {
                switched,
                executed,
                tolerated,
            } => {
                write!(
                    f,
                    "the loop left its real-time core for Linux in {} of {} cycles",
                    count(*switched),
                    count(*executed)
                )?;
                if *tolerated > 0.0 {
                    write!(f, "; at most {} is tolerated", fraction(*tolerated))
                } else {
                    Ok(())
                }
            }
            Self::MissesObserved {
                missed,
                due,
                skipped,
            } => write!(
                f,
                "missed {} of {} due times ({} of them skipped); none may be missed",
                count(*missed),
                count(*due),
                count(*skipped),
            ),
            Self::MissFractionAbove {
                missed,
                due,
                at_least,
                confidence,
                criterion,
            } => write!(
                f,
                "missed {} of {} due times ({}): the miss fraction is at least {} ({} \
                 confidence), criterion {}",
                count(*missed),
                count(*due),
                fraction(*missed as f64 / *due as f64),
                lower_fraction(*at_least, *criterion),
                as_confidence(*confidence),
                exact_fraction(*criterion),
            ),
            Self::ConsecutiveMissesAbove { longest, limit } => write!(
                f,
                "{} in a row, {} tolerated",
                counted(*longest, "miss", "misses"),
                count(*limit)
            ),
            Self::OutageAbove {
                longest_ns,
                limit_ns,
            } => write!(
                f,
                "no cycle ended for {}, {} tolerated",
                duration_against(signed(*longest_ns), signed(*limit_ns)),
                duration(signed(*limit_ns)),
            ),
            Self::MissFractionUndecided {
                missed,
                due,
                evidence_unit,
                at_most,
                confidence,
                criterion,
                more,
            } => {
                write_bound(
                    f,
                    (*missed, *due, *evidence_unit),
                    *at_most,
                    *confidence,
                    *criterion,
                )?;
                match more {
                    Some(more) => write!(f, "; {more} would decide it at this rate"),
                    None => write!(f, "; at this rate a longer run would not pass"),
                }
            }
            Self::MissesDepend {
                missed,
                due,
                evidence_unit,
                at_most,
                confidence,
                criterion,
                more,
            } => {
                write!(
                    f,
                    "missed {} of {} due times: {} come together, so that about {} due times count as \
                     one and the run is worth {} independent due times; the miss fraction is at most \
                     {} ({} confidence), criterion {}",
                    count(*missed),
                    count(*due),
                    if *missed > 0 { "misses" } else { "near misses" },
                    count(evidence_unit.round().max(2.0) as u64),
                    count((*due as f64 / evidence_unit) as u64),
                    upper_fraction(*at_most, *criterion),
                    as_confidence(*confidence),
                    exact_fraction(*criterion),
                )?;
                match more {
                    Some(more) => write!(f, "; {more} would decide it at this rate"),
                    None => write!(f, "; at this rate a longer run would not pass"),
                }
            }
            Self::MissFractionWithin {
                missed,
                due,
                evidence_unit,
                at_most,
                confidence,
                criterion,
            } => {
                write_bound(
                    f,
                    (*missed, *due, *evidence_unit),
                    *at_most,
                    *confidence,
                    *criterion,
                )?;
                write_groups(f, self)
            }
            Self::EvidenceMissing {
                due,
                at_most,
                confidence,
                evidence,
                more,
            } => {
                write_no_misses(f, *due, *at_most, *confidence, *evidence)?;
                match more {
                    Some(more) => write!(f, "; {more} without a miss would do"),
                    None => Ok(()),
                }
            }
            Self::NoMissesObserved {
                due,
                at_most,
                confidence,
                evidence,
            } => {
                write_no_misses(f, *due, *at_most, *confidence, *evidence)?;
                write_groups(f, self)
            }
            Self::ConsecutiveMissesWithin {
                longest,
                limit,
                due,
            } => write!(
                f,
                "at most {} in a row (largest of {} due times observed), {} tolerated",
                counted(*longest, "miss", "misses"),
                count(*due),
                count(*limit),
            ),
            Self::OutageWithin {
                longest_ns,
                limit_ns,
                due,
            } => write!(
                f,
                "longest outage {} (largest of {} due times observed), {} tolerated",
                duration_against(signed(*longest_ns), signed(*limit_ns)),
                count(*due),
                duration(signed(*limit_ns)),
            ),
            Self::VirtualTime { ns_per_instruction } => write!(
                f,
                "instants count instructions at {ns_per_instruction} ns each: lengths of software \
                 paths, not a machine's latencies"
            ),
            Self::NoDueTimesYet => f.write_str("no due time is recorded yet"),
            Self::CriterionUnfit => {
                f.write_str("the criterion does not fit the loop: nothing is judged")
            }
            Self::ProgramEnded { times } => write!(
                f,
                "the program ended {} while the loop ran",
                counted(*times, "time", "times")
            ),
            Self::MachineWentDown { times } => write!(
                f,
                "the machine went down {} while the loop ran: the seconds before are not recorded",
                counted(*times, "time", "times")
            ),
            Self::RoundsSetAside { rounds, last } => {
                write!(f, "no evidence in {}", rounds_with(*rounds, last))
            }
            Self::RoundsFailed { rounds, last } | Self::RoundsUndecided { rounds, last } => {
                f.write_str(&rounds_with(*rounds, last))
            }
            Self::NoCriterion => f.write_str("no criterion was given"),
            Self::Flight { finding } => write!(f, "flight: {finding}"),
        }
    }
}

fn rounds_with(rounds: u64, last: &str) -> String {
    format!("{} {last}", counted(rounds, "round:", "rounds, the last:"))
}

fn write_bound(
    f: &mut fmt::Formatter<'_>,
    (missed, due, unit): (u64, u64, f64),
    at_most: f64,
    confidence: f64,
    criterion: f64,
) -> fmt::Result {
    let confidence = as_confidence(confidence);
    write!(
        f,
        "missed {} of {} due times: the miss fraction is at most {} ({confidence} confidence",
        count(missed),
        count(due),
        upper_fraction(at_most, criterion),
    )?;
    if unit > 1.0 {
        write!(
            f,
            "; misses come together, so these are worth {} independent due times",
            count((due as f64 / unit) as u64)
        )?;
    }
    write!(f, "), criterion {}", exact_fraction(criterion))
}

fn write_no_misses(
    f: &mut fmt::Formatter<'_>,
    due: u64,
    at_most: f64,
    confidence: f64,
    evidence: f64,
) -> fmt::Result {
    write!(
        f,
        "missed 0 of {} due times: the miss fraction is at most {} ({} confidence), evidence \
         asked for {}",
        count(due),
        upper_fraction(at_most, evidence),
        as_confidence(confidence),
        exact_fraction(evidence),
    )
}

/// The assumption of a pass without a miss.
fn write_groups(f: &mut fmt::Formatter<'_>, reason: &Reason) -> fmt::Result {
    match reason.largest_groups() {
        Some(1) => f.write_str("; enough if misses come one at a time"),
        Some(most) => write!(f, "; enough for misses in groups of up to {}", count(most)),
        None => Ok(()),
    }
}

fn signed(nanoseconds: u64) -> i64 {
    i64::try_from(nanoseconds).unwrap_or(i64::MAX)
}

impl fmt::Display for MoreNeeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let due = counted(self.due_times, "more due time", "more due times");
        write!(
            f,
            "{due} ({})",
            wakepath_timeline::duration::long(self.seconds)
        )
    }
}
