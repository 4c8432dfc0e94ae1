//! The features of each queue of a set, and the first pair of them that is refused.

use super::{Cell, Feature, Queue, Why, pair};
use crate::analysis::Question;
use crate::chain::Chain;
use crate::task::{Arrivals, Server, Task};

/// Features or a pair that is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The task with the feature, or a reservation.
    pub of: String,
    /// The feature.
    pub feature: Feature,
    /// The second feature and who has it, for a pair.
    pub with: Option<(Feature, String)>,
    /// The policy as the reference names it.
    pub queue: Queue,
    /// The reason.
    pub why: Why,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.of, self.feature.name())?;
        if let Some((feature, of)) = &self.with {
            if *of == self.of {
                write!(f, " with {}", feature.name())?
            } else {
                write!(f, " with {} ({of})", feature.name())?
            }
        }
        let queue = self.queue.name();
        write!(f, " is not analysed under {queue}: {}", self.why)
    }
}

/// The first refusal of a set, queue by queue.
pub(crate) fn refusal(question: &Question<'_>) -> Option<Refusal> {
    let cpus = question.cpus.max(1);
    let size = question.method.cluster_size(cpus);
    (0..cpus).step_by(usize::from(size)).find_map(|first| {
        let here = first..first.saturating_add(size).min(cpus);
        // A task without a CPU may run anywhere.
        let tasks: Vec<&Task> = question
            .tasks
            .iter()
            .filter(|task| cpu_of(task).is_none_or(|cpu| here.contains(&cpu)))
            .collect();
        let found = features(question, &tasks, here.clone());
        let queue = Queue::new(question.method, here.end - here.start);
        first_refused(queue, &found)
    })
}

/// The refusal of a chain with a task that need not come again.
pub(crate) fn chain_refusal(set: &[Task], chain: &Chain) -> Option<Refusal> {
    let burst = chain.tasks.iter().map(|&place| &set[place]);
    let burst = burst
        .into_iter()
        .find(|task| matches!(task.arrivals, Arrivals::Distances(_)))?;
    let Cell::Refused(why) = pair(Queue::FixedOnOne, Feature::Burst, Feature::Chain) else {
        return None;
    };
    Some(Refusal {
        of: burst.name.clone(),
        feature: Feature::Burst,
        with: Some((Feature::Chain, chain.name.clone())),
        queue: Queue::FixedOnOne,
        why,
    })
}

fn cpu_of(task: &Task) -> Option<u16> {
    match &task.reservation {
        Some(reservation) => reservation.cpu,
        None => task.cpu,
    }
}

/// Each feature once, with the first that has it.
fn features(
    question: &Question<'_>,
    tasks: &[&Task],
    cpus: std::ops::Range<u16>,
) -> Vec<(Feature, String)> {
    let mut found: Vec<(Feature, String)> = Vec::new();
    let mut add = |feature: Feature, of: &str| {
        if !found.iter().any(|(known, _)| *known == feature) {
            found.push((feature, of.to_owned()));
        }
    };
    for task in tasks {
        of_task(task, &mut |feature| add(feature, &task.name));
        if let Some(reservation) = &task.reservation {
            let server = match reservation.server {
                Server::Periodic => Feature::PeriodicServer,
                Server::Sporadic => Feature::SporadicServer,
                Server::ConstantBandwidth => Feature::ConstantBandwidthServer,
            };
            add(server, &reservation.name);
        }
    }
    if let Some(overheads) = question.overheads
        && !tasks.is_empty()
    {
        let moves = cpus.len() > 1;
        let costs = overheads.costs_on(cpus, tasks.len());
        if costs.section_ns > 0 {
            add(Feature::Section, "[overheads]");
        }
        let cold = |task: &&Task| overheads.cache_delay_ns(task.working_set_bytes, moves) > 0;
        // A single task loses its caches to nobody.
        if !costs.only_sections() || (tasks.len() > 1 && tasks.iter().any(cold)) {
            add(Feature::Overheads, "[overheads]");
        }
    }
    found.sort_by_cached_key(|(feature, _)| *feature);
    found
}

fn of_task(task: &Task, add: &mut dyn FnMut(Feature)) {
    let inside = task.reservation.is_some();
    let stretch = if inside {
        Feature::StretchInside
    } else {
        Feature::Stretch
    };
    let has = [
        (Feature::Jitter, task.jitter_ns > 0),
        (Feature::Offset, task.offset_ns.is_some()),
        (
            Feature::Burst,
            matches!(task.arrivals, Arrivals::Distances(_)),
        ),
        (
            Feature::LateDeadline,
            task.after.is_none() && task.deadline_ns > task.closest_ns(),
        ),
        (Feature::Suspension, task.suspension_ns > 0),
        (stretch, task.non_preemptive_ns > 0),
        (Feature::Blocking, task.blocking_ns > 0),
        (Feature::After, task.after.is_some()),
    ];
    for (feature, _) in has.into_iter().filter(|(_, has)| *has) {
        add(feature);
    }
}

fn first_refused(queue: Queue, found: &[(Feature, String)]) -> Option<Refusal> {
    let refused = |one: usize, other: usize| match pair(queue, found[one].0, found[other].0) {
        Cell::Proved => None,
        Cell::Refused(why) => Some(Refusal {
            of: found[one].1.clone(),
            feature: found[one].0,
            with: (one != other).then(|| found[other].clone()),
            queue,
            why,
        }),
    };
    let alone = (0..found.len()).find_map(|place| refused(place, place));
    alone.or_else(|| {
        let pairs = (0..found.len()).flat_map(|one| (one + 1..found.len()).map(move |x| (one, x)));
        pairs
            .into_iter()
            .find_map(|(one, other)| refused(one, other))
    })
}
