//! Holds one condition against its criterion. Whether the run may be judged at all comes first;
//! then each part of the criterion gives its own reason.

use crate::observation::observations;
use crate::{
    Caution, Condition, ConditionName, CycleRecord, CycleSummary, DueTally, EarlyEnd, FactChange,
    Judgement, Margin, MoreNeeded, Outcome, Provenance, Reason, objections,
};
use wakepath_scenario::Criterion;
use wakepath_statistics::{compare_halves, due_times_needed, miss_lower_bound, miss_upper_bound};

/// Misses with at most this many due times met between them count as one event: what delays one
/// cycle often delays some of the next ones too, with good ones in between.
pub const CLUSTER_GAP: u64 = 10;

/// The bound on the miss probability that a criterion without tolerated misses asks for when it
/// doesn't say: about 1000 due times without a miss at 95 % confidence.
pub const DEFAULT_EVIDENCE: f64 = 3e-3;

/// Judges one condition.
///
/// It passes only with an upper confidence bound on the miss probability within the criterion
/// and every hard limit kept; it fails with a lower bound above the criterion or a hard limit
/// broken. Both bounds are Clopper and Pearson's, on as many due times as were as good as
/// independent (`MissTally::evidence_unit`). A run that can't be trusted
/// is invalid whatever it shows.
pub fn judge(condition: Condition<'_>, criterion: &Criterion) -> Judgement {
    let Condition {
        name,
        record,
        provenance,
    } = condition;
    let tally = record.tally();
    let mut reasons = objections(&tally.samples_seen(), provenance);
    let interrupted = Reason::EndedEarly {
        cause: EarlyEnd::Interrupted,
    };
    if tally.scheduled() == 0 {
        match reasons.iter().position(|reason| *reason == interrupted) {
            // The interruption is why there is nothing, and the whole of the reason.
            Some(place) => {
                reasons[place] = Reason::InterruptedInWarmUp;
                // That a load did no work in no time says nothing of it.
                reasons.retain(|reason| !matches!(reason, Reason::LoadNotProven { .. }));
            }
            // A reason why the loop did not run is the whole of it.
            None if reasons.iter().any(is_invalidating) => {}
            None => reasons.push(Reason::NoDueTimes),
        }
    } else {
        reasons.extend(shown_by(&tally, criterion));
    }
    let mut judgement = judged(name, &tally, reasons, criterion);
    judgement.cautions = cautions(&tally, provenance, &judgement.reasons);
    judgement.cautions.extend(drift(record, criterion));
    let why = provenance.not_real_time.clone();
    let not_real_time = why.map(|why| Caution::NotRealTime { why });
    judgement.cautions.extend(not_real_time);
    judgement.cycles = record.summary();
    judgement.observations = observations(&judgement.cycles, criterion.confidence);
    judgement
}

fn is_invalidating(reason: &Reason) -> bool {
    reason.bearing() == Outcome::Invalid
}

/// Judges what a history has come to so far, with further reasons that no count shows. Samples are
/// not at hand any more: distributions are missing from its figures.
pub fn judge_so_far(
    name: &ConditionName,
    tally: &DueTally,
    criterion: &Criterion,
    further: Vec<Reason>,
) -> Judgement {
    let lost = tally.lost.saturating_add(tally.lost_elsewhere);
    let provenance = Provenance {
        written: tally.samples.saturating_add(lost),
        recorded: tally.samples,
        lost,
        mode_switches_tolerated: criterion.mode_switches,
        ..Provenance::default()
    };
    let mut reasons = objections(&tally.samples_seen(), &provenance);
    match tally.scheduled() {
        0 => reasons.push(Reason::NoDueTimesYet),
        _ => reasons.extend(shown_by(tally, criterion)),
    }
    reasons.extend(further);
    let mut judgement = judged(name, tally, reasons, criterion);
    judgement.cautions = cautions(tally, &provenance, &judgement.reasons);
    judgement
}

/// The verdict that follows from reasons, with the figures of a tally and without cautions.
pub fn judged(
    name: &ConditionName,
    tally: &DueTally,
    mut reasons: Vec<Reason>,
    criterion: &Criterion,
) -> Judgement {
    reasons.sort_by_cached_key(Reason::rank);
    let outcome = Outcome::of_reasons(reasons.iter().map(Reason::bearing));
    let more = reasons.iter().find_map(more_in);
    Judgement {
        name: name.clone(),
        outcome,
        reasons,
        cautions: Vec::new(),
        observations: Vec::new(),
        more: more.filter(|_| outcome == Outcome::Undecided),
        margin: Some(margin(tally, criterion)),
        cycles: CycleSummary::from(tally),
    }
}

/// The figures of a history whose criterion does not fit its loop.
pub fn not_fitting(name: &ConditionName, tally: &DueTally) -> Judgement {
    Judgement {
        name: name.clone(),
        outcome: Outcome::Undecided,
        reasons: vec![Reason::CriterionUnfit],
        cautions: Vec::new(),
        observations: Vec::new(),
        more: None,
        margin: None,
        cycles: CycleSummary::from(tally).without_criterion(),
    }
}

/// What due times show of each part of a criterion. There must be some.
pub fn shown_by(tally: &DueTally, criterion: &Criterion) -> Vec<Reason> {
    let mut reasons = vec![miss_fraction(tally, criterion)];
    reasons.extend(hard_limits(tally, criterion));
    reasons
}

fn miss_fraction(tally: &DueTally, criterion: &Criterion) -> Reason {
    let misses = tally.misses;
    let Criterion {
        confidence,
        miss_fraction,
        ..
    } = *criterion;
    let parallel = tally.threads.len() as u64;
    let (missed, due) = (misses.missed, misses.due);
    let at_most = misses.upper_bound(confidence, parallel);
    let evidence_unit = misses.evidence_unit(confidence, parallel);
    let more = |target: f64| {
        let needed = due_times_needed(missed, due, evidence_unit, target, confidence)?;
        let due_times = needed.saturating_sub(due).max(1);
        let mean_period_ns = tally.window_ns as f64 / due as f64;
        let seconds = due_times as f64 * mean_period_ns / 1e9 / parallel.max(1) as f64;
        Some(MoreNeeded { due_times, seconds })
    };
    // Bounds of each thread if due times were independent.
    let depends = |criterion: f64| {
        let [missed, due] = [missed, due].map(|count| count as f64 / parallel.max(1) as f64);
        let decides = miss_upper_bound(missed, due, confidence) <= criterion
            || miss_lower_bound(missed, due, confidence) > criterion;
        decides.then(|| Reason::MissesDepend {
            missed: misses.missed,
            due: misses.due,
            evidence_unit,
            at_most,
            confidence,
            criterion,
            more: more(criterion),
        })
    };
    if miss_fraction <= 0.0 {
        let evidence = criterion.evidence.unwrap_or(DEFAULT_EVIDENCE);
        return if missed > 0 {
            Reason::MissesObserved {
                missed,
                due,
                skipped: tally.skipped,
            }
        } else if at_most <= evidence {
            Reason::NoMissesObserved {
                due,
                at_most,
                confidence,
                evidence,
            }
        } else {
            depends(evidence).unwrap_or_else(|| Reason::EvidenceMissing {
                due,
                at_most,
                confidence,
                evidence,
                more: more(evidence),
            })
        };
    }
    let (criterion, at_least) = (miss_fraction, misses.lower_bound(confidence, parallel));
    if at_most <= criterion {
        Reason::MissFractionWithin {
            missed,
            due,
            evidence_unit,
            at_most,
            confidence,
            criterion,
        }
    } else if at_least > criterion {
        Reason::MissFractionAbove {
            missed,
            due,
            at_least,
            confidence,
            criterion,
        }
    } else {
        depends(criterion).unwrap_or_else(|| Reason::MissFractionUndecided {
            missed,
            due,
            evidence_unit,
            at_most,
            confidence,
            criterion,
            more: more(criterion),
        })
    }
}

fn more_in(reason: &Reason) -> Option<MoreNeeded> {
    match reason {
        Reason::MissFractionUndecided { more, .. }
        | Reason::MissesDepend { more, .. }
        | Reason::EvidenceMissing { more, .. } => *more,
        _ => None,
    }
}

fn hard_limits(tally: &DueTally, criterion: &Criterion) -> Vec<Reason> {
    let due = tally.scheduled();
    let mut reasons = Vec::new();
    if let Some(limit) = criterion.consecutive_misses {
        let longest = tally.misses.longest_run;
        reasons.push(if longest > limit {
            Reason::ConsecutiveMissesAbove { longest, limit }
        } else {
            Reason::ConsecutiveMissesWithin {
                longest,
                limit,
                due,
            }
        });
    }
    if let (Some(limit_ns), Some(outage)) = (criterion.outage_ns, tally.longest_outage) {
        let longest_ns = outage.length_ns;
        reasons.push(if longest_ns > limit_ns {
            Reason::OutageAbove {
                longest_ns,
                limit_ns,
            }
        } else {
            Reason::OutageWithin {
                longest_ns,
                limit_ns,
                due,
            }
        });
    }
    reasons
}

fn cautions(tally: &DueTally, provenance: &Provenance, reasons: &[Reason]) -> Vec<Caution> {
    let changed = provenance.changes.iter().filter(|change| {
        // This one is a reason of its own.
        !matches!(change, FactChange::ClockSource { .. })
    });
    let mut cautions: Vec<Caution> = changed
        .map(|change| Caution::MachineChanged {
            change: change.clone(),
        })
        .collect();
    let misses = tally.misses;
    if misses.largest_cluster > 1 {
        let (missed, clusters) = (misses.missed, misses.clusters);
        let largest = misses.largest_cluster;
        cautions.push(Caution::MissesCluster {
            missed,
            clusters,
            largest,
        });
    }
    let interrupted = provenance.early_ends.contains(&EarlyEnd::Interrupted);
    if tally.skipped_at_end > 0 && !interrupted {
        cautions.push(Caution::UnservedAtEnd {
            due_times: tally.skipped_at_end,
        });
    }
    let invalid = |reason: &Reason| matches!(reason, Reason::ModeSwitches { .. });
    if tally.mode_switches > 0 && !reasons.iter().any(invalid) {
        cautions.push(Caution::ModeSwitches {
            switched: tally.mode_switches,
            executed: tally.executed,
        });
    }
    cautions
}

/// Reported when it is beyond chance and large enough to matter to this loop: at a million samples
/// every test rejects, and a median that moves by microseconds is nothing to a limit of
/// milliseconds.
fn drift(record: &CycleRecord, criterion: &Criterion) -> Option<Caution> {
    const COUNT: usize = 200;
    /// Share of the limit by which the median must move.
    const SHARE_OF_LIMIT: f64 = 0.05;
    const DISTANCE: f64 = 0.1;
    const P_VALUE: f64 = 0.01;
    let found = compare_halves(record.latencies()).filter(|_| record.latencies().len() >= COUNT)?;
    let difference = found.difference;
    let limit_ns = criterion.latency_ns.unwrap_or(criterion.deadline_ns);
    let moved_ns = found.first_median.abs_diff(found.second_median);
    let matters = moved_ns as f64 >= SHARE_OF_LIMIT * limit_ns as f64;
    (matters && difference.distance >= DISTANCE && difference.p_value < P_VALUE).then_some(
        Caution::Drift {
            distance: difference.distance,
            p_value: difference.p_value,
            first_median_ns: found.first_median,
            second_median_ns: found.second_median,
        },
    )
}

fn margin(tally: &DueTally, criterion: &Criterion) -> Margin {
    let room = |largest_ns: Option<i64>, limit_ns: u64| {
        1.0 - largest_ns.unwrap_or(0) as f64 / limit_ns.max(1) as f64
    };
    let response = room(tally.largest_response_ns, criterion.deadline_ns);
    let latency = criterion
        .latency_ns
        .map(|limit| room(tally.largest_latency_ns, limit));
    Margin {
        miss_fraction: tally.misses.fraction(),
        head_room: latency.map_or(response, |latency| latency.min(response)),
        count: tally.scheduled(),
    }
}
