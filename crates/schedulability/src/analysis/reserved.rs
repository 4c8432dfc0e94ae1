//! A set in which some tasks run in reservations: the reservations are analysed as tasks among the
//! others, and what they give as the CPU of the tasks in them.
//!
//! Overheads are put in on the safe side: the interrupts that release the tasks within count as part
//! of the timer tick for the others on their CPUs, and each budget is shorter by a switch and a cold
//! cache for each time that its server can be preempted or begins.

use super::group::{own_apart, within_its_deadline};
use super::{
    Analysis, Counterexample, NotAnalysed, Outcome, Overheads, Question, TaskAnswer,
    analyse_unreserved, releases_of,
};
use crate::arithmetic::{sum, times};
use crate::bound::{Bound, What};
use crate::fixed_priority::Interference;
use crate::overheads::{Costs, inflate_fixed_priority};
use crate::reservation::{Supply, responses_within};
use crate::sched_deadline::Parameters;
use crate::task::{Arrivals, Reservation, Server, Task};
use std::ops::Range;

/// Costs with the releases of the tasks that run in reservations.
struct WithReleases<'a> {
    all: &'a dyn Overheads,
    within: Vec<&'a Task>,
}

impl Overheads for WithReleases<'_> {
    fn costs(&self, tasks: usize) -> Costs {
        self.costs_on(0..u16::MAX, tasks)
    }

    fn costs_on(&self, cpus: Range<u16>, tasks: usize) -> Costs {
        let here = |task: &&&Task| cpu_of(task).is_none_or(|cpu| cpus.contains(&cpu));
        let within: Vec<&Task> = self.within.iter().filter(here).copied().collect();
        let mut costs = self.all.costs_on(cpus.clone(), tasks + within.len());
        if costs.release_ns == 0 || within.is_empty() {
            return costs;
        }
        if costs.tick_period_ns == 0 || costs.tick_ns == 0 {
            costs.tick_ns = 0;
            let closest = within.iter().map(|task| task.closest_ns().max(1));
            costs.tick_period_ns = closest.min().unwrap_or(0);
        }
        for task in within {
            let releases = task
                .arrivals
                .within(costs.tick_period_ns, task.jitter_ns)
                .unwrap_or(u64::MAX);
            let taken_ns = releases.saturating_mul(costs.release_ns);
            costs.tick_ns = costs.tick_ns.saturating_add(taken_ns);
        }
        costs
    }

    fn cache_delay_ns(&self, working_set_bytes: u64, moves: bool) -> u64 {
        self.all.cache_delay_ns(working_set_bytes, moves)
    }
}

/// The CPU that a task runs on: its reservation's, if it is in one.
fn cpu_of(task: &Task) -> Option<u16> {
    match &task.reservation {
        Some(reservation) => reservation.cpu,
        None => task.cpu,
    }
}

/// The tasks outside a reservation that share CPUs with it.
fn beside<'a>(
    question: &'a Question<'_>,
    reservation: &'a Reservation,
) -> impl Iterator<Item = &'a Task> {
    let size = question.method.cluster_size(question.cpus);
    let cluster = move |cpu: Option<u16>| cpu.map(|cpu| cpu / size);
    question.tasks.iter().filter(move |task| {
        let own = task.reservation.as_ref();
        own.is_none_or(|own| own.name != reservation.name)
            && match (cluster(cpu_of(task)), cluster(reservation.cpu)) {
                (Some(of_task), Some(own)) => of_task == own,
                _ => true,
            }
    })
}

pub(super) fn analyse_reserved(question: &Question<'_>) -> Result<Analysis, NotAnalysed> {
    let reservations = reservations_of(question)?;
    let mut outer: Vec<Task> = Vec::new();
    let mut places: Vec<usize> = Vec::new();
    for (place, task) in question.tasks.iter().enumerate() {
        if task.reservation.is_none() {
            outer.push(task.clone());
            places.push(place);
        }
    }
    let plain = outer.len();
    outer.extend(
        reservations
            .iter()
            .map(|reservation| server(question, reservation)),
    );
    let within: Vec<&Task> = question
        .tasks
        .iter()
        .filter(|task| task.reservation.is_some())
        .collect();
    let costs = question.overheads.map(|all| WithReleases {
        all,
        within: within.clone(),
    });
    let asked = Question {
        tasks: &outer,
        overheads: costs.as_ref().map(|costs| costs as &dyn Overheads),
        ..question.clone()
    };
    // A server need not use all of its budget: a job late with it refutes nothing.
    let analysis = analyse_unreserved(&asked, Counterexample::Unwanted)?;
    let mut answers: Vec<Option<TaskAnswer>> = vec![None; question.tasks.len()];
    for (answer, &place) in analysis.tasks[..plain].iter().zip(&places) {
        let mut answer = answer.clone();
        answer.bound.task = place;
        for part in &mut answer.bound.made_of {
            if let What::Preemption { by, jobs } = part.what {
                part.what = match by.checked_sub(plain) {
                    None => What::Preemption {
                        by: places[by],
                        jobs,
                    },
                    Some(server) => What::Reservation {
                        name: reservations[server].name.clone(),
                        budgets: jobs,
                    },
                };
            }
        }
        answers[place] = Some(answer);
    }
    for (reservation, served) in reservations.iter().zip(&analysis.tasks[plain..]) {
        for answer in within_one(question, reservation, served)? {
            let place = answer.bound.task;
            answers[place] = Some(answer);
        }
    }
    let tasks: Vec<TaskAnswer> = answers.into_iter().flatten().collect();
    let outcome = if tasks.iter().all(|answer| answer.schedulable) {
        Outcome::Schedulable
    } else {
        Outcome::NotProvable
    };
    Ok(Analysis { tasks, outcome })
}

/// The reservations in the order of their first tasks.
fn reservations_of<'a>(question: &Question<'a>) -> Result<Vec<&'a Reservation>, NotAnalysed> {
    let mut found: Vec<&Reservation> = Vec::new();
    for task in question.tasks {
        let Some(reservation) = &task.reservation else {
            continue;
        };
        if !found.iter().any(|other| other.name == reservation.name) {
            found.push(reservation);
        }
    }
    for reservation in &found {
        let inside = question
            .tasks
            .iter()
            .filter(|task| task.reservation.as_ref() == Some(reservation));
        let several = inside.count() > 1;
        if several && reservation.server == Server::ConstantBandwidth {
            return Err(NotAnalysed::OneThread(reservation.name.clone()));
        }
    }
    Ok(found)
}

/// A reservation as a task among the others. It is no job that would be throttled: its runtime is its
/// budget, from which what switches cost is taken.
fn server(question: &Question<'_>, reservation: &Reservation) -> Task {
    let name = format!("reservation {}", reservation.name);
    let mut task = Task::new(name, reservation.budget_ns, reservation.period_ns);
    task.priority = reservation.priority;
    task.cpu = reservation.cpu;
    if reservation.server == Server::ConstantBandwidth {
        task.reservation = Some(reservation.clone());
        return task;
    }
    // A kernel section at the end of a budget outlasts it.
    let costs = |all: &dyn Overheads| all.costs(question.tasks.len());
    task.execution_ns = task
        .execution_ns
        .saturating_add(question.overheads.map_or(0, |all| costs(all).section_ns));
    // What holds the CPU while a task before the server waits, or one in it, holds the server up.
    task.blocking_ns = beside(question, reservation)
        .chain(within(question, reservation))
        .map(|task| task.blocking_ns)
        .max()
        .unwrap_or(0);
    // A budget that no longer fits has a response all the same.
    task.deadline_ns = task.deadline_ns.max(task.execution_ns);
    task
}

/// The tasks in a reservation.
fn within<'a>(
    question: &'a Question<'_>,
    reservation: &'a Reservation,
) -> impl Iterator<Item = &'a Task> {
    let own = |task: &&Task| {
        let own = task.reservation.as_ref();
        own.is_some_and(|own| own.name == reservation.name)
    };
    question.tasks.iter().filter(own)
}

/// The answers for the tasks of one reservation.
fn within_one(
    question: &Question<'_>,
    reservation: &Reservation,
    served: &TaskAnswer,
) -> Result<Vec<TaskAnswer>, NotAnalysed> {
    let places: Vec<usize> = (0..question.tasks.len())
        .filter(|&place| {
            let own = question.tasks[place].reservation.as_ref();
            own.is_some_and(|own| own.name == reservation.name)
        })
        .collect();
    let tasks: Vec<Task> = places
        .iter()
        .map(|&place| question.tasks[place].clone())
        .collect();
    let parameters = served.parameters.map(|parameters| Parameters {
        runtime_ns: reservation.budget_ns,
        needed_ns: reservation.budget_ns,
        ..parameters
    });
    let open = |place: usize| TaskAnswer {
        bound: Bound {
            task: place,
            response_ns: None,
            deadline_ns: question.tasks[place].deadline_ns,
            made_of: Vec::new(),
        },
        schedulable: false,
        tardiness_ns: None,
        parameters,
    };
    let on_time = served
        .bound
        .response_ns
        .map_or(served.schedulable, |response_ns| {
            served.schedulable || response_ns <= reservation.period_ns
        });
    let overheads = question.overheads;
    let sharing = tasks.len() + beside(question, reservation).count();
    let costs = overheads.map_or_else(Costs::default, |all| all.costs(sharing));
    let cluster = question.method.cluster_size(question.cpus);
    let delay = |task: &Task| {
        overheads.map_or(0, |all| {
            all.cache_delay_ns(task.working_set_bytes, cluster > 1)
        })
    };
    let delays: Vec<u64> = tasks.iter().map(delay).collect();
    let supply = if on_time {
        supply(question, reservation, served, &costs, &delays)?
    } else {
        None
    };
    let Some(supply) = supply else {
        return Ok(places.into_iter().map(open).collect());
    };
    let (inflated, mut interrupts) =
        inflate_fixed_priority(&tasks, &delays, &costs, releases_of(cluster))?;
    if costs.release_ns > 0 {
        for task in beside(question, reservation) {
            interrupts.push(Interference {
                name: "release interrupts",
                execution_ns: costs.release_ns,
                arrivals: task.arrivals.clone(),
                jitter_ns: sum(costs.event_ns, task.jitter_ns)?,
            });
        }
    }
    let stretched = within_its_deadline(&inflated);
    let bounds = responses_within(&stretched, &supply, &reservation.name, &interrupts)?;
    let answers = bounds.into_iter().map(|mut bound| {
        let local = bound.task;
        bound.deadline_ns = tasks[local].deadline_ns;
        own_apart(&mut bound, &tasks[local], &stretched[local]);
        let bound = super::renumbered(bound, &places);
        TaskAnswer {
            schedulable: bound.holds(),
            tardiness_ns: bound.late_ns().filter(|_| !bound.holds()),
            bound,
            parameters,
        }
    });
    Ok(answers.collect())
}

/// The other reservations that share CPUs with one, each once.
fn reservations_beside<'a>(
    question: &'a Question<'_>,
    reservation: &'a Reservation,
) -> Vec<&'a Reservation> {
    let mut found: Vec<&Reservation> = Vec::new();
    for other in beside(question, reservation).filter_map(|task| task.reservation.as_ref()) {
        if !found.iter().any(|known| known.name == other.name) {
            found.push(other);
        }
    }
    found
}

/// The part of each budget left for the tasks in it; `None`: nothing.
fn supply(
    question: &Question<'_>,
    reservation: &Reservation,
    served: &TaskAnswer,
    costs: &Costs,
    delays: &[u64],
) -> Result<Option<Supply>, NotAnalysed> {
    let within_ns = match (reservation.server, served.bound.response_ns) {
        // Only a server that begins with its period gives its budget within its own response.
        (Server::Periodic, Some(response_ns)) => {
            response_ns.clamp(reservation.budget_ns, reservation.period_ns)
        }
        // From an early budget's end to a late one's: the latter's deadline and what it is late.
        (Server::ConstantBandwidth, Some(response_ns)) => response_ns.max(reservation.period_ns),
        _ => reservation.period_ns,
    };
    let delay_ns = delays.iter().copied().max().unwrap_or(0);
    let each_ns = sum(
        times(2, sum(costs.scheduling_ns, costs.switch_ns)?)?,
        delay_ns,
    )?;
    let mut times_lost = 1;
    if each_ns > 0 {
        // As late as the timer and the wake-up make it, the next one may follow the sooner.
        let late_ns = sum(costs.event_ns, costs.release_ns)?;
        for task in beside(question, reservation) {
            let jitter_ns = sum(task.jitter_ns, late_ns)?;
            let jobs = task.arrivals.within(reservation.period_ns, jitter_ns)?;
            times_lost = sum(times_lost, jobs)?;
        }
        // A replenished budget lets a job resume without an arrival.
        for other in reservations_beside(question, reservation) {
            let budgets = Arrivals::Sporadic(other.period_ns).within_closed(within_ns, late_ns)?;
            times_lost = sum(times_lost, budgets)?;
        }
    }
    let budget_ns = reservation
        .budget_ns
        .saturating_sub(times(times_lost, each_ns)?);
    if budget_ns == 0 {
        return Ok(None);
    }
    Ok(Some(Supply {
        budget_ns,
        period_ns: reservation.period_ns,
        within_ns,
    }))
}
