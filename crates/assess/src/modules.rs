//! The parts of a controller that timed themselves, in the way of Betaflight's `tasks`: rate,
//! average, maximum, load, late, runs over budget. Late can only be what has a rate of its own.

use crate::conditions::ConditionSegments;
use crate::error::AssessmentError;
use crate::sections::{Runs, Spread};
use serde::Serialize;
use wakepath_archive::{ModuleTimes, Run};

/// One module in one condition, over all its segments.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModuleFigures {
    /// The condition: its policy.
    pub condition: String,
    /// The phase.
    pub phase: String,
    /// The thread that it ran in.
    pub thread: String,
    /// The counts.
    #[serde(flatten)]
    pub times: ModuleTimes,
    /// Runs a second, over the judged time.
    pub rate_hz: f64,
    /// Required runs per second, if it has its own rate.
    pub wanted_hz: Option<f64>,
    /// Mean time of a run in nanoseconds; `None` if it never ran.
    pub average_ns: Option<f64>,
    /// Share of the judged time that it took.
    pub load: f64,
    /// Its individual runs, if they were recorded: of a section of the user's own loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
}

/// The modules of every condition, in order.
pub(crate) fn figures(
    run: &Run,
    conditions: &[ConditionSegments<'_>],
) -> Result<Vec<ModuleFigures>, AssessmentError> {
    let mut runs = Runs::new(run);
    let mut all: Vec<(ModuleFigures, u64)> = Vec::new();
    for condition in conditions {
        let first = all.len();
        for (_, thread) in &condition.threads {
            let judged = thread.expected.saturating_sub(thread.first_judged_cycle);
            let judged_ns = judged.saturating_mul(thread.due.period_ns);
            for module in thread
                .modules
                .iter()
                .filter(|one| one.caches.is_none() && one.exchanges.is_none())
            {
                let known = all[first..].iter_mut().find(|(known, _)| {
                    known.thread == thread.name && known.times.name == module.name
                });
                match known {
                    Some((known, ns)) => {
                        let times = &mut known.times;
                        // Counts in an external recording can have any value.
                        times.runs = times.runs.saturating_add(module.runs);
                        times.sum_ns = times.sum_ns.saturating_add(module.sum_ns);
                        times.max_ns = times.max_ns.max(module.max_ns);
                        times.over_budget = times.over_budget.saturating_add(module.over_budget);
                        let late = times.late.zip(module.late);
                        times.late = late.map(|(before, more)| before.saturating_add(more));
                        *ns = ns.saturating_add(judged_ns);
                    }
                    None => {
                        let figures = ModuleFigures {
                            condition: condition.condition.clone(),
                            phase: condition.phase.clone(),
                            thread: thread.name.clone(),
                            times: module.clone(),
                            rate_hz: 0.0,
                            wanted_hz: module.every.map(|every| {
                                1e9 / (every.max(1) as f64 * thread.due.period_ns as f64)
                            }),
                            average_ns: None,
                            load: 0.0,
                            spread: None,
                        };
                        all.push((figures, judged_ns));
                    }
                }
            }
        }
        for (figures, _) in &mut all[first..] {
            let own = condition.threads.iter();
            let own = own.filter(|(_, thread)| thread.name == figures.thread);
            let own: Vec<_> = own.map(|&(segment, thread)| (segment, thread)).collect();
            figures.spread = runs.spread(&own, &figures.times.name)?;
        }
    }
    let all = all.into_iter();
    Ok(all
        .map(|(figures, judged_ns)| with_rates(figures, judged_ns))
        .collect())
}

fn with_rates(figures: ModuleFigures, judged_ns: u64) -> ModuleFigures {
    let ModuleTimes { runs, sum_ns, .. } = figures.times;
    let judged_ns = judged_ns.max(1) as f64;
    ModuleFigures {
        rate_hz: runs as f64 * 1e9 / judged_ns,
        average_ns: (runs > 0).then(|| sum_ns as f64 / runs as f64),
        load: sum_ns as f64 / judged_ns,
        ..figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(runs: u64, budget_ns: Option<u64>) -> ModuleFigures {
        ModuleFigures {
            condition: "FIFO 50".into(),
            phase: "idle".into(),
            thread: "loop".into(),
            times: ModuleTimes {
                name: "attitude".into(),
                budget_ns,
                runs,
                sum_ns: 2_000 * runs,
                max_ns: 5_000,
                over_budget: 3,
                every: Some(2),
                late: Some(7),
                caches: None,
                exchanges: None,
            },
            rate_hz: 0.0,
            wanted_hz: Some(125.0),
            average_ns: None,
            load: 0.0,
            spread: None,
        }
    }

    #[test]
    fn rate_average_and_load_follow_from_the_counts() {
        let figures = with_rates(module(500, Some(4_000)), 2_000_000_000);
        assert_eq!(
            (figures.rate_hz, figures.average_ns),
            (250.0, Some(2_000.0))
        );
        assert!((figures.load - 0.0005).abs() < 1e-12);
    }

    #[test]
    fn a_module_that_never_ran_has_no_average() {
        let figures = with_rates(module(0, None), 2_000_000_000);
        assert_eq!(figures.average_ns, None);
    }
}
