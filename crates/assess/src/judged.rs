//! The conditions of a run, each judged by its cycles alone: samples and what the log says of their
//! threads, handed to the verdict. What holds the run as a whole back is in `run_outcome`.

use crate::changes::{RunChanges, run_changes};
use crate::conditions::{ConditionSegments, NotMeasured, group};
use crate::controllers::not_real_time;
use crate::error::AssessmentError;
use crate::imported;
use crate::picture::{Gatherer, Picture, buckets_of_each};
use crate::watched::{Finding, with_passed};
use std::collections::BTreeMap;
use wakepath_archive::{Imported, Obstacle, Run, SegmentRecord, ThreadEnd, ThreadRecord};
use wakepath_scenario::{Criterion, Scenario};
use wakepath_timeline::{Lack, Sample};
use wakepath_verdict::{
    Condition, ConditionName, CycleRecord, EarlyEnd, EffectivePolicy, Gaps, JudgedWindow,
    Judgement, Outcome, Provenance, Reason, SamplesSeen, ServedUntil, SkippedCounts, UnprovenLoad,
    Until, judge, objections,
};

/// A run's conditions, each judged by its cycles alone.
pub(crate) struct JudgedConditions<'a> {
    /// Where each judged condition was recorded.
    pub(crate) segments: Vec<ConditionSegments<'a>>,
    /// The verdicts, in the same order.
    pub(crate) judgements: Vec<Judgement>,
    /// Their pictures, in the same order; empty if there are none.
    pub(crate) pictures: Vec<Picture>,
    pub(crate) not_measured: Vec<NotMeasured>,
    pub(crate) changes: RunChanges,
}

pub(crate) fn judged_conditions<'a>(
    run: &'a Run,
    scenario: &Scenario,
    drawn: bool,
) -> Result<JudgedConditions<'a>, AssessmentError> {
    let changes = run_changes(&run.manifest.facts);
    let (mut segments, mut judgements, mut not_measured) = (vec![], vec![], vec![]);
    let mut pictures = vec![];
    let conditions = group(&run.manifest, scenario);
    let buckets = buckets_of_each(conditions.len() as u64);
    for condition in conditions {
        match condition.never_started() {
            Some((obstacle, reason)) => not_measured.push(NotMeasured {
                condition: condition.condition.clone(),
                phase: condition.phase.clone(),
                lacks_right: obstacle == Obstacle::MissingRight,
                died: obstacle == Obstacle::Died,
                reason,
            }),
            None => {
                let criterion = condition.criterion(&scenario.criterion_of_each());
                let criterion = has_criterion(run, scenario, &condition).then_some(&criterion);
                let mut gatherer = drawn.then(|| Gatherer::new(criterion));
                let mut gather = |segment: &SegmentRecord, window, samples: &[Sample]| {
                    if let Some(gatherer) = &mut gatherer {
                        let place = (segment.segment, segment.repetition);
                        gatherer.add(place, window, samples);
                    }
                };
                let judgement = judged_with(run, scenario, &condition, &changes, &mut gather)?;
                let name = || judgement.name.clone();
                pictures.extend(gatherer.map(|gatherer| {
                    let mut picture = gatherer.finish(name(), buckets);
                    if let Some(shape) = imported::shape(&run.manifest, &condition) {
                        picture.latency.shape = Some(shape);
                        picture.cpus = imported::cpu_counts(&run.manifest, &condition);
                    }
                    picture
                }));
                judgements.push(judgement);
                segments.push(condition);
            }
        }
    }
    Ok(JudgedConditions {
        segments,
        judgements,
        pictures,
        not_measured,
        changes,
    })
}

/// The verdict on a condition by its cycles alone, handing each judged window with its samples on.
pub(crate) fn judged_with(
    run: &Run,
    scenario: &Scenario,
    condition: &ConditionSegments<'_>,
    changes: &RunChanges,
    each: &mut dyn FnMut(&SegmentRecord, JudgedWindow, &[Sample]),
) -> Result<Judgement, AssessmentError> {
    let criterion = condition.criterion(&scenario.criterion_of_each());
    if let Some(judgement) = imported::judged_by_histogram(&run.manifest, condition, &criterion) {
        return Ok(judgement);
    }
    let mut provenance = provenance_of(run, scenario, condition, changes);
    let threads = &condition.threads;
    let record = record_of(run, &criterion, threads, &mut provenance, each)?;
    let name = condition.name();
    let judgement = judge(
        Condition {
            name: &name,
            record: &record,
            provenance: &provenance,
        },
        &criterion,
    );
    let traced = traced_doubts(run, &criterion, condition, &provenance)?;
    let judgement = traced.into_iter().fold(judgement, Judgement::with);
    Ok(
        match (
            &run.manifest.imported,
            has_criterion(run, scenario, condition),
        ) {
            (Some(imported), true) => imported::held_back(judgement, imported),
            (Some(imported), false) => imported::as_known(judgement, imported).without_criterion(),
            (None, true) => judgement,
            (None, false) => judgement.without_criterion(),
        },
    )
}

/// Whether the user gave a criterion.
pub(crate) fn has_criterion(
    run: &Run,
    scenario: &Scenario,
    condition: &ConditionSegments<'_>,
) -> bool {
    match &run.manifest.imported {
        // Its scenario is made of what was seen: only its latency is the user's own word.
        Some(imported) if imported.is_watched() => scenario.criterion.latency_ns.is_some(),
        Some(_) => true,
        None => !measures_caches(condition),
    }
}

/// The cycles of some segments' threads, each window with its samples handed on.
fn record_of(
    run: &Run,
    criterion: &Criterion,
    threads: &[(&SegmentRecord, &ThreadRecord)],
    provenance: &mut Provenance,
    each: &mut dyn FnMut(&SegmentRecord, JudgedWindow, &[Sample]),
) -> Result<CycleRecord, AssessmentError> {
    let mut record = CycleRecord::new(criterion);
    for (segment, thread) in threads {
        // A thread that never started missed nothing; the provenance has the reason.
        if thread.due.start_ns == 0 {
            continue;
        }
        let samples = run.samples(segment.segment, thread.thread)?;
        let last = samples.last().map(|sample| sample.cycle);
        let window = JudgedWindow {
            due: thread.due,
            first_judged_cycle: thread.first_judged_cycle,
            end_cycle: window_end(thread, last),
            thread: thread.thread.into(),
            lost: thread.lost.unwrap_or(0),
            gaps: gaps(run, thread),
        };
        let until = served_until(thread);
        let counts = SkippedCounts::new(thread.skipped, thread.lost, until, &samples);
        provenance.skipped.extend(counts);
        // The record remembers a contradiction; the verdict says it.
        if record.add(window, &samples).is_ok() {
            each(segment, window, &samples);
        }
    }
    Ok(record)
}

/// What speaks against a condition's traced segments. They judge nothing, but a run in which a loop
/// died, or samples were lost, is no evidence that the machine can be relied on.
fn traced_doubts(
    run: &Run,
    criterion: &Criterion,
    condition: &ConditionSegments<'_>,
    judged: &Provenance,
) -> Result<Vec<Reason>, AssessmentError> {
    if condition.traced.is_empty() {
        return Ok(Vec::new());
    }
    // What holds for the whole phase or run is known of what is judged.
    let mut provenance = Provenance {
        mode_switches_tolerated: judged.mode_switches_tolerated,
        ..Provenance::default()
    };
    for (segment, thread) in &condition.traced {
        add_provenance(&mut provenance, segment, thread);
    }
    let threads = &condition.traced;
    let record = record_of(run, criterion, threads, &mut provenance, &mut |_, _, _| ())?;
    let tally = record.tally();
    let mut found = objections(&tally.samples_seen(), &provenance);
    let was_interrupted = provenance.early_ends.contains(&EarlyEnd::Interrupted);
    if was_interrupted && tally.scheduled() == 0 {
        // That a load did no work in no time means nothing.
        found.retain(|reason| !matches!(reason, Reason::LoadNotProven { .. }));
    }
    Ok(found.into_iter().map(Reason::while_traced).collect())
}

/// Reasons from the recording that make segments invalid, one line each; the verdict adds those from their
/// samples.
pub(crate) fn doubts<'a>(segments: impl Iterator<Item = &'a SegmentRecord>) -> Vec<String> {
    let mut provenance = Provenance::default();
    for segment in segments {
        for thread in &segment.threads {
            add_provenance(&mut provenance, segment, thread);
        }
    }
    let samples = SamplesSeen {
        count: provenance.recorded,
        ..SamplesSeen::default()
    };
    let found = objections(&samples, &provenance).into_iter();
    let invalid = found.filter(|reason| reason.bearing() == Outcome::Invalid);
    invalid.map(|reason| reason.to_string()).collect()
}

/// Role of a segment's thread in the verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedThread {
    /// The condition that it is a part of.
    pub condition: ConditionName,
    /// Its criterion.
    pub criterion: Criterion,
    /// Where its judged due times end.
    pub until: Until,
}

/// The role of each thread of a run in the verdict, by its segment and its number; threads that no verdict
/// depends on are missing.
pub fn judged_threads(run: &Run, scenario: &Scenario) -> BTreeMap<(u32, u16), JudgedThread> {
    let conditions = group(&run.manifest, scenario);
    let threads = conditions.iter().flat_map(|condition| {
        let threads = condition.threads.iter();
        threads.map(move |(segment, thread)| {
            let judged = JudgedThread {
                condition: condition.name(),
                criterion: condition.criterion(&scenario.criterion_of_each()),
                until: account_end(thread),
            };
            ((segment.segment, thread.thread), judged)
        })
    });
    threads.collect()
}

/// How a condition was measured, except for facts that only its samples show.
pub(crate) fn provenance_of(
    run: &Run,
    scenario: &Scenario,
    condition: &ConditionSegments<'_>,
    changes: &RunChanges,
) -> Provenance {
    let virtual_time = run.manifest.virtual_time.as_ref();
    let mut provenance = Provenance {
        changes: changes.fact_changes(&condition.phase),
        not_real_time: not_real_time(scenario, condition),
        mode_switches_tolerated: scenario.criterion.mode_switches,
        virtual_ns_per_instruction: virtual_time.map(|time| time.ns_per_instruction),
        ..Provenance::default()
    };
    for (segment, thread) in &condition.threads {
        add_provenance(&mut provenance, segment, thread);
    }
    let imported = run.manifest.imported.as_ref();
    if imported.is_some_and(|imported| !imported.is_watched()) {
        add_lost_events(&mut provenance, condition);
    }
    provenance
}

/// Adds the events that another tool's trace lacks. In a trace of our own they cut cycles, which count
/// as lost.
fn add_lost_events(provenance: &mut Provenance, condition: &ConditionSegments<'_>) {
    let mut segments: Vec<&SegmentRecord> = Vec::new();
    for (segment, _) in &condition.threads {
        if segments.iter().all(|seen| seen.segment != segment.segment) {
            segments.push(segment);
        }
    }
    for trace in segments.iter().filter_map(|segment| segment.trace.as_ref()) {
        provenance.lost_events = provenance.lost_events.saturating_add(trace.lost);
        provenance.lost_events_cpus.extend(&trace.lost_cpus);
    }
    provenance.lost_events_cpus.sort_unstable();
    provenance.lost_events_cpus.dedup();
}

/// Whether its work was no loop's: how late that was is no answer to anything.
fn measures_caches(condition: &ConditionSegments<'_>) -> bool {
    let parts = condition
        .threads
        .iter()
        .flat_map(|(_, thread)| &thread.modules);
    parts.into_iter().any(|part| part.caches.is_some())
}

/// One past the last due time to be judged. Where someone stopped the run, or its end was never
/// recorded, that is where the recording stops; where the loop died, the rest counts as skipped.
pub fn window_end(thread: &ThreadRecord, last_cycle: Option<u64>) -> u64 {
    match thread.ended {
        Some(ThreadEnd::Stopped) | None => last_cycle
            .map_or(0, |cycle| cycle + 1)
            // Stopped in the warm-up it holds nothing to judge, which is no contradiction.
            .max(thread.first_judged_cycle)
            .min(thread.expected),
        _ => thread.expected,
    }
}

/// The meaning of a due time without a sample, for a thread.
pub(crate) fn gaps(run: &Run, thread: &ThreadRecord) -> Gaps {
    let imported = run.manifest.imported.as_ref();
    let knows = |lack| imported.is_none_or(|imported| !imported.lacks.contains(&lack));
    if !knows(Lack::SkippedPeriods) {
        return Gaps::Unseen;
    }
    if !imported.is_some_and(Imported::is_watched) {
        return Gaps::Skipped;
    }
    let details = &thread.effective.details;
    match thread.skipped {
        None => Gaps::Unseen,
        // By a mark that it passes, or by its waiting for a timer that counts.
        Some(_) if details.get("shows_each_cycle") == Some(&true.into()) => Gaps::Skipped,
        Some(_) => with_passed(Gaps::UnseenWhileRunning, &Finding::of_thread(thread)),
    }
}

/// Where the account of a thread's due times ends, by the same rule as [`window_end`].
pub(crate) fn account_end(thread: &ThreadRecord) -> Until {
    match thread.ended {
        Some(ThreadEnd::Stopped) | None => Until::LastCycle,
        _ => Until::WindowEnd,
    }
}

/// How far the thread's own count of skipped due times goes.
pub(crate) fn served_until(thread: &ThreadRecord) -> ServedUntil {
    match thread.ended {
        Some(ThreadEnd::AllCycles) => ServedUntil::End(thread.expected),
        _ => ServedUntil::LastCycle,
    }
}

/// Adds what one segment of one thread says of how it was measured.
fn add_provenance(provenance: &mut Provenance, segment: &SegmentRecord, thread: &ThreadRecord) {
    let lost = thread.lost.unwrap_or(0);
    // A run without its end has only its recorded counts; the missing end is reported elsewhere.
    let written = thread
        .written
        .unwrap_or(thread.recorded)
        .saturating_add(lost);
    // Counts in an external recording can have any value.
    provenance.written = provenance.written.saturating_add(written);
    provenance.recorded = provenance.recorded.saturating_add(thread.recorded);
    provenance.lost = provenance.lost.saturating_add(lost);
    let effective = thread.effective.details.get("policy").cloned();
    let policy = EffectivePolicy {
        task: thread.name.clone(),
        requested: thread.requested,
        effective: effective.and_then(|policy| serde_json::from_value(policy).ok()),
    };
    if thread.due.start_ns != 0 && !provenance.policies.contains(&policy) {
        provenance.policies.push(policy);
    }
    let early = match &thread.ended {
        None | Some(ThreadEnd::Stopped) => Some(EarlyEnd::Interrupted),
        Some(ThreadEnd::Overrun) => Some(EarlyEnd::Overrun {
            cycle: (thread.recorded + lost).saturating_sub(1),
        }),
        Some(ThreadEnd::Failed { obstacle, reason }) => Some(match obstacle {
            Obstacle::Guard => EarlyEnd::Guard {
                detail: reason.clone(),
            },
            Obstacle::MissingRight | Obstacle::Died | Obstacle::Other => EarlyEnd::Error {
                detail: reason.clone(),
            },
        }),
        Some(ThreadEnd::AllCycles | ThreadEnd::Unknown) => None,
    };
    provenance
        .early_ends
        .extend(early.filter(|early| !provenance.early_ends.contains(early)));
    for load in &segment.loads {
        let known = &mut provenance.unproven_loads;
        if let Some(why) = load.why_unproven()
            && !known.iter().any(|known| known.load == load.name)
        {
            known.push(UnprovenLoad {
                load: load.name.clone(),
                why: why.to_owned(),
            });
        }
    }
}
