//! Holds one condition against its criterion. Whether the run may be judged at all comes first;
//! then each part of the criterion gives its own reason.

use crate::observation::observations;
use crate::{
    Caution, Condition, CycleRecord, EarlyEnd, FactChange, Judgement, Margin, MoreNeeded, Outcome,
    Provenance, Reason, objections,
};
use wakepath_scenario::Criterion;
use wakepath_statistics::{compare_halves, due_times_needed};

/// Misses with at most this many due times met between them count as one event: what delays one
/// cycle often delays some of the next ones too, with good ones in between.
pub const CLUSTER_GAP: u64 = 10;

/// The bound on the miss probability that a criterion without tolerated misses asks for when it
/// doesn't say: about 1000 due times without a miss at 95 % confidence.
pub const DEFAULT_EVIDENCE: f64 = 3e-3;

/// Judges one condition.
///
/// It passes only with an upper confidence bound on the miss probability within the criterion
/// (Clopper–Pearson, with misses that come together counted as one event) and every hard limit
/// kept; it fails with a lower bound above the criterion (each due time counted by itself, so that
/// a further miss can't talk a failure down) or a hard limit broken. A run that can't be trusted
/// is invalid whatever it shows.
pub fn judge(condition: Condition<'_>, criterion: &Criterion) -> Judgement {
    let Condition {
        name,
        record,
        provenance,
    } = condition;
    let mut reasons = objections(&record.samples(), provenance);
    let mut more = None;
    let interrupted = Reason::EndedEarly {
        cause: EarlyEnd::Interrupted,
    };
    if record.scheduled() == 0 {
        match reasons.iter().position(|reason| *reason == interrupted) {
            // The interruption is why there is nothing, and the whole of the reason.
            Some(place) => {
                reasons[place] = Reason::InterruptedInWarmUp;
                // That a load did no work in no time says nothing of it.
                reasons.retain(|reason| !matches!(reason, Reason::LoadNotProven { .. }));
            }
            None => reasons.push(Reason::NoDueTimes),
        }
    } else {
        let miss_fraction = miss_fraction(record, criterion);
        more = more_in(&miss_fraction);
        reasons.push(miss_fraction);
        reasons.extend(hard_limits(record, criterion));
    }
    let cycles = record.summary();
    reasons.sort_by_key(Reason::rank);
    let outcome = Outcome::of_reasons(reasons.iter().map(Reason::bearing));
    Judgement {
        name: name.clone(),
        outcome,
        cautions: cautions(record, provenance, criterion, &reasons),
        observations: observations(&cycles, criterion.confidence),
        reasons,
        more: more.filter(|_| outcome == Outcome::Undecided),
        margin: margin(record, criterion),
        cycles,
    }
}

fn miss_fraction(record: &CycleRecord, criterion: &Criterion) -> Reason {
    let misses = record.misses();
    let Criterion {
        confidence,
        miss_fraction,
        ..
    } = *criterion;
    let (missed, due, parallel) = (misses.missed, misses.due, record.threads());
    let at_most = misses.upper_bound(confidence, parallel);
    let more = |target: f64| {
        let unit = (misses.evidence_unit() * parallel.max(1)) as f64;
        let needed = due_times_needed(missed, due, unit, target, confidence)?;
        let due_times = needed.saturating_sub(due).max(1);
        let mean_period_ns = record.window_ns as f64 / due as f64;
        let seconds = due_times as f64 * mean_period_ns / 1e9 / parallel.max(1) as f64;
        Some(MoreNeeded { due_times, seconds })
    };
    if miss_fraction <= 0.0 {
        let evidence = criterion.evidence.unwrap_or(DEFAULT_EVIDENCE);
        return if missed > 0 {
            Reason::MissesObserved {
                missed,
                due,
                skipped: record.skipped,
            }
        } else if at_most <= evidence {
            Reason::NoMissesObserved {
                due,
                at_most,
                confidence,
                evidence,
            }
        } else {
            Reason::EvidenceMissing {
                due,
                at_most,
                confidence,
                evidence,
                more: more(evidence),
            }
        };
    }
    let (criterion, at_least) = (miss_fraction, misses.lower_bound(confidence));
    let evidence_unit = misses.evidence_unit() * parallel.max(1);
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
        let more = more(criterion);
        Reason::MissFractionUndecided {
            missed,
            due,
            evidence_unit,
            at_most,
            confidence,
            criterion,
            more,
        }
    }
}

fn more_in(reason: &Reason) -> Option<MoreNeeded> {
    match reason {
        Reason::MissFractionUndecided { more, .. } | Reason::EvidenceMissing { more, .. } => *more,
        _ => None,
    }
}

fn hard_limits(record: &CycleRecord, criterion: &Criterion) -> Vec<Reason> {
    let due = record.scheduled();
    let mut reasons = Vec::new();
    if let Some(limit) = criterion.consecutive_misses {
        let longest = record.misses().longest_run;
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
    if let (Some(limit_ns), Some(outage)) = (criterion.outage_ns, record.longest_outage) {
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

fn cautions(
    record: &CycleRecord,
    provenance: &Provenance,
    criterion: &Criterion,
    reasons: &[Reason],
) -> Vec<Caution> {
    let changed = provenance.changes.iter().filter(|change| {
        // This one is a reason of its own.
        !matches!(change, FactChange::ClockSource { .. })
    });
    let mut cautions: Vec<Caution> = changed
        .map(|change| Caution::MachineChanged {
            change: change.clone(),
        })
        .collect();
    let misses = record.misses();
    let fails = reasons
        .iter()
        .any(|reason| matches!(reason, Reason::MissFractionAbove { .. }));
    // Below five events the share of time they take is anyone's guess.
    if fails && misses.clusters < 5 {
        cautions.push(Caution::FewEvents {
            clusters: misses.clusters,
        });
    } else if misses.largest_cluster > 1 {
        let (missed, clusters) = (misses.missed, misses.clusters);
        let largest = misses.largest_cluster;
        cautions.push(Caution::MissesCluster {
            missed,
            clusters,
            largest,
        });
    }
    let interrupted = provenance.early_ends.contains(&EarlyEnd::Interrupted);
    if record.skipped_at_end > 0 && !interrupted {
        cautions.push(Caution::UnservedAtEnd {
            due_times: record.skipped_at_end,
        });
    }
    let samples = record.samples();
    let invalid = |reason: &Reason| matches!(reason, Reason::ModeSwitches { .. });
    if samples.mode_switches > 0 && !reasons.iter().any(invalid) {
        cautions.push(Caution::ModeSwitches {
            switched: samples.mode_switches,
            executed: samples.executed,
        });
    }
    cautions.extend(drift(record, criterion));
    let why = provenance.not_real_time.clone();
    cautions.extend(why.map(|why| Caution::NotRealTime { why }));
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
    let found = compare_halves(&record.latency).filter(|_| record.latency.len() >= COUNT)?;
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

fn margin(record: &CycleRecord, criterion: &Criterion) -> Margin {
    let room = |values: &[i64], limit: u64| {
        let largest = values.iter().copied().max().unwrap_or(0);
        1.0 - largest as f64 / limit.max(1) as f64
    };
    let response = room(&record.response, criterion.deadline_ns);
    let latency = criterion
        .latency_ns
        .map(|limit| room(&record.latency, limit));
    Margin {
        miss_fraction: record.misses().fraction(),
        head_room: latency.map_or(response, |latency| latency.min(response)),
        count: record.scheduled(),
    }
}
