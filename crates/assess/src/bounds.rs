//! Bound against observed: the analysis's bound on each task's response, and the longest measured
//! one. A longer one contradicts the bound: an execution, a cost or a policy was not what
//! the analysis took it for.

use serde::Serialize;
use wakepath_scenario::Scenario;
use wakepath_timeline::duration;
use wakepath_verdict::{ConditionName, Judgement};

/// One task under one condition.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeldBound {
    /// The task.
    pub task: String,
    /// The condition that it was measured in.
    pub condition: ConditionName,
    /// The bound, in nanoseconds from the due time.
    pub bound_ns: u64,
    /// The longest response observed, in nanoseconds.
    pub observed_ns: i64,
    /// Number of cycles.
    pub cycles: u64,
    /// Whether it is longer than the bound.
    pub contradicted: bool,
}

impl HeldBound {
    /// The observed part of the bound, 0 to 1 and above.
    pub fn share(&self) -> f64 {
        self.observed_ns as f64 / self.bound_ns.max(1) as f64
    }

    /// The contradiction in a sentence; `None` without one.
    pub fn contradiction(&self) -> Option<String> {
        let bound_ns = self.bound_ns.cast_signed();
        self.contradicted.then(|| {
            format!(
                "BOUND CONTRADICTED: {} took {} in {}, but the analysis promised at most {}; a cost or an execution \
                 time is longer than given, or something ran that the analysis did not include",
                self.task,
                duration::apart_from(self.observed_ns, bound_ns),
                self.condition,
                duration::rounded(bound_ns)
            )
        })
    }
}

/// Result for each bound.
pub(crate) fn held_bounds(scenario: &Scenario, conditions: &[Judgement]) -> Vec<HeldBound> {
    let found = conditions.iter().filter_map(|judged| {
        let task = match &judged.name.task {
            Some(name) => scenario.tasks.iter().find(|task| task.name == *name)?,
            // Alike: the strictest promise is everybody's.
            None => scenario
                .tasks
                .iter()
                .filter(|task| task.response_bound_ns.is_some())
                .min_by_key(|task| task.response_bound_ns)?,
        };
        let bound_ns = task.response_bound_ns?;
        let response = judged.cycles.response.as_ref()?;
        Some(HeldBound {
            task: task.name.clone(),
            condition: judged.name.clone(),
            bound_ns,
            observed_ns: response.max,
            cycles: response.count,
            contradicted: u64::try_from(response.max).is_ok_and(|observed| observed > bound_ns),
        })
    });
    found.collect()
}
