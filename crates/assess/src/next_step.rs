//! The next step if a run leaves a question open: each policy's own advice, and how long a run that follows
//! it takes. The page that shows it writes its command.

use crate::NotMeasured;
use serde::Serialize;
use wakepath_scenario::{PoliciesNeeded, Scenario};
use wakepath_timeline::Policy;
use wakepath_verdict::{Advice, MoreNeeded, Outcome, Overall};

/// One step, for the policies that it is the same for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NextStep {
    /// The policies, as a person reads them.
    pub of: Vec<String>,
    /// Their advice.
    pub advice: Advice,
    /// Duration of a run of the same scenario that measures long enough, in nanoseconds.
    pub run_ns: Option<u64>,
    /// The same for a run of only the first policy, without a trace, if that policy alone would decide.
    #[serde(skip)]
    pub alone_ns: Option<u64>,
}

/// The steps that would decide an undecided run; none for any other.
pub(crate) fn next_steps(
    outcome: Outcome,
    overall: &Overall,
    not_measured: &[NotMeasured],
    scenario: &Scenario,
) -> Vec<NextStep> {
    if outcome != Outcome::Undecided {
        return Vec::new();
    }
    let name = |policy: Option<Policy>| policy.map_or("task set".into(), |p| p.to_string());
    let mut steps: Vec<NextStep> = Vec::new();
    for policy in &overall.policies {
        if let Some(advice) = &policy.advice {
            add(
                &mut steps,
                name(policy.policy),
                advice.clone(),
                overall.needed,
            );
        }
    }
    for missing in not_measured.iter().filter(|missing| missing.lacks_right) {
        add(
            &mut steps,
            missing.condition.clone(),
            Advice::GetRight,
            overall.needed,
        );
    }
    let is_any = overall.needed == PoliciesNeeded::Any;
    // Complete an interrupted run first; if one policy is enough, put those that a longer run would decide
    // before those that it would not.
    steps.sort_by_cached_key(|step| match &step.advice {
        Advice::MeasureToTheEnd => 0,
        Advice::MeasureLonger { .. } if is_any => 1,
        _ => 2,
    });
    for step in &mut steps {
        if let Advice::MeasureLonger { times, .. } = step.advice {
            let longer = longer(scenario, times);
            step.run_ns = Some(longer.estimated_run_ns());
            let first = step.of.first();
            let alone = scenario
                .policies
                .iter()
                .find(|policy| first == Some(&policy.to_string()));
            step.alone_ns = alone.filter(|_| is_any).map(|policy| {
                let policies = vec![*policy];
                let trace = None;
                let alone = Scenario {
                    policies,
                    trace,
                    ..longer
                };
                alone.estimated_run_ns()
            });
        }
    }
    steps
}

/// Policies with the same advice share a step. Of two that need time, both get the longer if every policy
/// has to pass; if one is enough, the step is the one that needs less.
fn add(steps: &mut Vec<NextStep>, of: String, advice: Advice, needed: PoliciesNeeded) {
    for step in steps.iter_mut() {
        if let (
            PoliciesNeeded::Any,
            Advice::MeasureLonger { times, .. },
            Advice::MeasureLonger { times: others, .. },
        ) = (needed, &step.advice, &advice)
        {
            if others < times {
                (step.of, step.advice) = (vec![of], advice);
            }
            return;
        }
        let shared = match (&mut step.advice, &advice) {
            (
                Advice::MeasureLonger { times, more },
                Advice::MeasureLonger {
                    times: others,
                    more: lacking,
                },
            ) => {
                *times = times.max(*others);
                *more = MoreNeeded {
                    due_times: more.due_times.max(lacking.due_times),
                    seconds: more.seconds.max(lacking.seconds),
                };
                true
            }
            (known, other) => known == other,
        };
        if shared {
            if !step.of.contains(&of) {
                step.of.push(of);
            }
            return;
        }
    }
    steps.push(NextStep {
        of: vec![of],
        advice,
        run_ns: None,
        alone_ns: None,
    });
}

/// See [`Assessment::traced_run_ns`](crate::Assessment::traced_run_ns).
pub(crate) fn traced_run_ns(scenario: &Scenario) -> Option<u64> {
    if scenario.trace.is_some() {
        return None;
    }
    let mut traced = scenario.clone();
    traced.trace.get_or_insert_default();
    let needed = scenario.criterion_of_each().due_times_needed();
    Some(traced.run_ns_of(scenario.cycles.max(needed)))
}

fn longer(scenario: &Scenario, times: f64) -> Scenario {
    Scenario {
        cycles: (scenario.cycles as f64 * times).ceil() as u64,
        ..scenario.clone()
    }
}
