//! What about the machine matters most to the run: causes that a trace has measured first, then the
//! checks of `wakepath doctor` that were bad when the run began, the most critical and largest first.

use super::Matter;
use super::causes::{Lost, causes, weight_of};
use wakepath_assess::Assessment;
use wakepath_assess::watched::Finding;
use wakepath_explain::Explanation;
use wakepath_machine::{ChangedFact, CpuThrottling};
use wakepath_readiness::{Judged, Magnitude, Severity, checks};
use wakepath_timeline::duration::{length, three_digits};
use wakepath_timeline::one_line;
use wakepath_verdict::counted;

/// Things listed at most.
const MOST: usize = 3;

/// The things, and how many more checks are bad.
pub(super) fn matters(
    assessment: &Assessment,
    explanation: Option<&Explanation>,
) -> (Vec<Matter>, usize) {
    // Where a trace shows what made cycles overrun, that is the answer.
    let is_explained = explanation.is_some_and(|of| of.conditions.iter().any(|of| of.overran > 0));
    // Where a quota stopped the group, cycles may have been long without any work of their own.
    let quota = quota(assessment);
    // A program that was watched may have waited for others, or been held up.
    let is_watched = assessment
        .imported
        .as_ref()
        .is_some_and(|of| of.is_watched());
    let is_own = !is_watched && !is_explained && quota.is_none();
    let overruns = overruns(assessment).filter(|_| is_own);
    let mut matters: Vec<Matter> = overruns.into_iter().collect();
    let mut lost: Vec<Lost> = of_waiting(assessment, explanation).into_iter().collect();
    lost.extend(
        explanation
            .into_iter()
            .flat_map(|of| causes(assessment, of)),
    );
    lost.sort_by_cached_key(|of| std::cmp::Reverse((of.weight, of.ns)));
    matters.extend(lost.into_iter().map(|of| of.matter));
    matters.truncate(MOST);
    let mut bad = worst_checks(assessment);
    if let Some(quota) = quota {
        bad.retain(|judged| judged.id != checks::CPU_QUOTA);
        // A trace that shows it has the same fix, and perhaps how to try it.
        let is_same = |matter: &Matter| matter.remedy.starts_with(&quota.remedy);
        if !matters.iter().any(is_same) {
            matters.truncate(MOST - 1);
            // Real-time threads have no part in a quota.
            let recommended = assessment.overall.recommendation.as_ref();
            let is_spared = recommended.is_some_and(|of| of.policy.is_real_time());
            let place = if is_spared { matters.len() } else { 0 };
            matters.insert(place, quota);
        }
    }
    let shown = bad.len().min(MOST - matters.len());
    matters.extend(
        bad[..shown]
            .iter()
            .map(|judged| of_check(assessment, judged)),
    );
    let all = assessment.readiness.as_ref().map_or(0, |of| of.tally.bad);
    (matters, all.saturating_sub(shown))
}

/// The CPU quota that stopped the loop's control group most often during the run.
fn quota(assessment: &Assessment) -> Option<Matter> {
    let throttled = assessment.throttled.iter();
    let group = throttled.max_by_key(|group| group.since_made.times)?;
    let budget = group.budget();
    let CpuThrottling {
        times, stopped_us, ..
    } = group.since_made;
    let to_milliseconds = match stopped_us {
        ..10_000 => stopped_us.saturating_mul(1_000),
        _ => (stopped_us / 1_000).saturating_mul(1_000_000),
    };
    Some(Matter {
        what: budget.to_string(),
        size: format!(
            "{}, {} summed over its CPUs; it stops ordinary threads",
            counted(times, "time", "times"),
            length(to_milliseconds),
        ),
        remedy: budget.fix(),
        is_check: false,
    })
}

/// The check to begin with, if one is bad.
pub(super) fn worst_check(assessment: &Assessment) -> Option<String> {
    worst_checks(assessment)
        .first()
        .map(|judged| one_line(&judged.id))
}

/// Bad and more than minor, the most critical first and of those alike the ones with the largest known
/// cost.
fn worst_checks(assessment: &Assessment) -> Vec<&Judged> {
    let readiness = assessment.readiness.iter();
    let mut bad: Vec<&Judged> = readiness
        .flat_map(|report| report.bad())
        .filter(|judged| judged.severity > Severity::Minor)
        .collect();
    let cost = |judged: &Judged| match judged.finding.magnitude {
        Magnitude::Prevents => u64::MAX,
        Magnitude::Delay { ns } => ns,
        // It strikes a loop that never sleeps, and only that.
        Magnitude::Stop { .. } | Magnitude::NotKnown => 0,
    };
    bad.sort_by_cached_key(|judged| std::cmp::Reverse((judged.severity, cost(judged))));
    bad
}

fn of_check(assessment: &Assessment, judged: &Judged) -> Matter {
    let remedy = if judged.remedy_now.is_empty() {
        &judged.remedy_at_boot
    } else {
        &judged.remedy_now
    };
    // Text after a semicolon is for `doctor`.
    let found = one_line(&judged.finding.found);
    let found = found.split("; ").next().unwrap_or_default();
    Matter {
        what: format!(
            "{} {}: {found}",
            one_line(&judged.id),
            one_line(&judged.title),
        ),
        size: size(assessment, judged),
        remedy: one_line(remedy),
        is_check: true,
    }
}

fn size(assessment: &Assessment, judged: &Judged) -> String {
    let taken = assessment
        .machine_changes
        .iter()
        .find(|change| change.fact == ChangedFact::StolenCpuTime);
    if let (checks::STOLEN_TIME, Some(change)) = (judged.id.as_str(), taken) {
        return format!("took {} of this run", one_line(&change.after));
    }
    let severity = judged.severity.word();
    match (&judged.for_this_loop, judged.finding.magnitude) {
        (Some(figures), _) => one_line(figures),
        (None, _) => format!("{severity}, size unknown"),
    }
}

/// The largest effect of a watched loop's own way of waiting on its period, with its time in all, in nanoseconds. Its
/// own decisions don't count; nor does a period that drifts, but of the thread that leads an explanation: others may rest
/// for a time as they like.
fn of_waiting(assessment: &Assessment, explanation: Option<&Explanation>) -> Option<Lost> {
    let first = explanation.and_then(|of| of.conditions.first());
    let leads = |name: &str| first.is_none_or(|of| of.thread == name);
    let counts = |name: &str, of: &Finding| !matches!(of, Finding::SleepsFor { .. }) || leads(name);
    let cycles = |name: &str| {
        let is_its = |task: &String| task == name;
        let conditions = assessment.conditions.iter();
        let its = conditions.filter(|of| of.name.task.as_ref().is_none_or(is_its));
        its.map(|of| of.cycles.executed).sum::<u64>()
    };
    let found = assessment.findings.iter();
    let found = found.filter(|(name, finding)| counts(name, finding));
    let found = found.filter_map(|(name, finding)| {
        Some((finding.lost_ns(cycles(name)), name, finding, finding.fix()?))
    });
    let (lost_ns, name, finding, fix) = found.max_by_key(|(lost_ns, ..)| *lost_ns)?;
    let matter = Matter {
        what: one_line(&format!("{name}: {finding}")),
        size: match (finding, finding.size_ns()) {
            (_, 0) => "nothing lost to it in this run".into(),
            (Finding::SleepsFor { .. }, ns) => {
                format!(
                    "{} in each cycle, on average",
                    three_digits(ns.cast_signed())
                )
            }
            (_, ns) => format!("{} at worst", three_digits(ns.cast_signed())),
        },
        remedy: fix.into(),
        is_check: false,
    };
    Some(Lost {
        weight: weight_of(explanation, name),
        ns: lost_ns,
        matter,
    })
}

/// The loop's own cycles that took longer than its period: no setting of the machine makes up for them.
fn overruns(assessment: &Assessment) -> Option<Matter> {
    let conditions = assessment.conditions.iter();
    let found = conditions.filter_map(|of| of.cycles.overruns);
    let of = found.max_by_key(|of| (of.skipped, of.cycles))?;
    if of.skipped == 0 {
        return None;
    }
    // A loop that exchanges frames works for microseconds and waits for the bus.
    let (what, remedy) = if assessment.exchanges.is_empty() {
        (
            "its own work",
            "time its parts as sections and shorten the longest, or give it a longer period; a run \
             with --trace shows whether something else ran during it",
        )
    } else {
        (
            "its exchange with the bus",
            "fewer devices or a shorter process image, an interface without coalescing, or a longer \
             period; the table of exchanges says how long frames took",
        )
    };
    Some(Matter {
        what: format!("{what} outlasted its period of {}", length(of.period_ns)),
        size: format!(
            "{} at worst, {}, {}",
            three_digits(of.longest_ns.cast_signed()),
            counted(of.cycles, "cycle", "cycles"),
            counted(of.skipped, "due time skipped", "due times skipped"),
        ),
        remedy: remedy.into(),
        is_check: false,
    })
}
