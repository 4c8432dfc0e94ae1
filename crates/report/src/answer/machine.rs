//! What about the machine matters most to the run: causes that a trace has measured first, then the
//! checks of `wakepath doctor` that were bad when the run began, the gravest and largest first.

use super::Matter;
use wakepath_assess::Assessment;
use wakepath_assess::watched::Finding;
use wakepath_explain::{CauseFigures, Explanation};
use wakepath_machine::CpuThrottling;
use wakepath_readiness::{Judged, Magnitude, Severity};
use wakepath_timeline::duration::{length, short};
use wakepath_timeline::one_line;
use wakepath_verdict::counted;

/// So many things are said.
const MOST: usize = 3;
/// So many of them are causes: what stands behind them is in the checks.
const MOST_CAUSES: usize = 2;

/// The things, and how many more checks are bad.
pub(super) fn matters(
    assessment: &Assessment,
    explanation: Option<&Explanation>,
) -> (Vec<Matter>, usize) {
    // Where a trace shows what made cycles overrun, that is the answer.
    let is_explained = explanation.is_some_and(|of| of.conditions.iter().any(|of| of.overran > 0));
    // Where a quota stopped the group, cycles may have been long without any work of their own.
    let quota = quota(assessment);
    let overruns = overruns(assessment).filter(|_| !is_explained && quota.is_none());
    let mut matters: Vec<Matter> = overruns
        .or_else(|| of_waiting(assessment))
        .into_iter()
        .collect();
    let causes = explanation.map(|explanation| causes(assessment, explanation));
    matters.extend(causes.unwrap_or_default());
    let mut bad = worst_checks(assessment);
    if let Some(quota) = quota {
        bad.retain(|judged| judged.id != CPU_QUOTA);
        // A trace that shows it has the same fix.
        if matters.iter().all(|matter| matter.remedy != quota.remedy) {
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

/// The id of the check that shows a quota before it is used up.
const CPU_QUOTA: &str = "S8";

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
            "{}, {} in all; it stops ordinary threads",
            counted(times, "time", "times"),
            length(to_milliseconds),
        ),
        remedy: budget.fix(),
    })
}

/// The check to begin with, where one is bad.
pub(super) fn worst_check(assessment: &Assessment) -> Option<String> {
    worst_checks(assessment)
        .first()
        .map(|judged| one_line(&judged.id))
}

/// Bad and more than minor, the gravest first and of those alike the ones with the largest known
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
    bad.sort_by_key(|judged| std::cmp::Reverse((judged.severity, cost(judged))));
    bad
}

fn of_check(assessment: &Assessment, judged: &Judged) -> Matter {
    let remedy = match judged.remedy_now.is_empty() {
        false => &judged.remedy_now,
        true => &judged.remedy_at_boot,
    };
    // What comes behind a semicolon is for `doctor`.
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
    }
}

fn size(assessment: &Assessment, judged: &Judged) -> String {
    let taken = assessment
        .machine_changes
        .iter()
        .find(|change| judged.id == "X1" && change.what.contains("hypervisor"));
    if let Some(change) = taken {
        return format!("took {} of this run", one_line(&change.after));
    }
    let severity = judged.severity.word();
    match (&judged.for_this_loop, judged.finding.magnitude) {
        (Some(figures), _) => one_line(figures),
        (None, _) => format!("{severity}, size unknown"),
    }
}

/// The largest that a watched loop's own way of waiting does to its period. What it decided itself is none.
fn of_waiting(assessment: &Assessment) -> Option<Matter> {
    let found = assessment.findings.iter();
    let found = found.filter_map(|(name, finding)| Some((name, finding, finding.fix()?)));
    let (name, finding, fix) = found.max_by_key(|(_, finding, _)| finding.size_ns())?;
    Some(Matter {
        what: one_line(&format!("{name}: {finding}")),
        size: match (finding, finding.size_ns()) {
            (_, 0) => "nothing lost to it in this run".into(),
            (Finding::SleepsFor { .. }, ns) => {
                format!("{} in each cycle, on average", short(ns.cast_signed()))
            }
            (_, ns) => format!("{} at worst", short(ns.cast_signed())),
        },
        remedy: fix.into(),
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
    let (what, remedy) = match assessment.exchanges.is_empty() {
        true => (
            "its own work",
            "time its parts as sections and shorten the longest, or give it a longer period; a run \
             with --trace says whether something else ran meanwhile",
        ),
        false => (
            "its exchange with the bus",
            "fewer devices or a shorter process image, an interface without coalescing, or a longer \
             period; the table of exchanges says how long frames took",
        ),
    };
    Some(Matter {
        what: format!("{what} outlasted its period of {}", length(of.period_ns)),
        size: format!(
            "{} at worst, {}, {}",
            short(of.longest_ns.cast_signed()),
            counted(of.cycles, "cycle", "cycles"),
            counted(of.skipped, "due time skipped", "due times skipped"),
        ),
        remedy: remedy.into(),
    })
}

/// Causes of late cycles over all conditions, by their time, each with its consequences, and those with one remedy
/// together; where a policy is recommended, over
/// that policy's alone: what the others suffer is no longer of interest.
fn causes(assessment: &Assessment, explanation: &Explanation) -> Vec<Matter> {
    let recommended = assessment.overall.recommendation.as_ref();
    let recommended = recommended.map(|of| of.policy.to_string());
    let conditions = explanation.conditions.iter();
    let wanted = conditions.filter(|of| recommended.as_ref().is_none_or(|it| *it == of.condition));
    let sums = by_time(wanted.flat_map(|of| &of.causes));
    let told = sums.iter().take(MOST_CAUSES).map(|sum| Matter {
        what: match sum.causes.len() {
            1 => one_line(sum.causes[0]),
            all => one_line(&format!("{} and {} more like it", sum.causes[0], all - 1)),
        },
        size: format!(
            "{} at worst, {} in all, {}",
            short(sum.worst_ns.cast_signed()),
            short(sum.total_ns.cast_signed()),
            counted(sum.cycles, "late cycle", "late cycles"),
        ),
        remedy: one_line(sum.remedy),
    });
    told.collect()
}

/// Causes that are answered together.
struct Sum<'a> {
    causes: Vec<&'a str>,
    remedy: &'a str,
    cycles: u64,
    total_ns: u64,
    worst_ns: u64,
}

/// Causes of late cycles, the one with most time first, whether anything can be done about it or not. A consequence
/// counts as its cause, and causes with one remedy as one.
fn by_time<'a>(all: impl Iterator<Item = &'a CauseFigures>) -> Vec<Sum<'a>> {
    let mut sums: Vec<Sum<'a>> = Vec::new();
    let usual = |cause: &&CauseFigures| matches!(&*cause.kind, "path" | "timer-delivery");
    let late = all.filter(|cause| cause.late_ns > 0);
    for cause in late.filter(|cause| !usual(cause)) {
        let remedy = cause.remedy.as_deref().unwrap_or_default();
        let name = cause.because.as_deref().unwrap_or(&cause.cause);
        let alike = |sum: &&mut Sum<'_>| {
            let same = remedy.is_empty() && sum.causes == [name];
            sum.remedy == remedy && (!remedy.is_empty() || same)
        };
        match sums.iter_mut().find(alike) {
            Some(sum) => {
                if !sum.causes.contains(&name) {
                    sum.causes.push(name);
                }
                sum.cycles += cause.late_cycles;
                sum.total_ns += cause.late_ns;
                sum.worst_ns = sum.worst_ns.max(late_worst_ns(cause));
            }
            None => sums.push(Sum {
                causes: vec![name],
                remedy,
                cycles: cause.late_cycles,
                total_ns: cause.late_ns,
                worst_ns: late_worst_ns(cause),
            }),
        }
    }
    sums.sort_by_key(|sum| std::cmp::Reverse(sum.total_ns));
    sums
}

/// Its largest part in a late cycle; in what older versions explained, in any.
fn late_worst_ns(cause: &CauseFigures) -> u64 {
    match cause.late_worst_ns {
        0 => cause.worst_ns,
        late => late,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(kind: &str, cause: &str, late_ns: u64, remedy: Option<&str>) -> CauseFigures {
        CauseFigures {
            kind: kind.into(),
            cause: cause.into(),
            because: None,
            cycles: 1,
            late_cycles: 1,
            total_ns: late_ns,
            late_ns,
            worst_ns: late_ns,
            worst_cycle: 0,
            late_worst_ns: late_ns,
            remedy: remedy.map(str::to_owned),
        }
    }

    #[test]
    fn the_largest_cause_comes_first_with_its_consequences_and_without_a_remedy_too() {
        let overrun = CauseFigures {
            because: Some("own code".into()),
            ..cause("overrun", "the cycle before: own code", 50, None)
        };
        let all = [
            cause("softirq", "RCU", 60, Some("rcu_nocbs")),
            overrun,
            cause("user-code", "own code", 30, None),
            cause("path", "the wake-up itself", 900, None),
        ];
        let sums = by_time(all.iter());
        assert_eq!(
            (sums[0].total_ns, &*sums[0].causes),
            (80, &["own code"][..])
        );
        assert_eq!((sums[1].total_ns, sums[1].remedy), (60, "rcu_nocbs"));
        assert_eq!(sums.len(), 2);
    }
}
