//! Which segments and threads make up a condition: a policy under a phase's load, over all
//! repetitions; task by task where tasks have periods of their own. It reads no samples.

use crate::watched::comes_without_period;
use serde::Serialize;
use wakepath_archive::{Manifest, Obstacle, SegmentRecord, ThreadEnd, ThreadRecord};
use wakepath_scenario::{Criterion, Scenario};
use wakepath_timeline::Policy;
use wakepath_verdict::ConditionName;

/// A condition that could not be measured: a missing privilege, as a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotMeasured {
    /// The condition.
    pub condition: String,
    /// The phase.
    pub phase: String,
    /// Why, and what would help.
    pub reason: String,
    /// Whether it is for want of a right.
    pub lacks_right: bool,
    /// Whether its process died.
    pub died: bool,
}

/// The recording of one condition.
pub(crate) struct ConditionSegments<'a> {
    pub(crate) condition: String,
    pub(crate) phase: String,
    /// `None` for a task set.
    pub(crate) policy: Option<Policy>,
    /// The task, where tasks are judged one by one.
    pub(crate) task: Option<String>,
    /// The judged threads.
    pub(crate) threads: Vec<(&'a SegmentRecord, &'a ThreadRecord)>,
    /// The traced threads: they explain, and must be as sound as the judged ones.
    pub(crate) traced: Vec<(&'a SegmentRecord, &'a ThreadRecord)>,
    /// The shortest period of the scenario, in nanoseconds.
    shortest_period_ns: u64,
}

/// Longer than any period of a scenario.
const NO_DEADLINE_NS: u64 = 100_000_000_000;

/// Groups a run's segments into conditions, in the order in which they were first measured.
pub(crate) fn group<'a>(manifest: &'a Manifest, scenario: &Scenario) -> Vec<ConditionSegments<'a>> {
    let alike = Scenario::are_alike(&scenario.tasks);
    let mut conditions: Vec<ConditionSegments<'a>> = Vec::new();
    // A traced segment carries the cost of tracing: it explains, and judges nothing. A program that
    // was watched has no other.
    let watched = manifest
        .imported
        .as_ref()
        .is_some_and(|from| from.is_made_of_events());
    let judges = |segment: &SegmentRecord| watched || !segment.traced;
    // Judged ones first: a condition that was only traced does not count.
    let (judged, traced): (Vec<_>, Vec<_>) = manifest
        .segments
        .iter()
        .partition(|segment| judges(segment));
    for segment in judged.into_iter().chain(traced) {
        for thread in &segment.threads {
            let policy = (!scenario.policies.is_empty()).then_some(thread.requested);
            let task = (!alike).then(|| thread.name.clone());
            let known = conditions.iter_mut().find(|known| {
                known.condition == segment.condition
                    && known.policy == policy
                    && known.phase == segment.phase
                    && known.task == task
            });
            match known {
                Some(known) if judges(segment) => known.threads.push((segment, thread)),
                Some(known) => known.traced.push((segment, thread)),
                None if !judges(segment) => {}
                None => conditions.push(ConditionSegments {
                    condition: segment.condition.clone(),
                    phase: segment.phase.clone(),
                    policy,
                    task,
                    threads: vec![(segment, thread)],
                    traced: Vec::new(),
                    shortest_period_ns: scenario.period_ns,
                }),
            }
        }
    }
    // Phase by phase in the scenario's order, whatever the repetitions did to the order.
    let place = |phase: &str| scenario.phases.iter().position(|known| known.name == phase);
    let policy_place = |policy| {
        scenario
            .policies
            .iter()
            .position(|&known| Some(known) == policy)
    };
    conditions.sort_by_cached_key(|c| (place(&c.phase), policy_place(c.policy)));
    conditions
}

impl ConditionSegments<'_> {
    /// Its name in a verdict.
    pub(crate) fn name(&self) -> ConditionName {
        ConditionName {
            policy: self.policy,
            phase: self.phase.clone(),
            task: self.task.clone(),
        }
    }

    /// Why no segment of it ever started, if none did: a missing privilege, as a rule. A load that
    /// could not be started is not such a reason but makes the condition invalid.
    pub(crate) fn never_started(&self) -> Option<(Obstacle, String)> {
        let reason = |(segment, thread): &(&SegmentRecord, &ThreadRecord)| match &thread.ended {
            Some(ThreadEnd::Failed { obstacle, reason })
                if thread.due.start_ns == 0 && segment.loads.is_empty() =>
            {
                Some((*obstacle, reason.clone()))
            }
            _ => None,
        };
        let reasons: Vec<_> = self.threads.iter().map(reason).collect();
        if reasons.iter().all(Option::is_some) {
            reasons.into_iter().flatten().next()
        } else {
            None
        }
    }

    /// The criterion for this condition's period. A deadline of one period is each task's own
    /// period.
    pub(crate) fn criterion(&self, criterion: &Criterion) -> Criterion {
        let period_ns = self
            .threads
            .first()
            .map_or(self.shortest_period_ns, |(_, thread)| thread.due.period_ns);
        let is_irregular = |(_, thread): &(_, &ThreadRecord)| comes_without_period(thread);
        let deadline_ns = if self.threads.first().is_some_and(is_irregular) {
            NO_DEADLINE_NS
        } else {
            own_deadline_ns(criterion.deadline_ns, self.shortest_period_ns, period_ns)
        };
        Criterion {
            deadline_ns,
            ..criterion.clone()
        }
    }
}

/// The deadline of a loop with this period under a criterion's `deadline_ns`, all in nanoseconds. A criterion's
/// deadline of one period is written as the shortest one, and means each loop's own.
pub(crate) fn own_deadline_ns(deadline_ns: u64, shortest_period_ns: u64, period_ns: u64) -> u64 {
    if deadline_ns == shortest_period_ns {
        period_ns
    } else {
        deadline_ns
    }
}
