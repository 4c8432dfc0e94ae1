//! The machine on which a set is played: threads with their jobs, and what the CPUs choose among.

use super::Dice;
use super::jobs::{Manner, jobs};
use super::machine::{Entity, Job, Kernel, Machine, Thread};
use super::sets::Set;
use wakepath_schedulability::{Analysis, Method, Server};

pub fn machine(
    set: &Set,
    analysis: &Analysis,
    manner: Manner,
    until: u64,
    dice: &mut Dice,
) -> Machine {
    let kernel = matches!(set.method, Method::Deadline(_));
    let several = set.method.cluster_size(set.cpus) > 1;
    let costs = &set.known.costs;
    let blocking = set.tasks.iter().map(|task| task.blocking_ns).max();
    let mut threads: Vec<Thread> = Vec::new();
    for task in &set.tasks {
        let after = task.after.as_ref();
        let after = after.and_then(|name| set.tasks.iter().position(|own| own.name == *name));
        threads.push(Thread {
            priority: task.priority,
            deadline: task.deadline_ns,
            jobs: match after {
                Some(_) => Vec::new(),
                None => jobs(task, manner, until, dice),
            },
            after,
            whole: task.non_preemptive_ns == task.execution_ns,
            stretch: task.non_preemptive_ns,
            cold: set.known.cold_ns,
        });
    }
    for place in 0..threads.len() {
        if let Some(before) = threads[place].after {
            let task = &set.tasks[place];
            let jobs = threads[before].jobs.iter().map(|job| Job {
                due: job.due,
                lag: dice.between(0, task.jitter_ns),
                timer: 0,
                parts: vec![(task.execution_ns, 0)],
            });
            threads[place].jobs = jobs.collect();
            // A task that suspends does so only if no other task releases it.
            if task.suspension_ns > 0 {
                let first = task.execution_ns.div_ceil(2);
                for job in &mut threads[place].jobs {
                    job.parts = match task.execution_ns - first {
                        0 => vec![(first, 0)],
                        rest => vec![(first, task.suspension_ns), (rest, 0)],
                    };
                }
            }
        }
    }
    let mut entities: Vec<Entity> = Vec::new();
    let mut pinned: Vec<Option<usize>> = Vec::new();
    for (place, task) in set.tasks.iter().enumerate() {
        let at = (!several).then(|| usize::from(task.cpu.unwrap_or(0)));
        let entity = match (&task.reservation, kernel) {
            (Some(own), _) if own.server == Server::Periodic => {
                let members = (0..set.tasks.len()).filter(|&other| {
                    let reservation = set.tasks[other].reservation.as_ref();
                    reservation.is_some_and(|other| other.name == own.name)
                });
                let members: Vec<usize> = members.collect();
                if members[0] != place {
                    continue;
                }
                Entity::Periodic {
                    threads: members,
                    budget: own.budget_ns,
                    period: own.period_ns,
                    phase: if manner.together {
                        manner.origin % own.period_ns
                    } else {
                        dice.below(own.period_ns)
                    },
                    priority: own.priority,
                }
            }
            (Some(own), kernel) => Entity::Bandwidth {
                thread: place,
                runtime: own.budget_ns,
                deadline: own.period_ns,
                period: own.period_ns,
                kernel,
            },
            (None, true) => {
                let asked = analysis.tasks[place].parameters.expect("by the kernel");
                Entity::Bandwidth {
                    thread: place,
                    runtime: asked.runtime_ns,
                    deadline: asked.deadline_ns,
                    period: asked.period_ns,
                    kernel,
                }
            }
            (None, false) => Entity::Plain { thread: place },
        };
        entities.push(entity);
        pinned.push(at);
    }
    Machine {
        cpus: usize::from(set.cpus),
        by_priority: set.method.by_priority(),
        pinned,
        entities,
        threads,
        kernel: Kernel {
            release: costs.release_ns,
            switch: costs.scheduling_ns + costs.switch_ns,
            tick: costs.tick_ns,
            tick_period: costs.tick_period_ns,
            between: costs.ipi_ns,
            section: match blocking.unwrap_or(0) {
                0 => costs.section_ns,
                // A lock is held for as long from the release on: it was taken 1 ns before.
                blocking => costs.section_ns.max(blocking + 1),
            },
        },
        held: if manner.together { 90 } else { 60 },
    }
}
