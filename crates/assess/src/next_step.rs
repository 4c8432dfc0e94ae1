//! What to do next where a run leaves a question open: each policy's own advice, and how long a run
//! that follows it takes. The command for it is written where it is shown.

use crate::NotMeasured;
use serde::Serialize;
use wakepath_scenario::Scenario;
use wakepath_timeline::Policy;
use wakepath_verdict::{Advice, MoreNeeded, Outcome, Overall};

/// One step, for the policies that it is the same for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NextStep {
    /// The policies, as a person reads them.
    pub of: Vec<String>,
    /// What they need.
    pub advice: Advice,
    /// What a run of the same scenario takes that measures as long as it must, in nanoseconds.
    pub run_ns: Option<u64>,
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
            add(&mut steps, name(policy.policy), advice.clone());
        }
    }
    for missing in not_measured.iter().filter(|missing| missing.lacks_right) {
        add(&mut steps, missing.condition.clone(), Advice::GetRight);
    }
    // A run that was cut off is first of all to be made whole.
    steps.sort_by_key(|step| step.advice != Advice::MeasureToTheEnd);
    for step in &mut steps {
        if let Advice::MeasureLonger { times, .. } = step.advice {
            step.run_ns = Some(longer(scenario, times).estimated_run_ns());
        }
    }
    steps
}

/// Policies that need the same share a step; of two that need time, both get the longer.
fn add(steps: &mut Vec<NextStep>, of: String, advice: Advice) {
    for step in steps.iter_mut() {
        let shared = match (&mut step.advice, &advice) {
            (
                Advice::MeasureLonger { times, more },
                Advice::MeasureLonger {
                    times: others,
                    more: needed,
                },
            ) => {
                *times = times.max(*others);
                *more = MoreNeeded {
                    due_times: more.due_times.max(needed.due_times),
                    seconds: more.seconds.max(needed.seconds),
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
    });
}

fn longer(scenario: &Scenario, times: f64) -> Scenario {
    Scenario {
        cycles: (scenario.cycles as f64 * times).ceil() as u64,
        ..scenario.clone()
    }
}
