//! Random sets with given features.

use super::Dice;
use wakepath_schedulability::matrix::{Feature, Queue};
use wakepath_schedulability::overheads::Costs;
use wakepath_schedulability::{
    Arrivals, Chain, Method, Overheads, Question, Reservation, Server, Task,
};

/// Costs and a cache delay that is the same for all.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known {
    pub costs: Costs,
    pub cold_ns: u64,
}

impl Overheads for Known {
    fn costs(&self, _tasks: usize) -> Costs {
        self.costs
    }

    fn cache_delay_ns(&self, _working_set_bytes: u64, _moves: bool) -> u64 {
        self.cold_ns
    }
}

#[derive(Debug, Clone)]
pub struct Set {
    pub method: Method,
    pub cpus: u16,
    pub tasks: Vec<Task>,
    pub known: Known,
    pub chains: Vec<Chain>,
}

impl Set {
    pub fn question(&self) -> Question<'_> {
        Question {
            tasks: &self.tasks,
            method: self.method,
            cpus: self.cpus,
            overheads: Some(&self.known),
        }
    }
}

/// A set for a queue with one or two features, each in one task at least.
pub fn drawn(queue: Queue, features: [Feature; 2], dice: &mut Dice) -> Set {
    let has = |feature: Feature| features.contains(&feature);
    // The kernel takes no period below 100 us, and counts budgets in units of 1024 ns.
    let kernel = matches!(queue, Queue::DeadlineOnOne | Queue::DeadlineOnSeveral);
    let scale = if kernel { 5000 } else { 1 };
    let several = matches!(
        queue,
        Queue::FixedOnSeveral | Queue::EdfOnSeveral | Queue::DeadlineOnSeveral
    );
    let released = has(Feature::After);
    let cpus: u16 = match (several, released) {
        (true, _) => 2 + dice.below(2) as u16,
        (false, true) => 2,
        (false, false) => 1,
    };
    let method = match queue {
        Queue::FixedOnOne => Method::PartitionedFixedPriority,
        Queue::FixedOnSeveral => Method::GlobalFixedPriority,
        Queue::EdfOnOne => Method::PartitionedEdf,
        Queue::EdfOnSeveral => Method::GlobalEdf,
        Queue::DeadlineOnOne | Queue::DeadlineOnSeveral => Method::Deadline(cpus),
    };
    let count = if several {
        u64::from(cpus) + dice.between(1, 3)
    } else {
        dice.between(2, 4)
    };
    // A set that no test of several CPUs accepts by deadlines shows nothing, and takes longest.
    let share = match queue {
        Queue::EdfOnSeveral | Queue::DeadlineOnSeveral => 20 + dice.below(45),
        _ => 30 + dice.below(60),
    };
    let offsets = has(Feature::Offset);
    let mut tasks: Vec<Task> = (0..count)
        .map(|rank| {
            let period = if offsets {
                [40, 60, 80, 120, 240][dice.below(5) as usize]
            } else {
                dice.between(20, 240)
            };
            let most = (2 * period * share * u64::from(cpus) / 100 / count).clamp(1, period - 1);
            let execution = dice.between(1, most);
            let mut task = Task::new(format!("task {rank}"), execution * scale, period * scale);
            task.priority = (count - rank) as u32;
            if several || dice.chance(50) {
                let room = period - execution;
                task.deadline_ns = (period - dice.below(room + 1) * dice.below(2) / 2) * scale;
            }
            if !several {
                task.cpu = (cpus > 1).then(|| dice.below(u64::from(cpus)) as u16);
            }
            task
        })
        .collect();
    // Another order than that of the list.
    for place in 1..tasks.len() {
        let other = dice.below(place as u64 + 1) as usize;
        let (one, two) = (tasks[place].priority, tasks[other].priority);
        (tasks[place].priority, tasks[other].priority) = (two, one);
    }
    let mut known = Known::default();
    let mut chains = Vec::new();
    for feature in Feature::ALL.into_iter().filter(|&feature| has(feature)) {
        put(feature, queue, scale, &mut tasks, &mut known, dice);
        if feature == Feature::Chain {
            let length = dice.between(2, tasks.len() as u64) as usize;
            chains.push(Chain {
                name: "chain".into(),
                tasks: (0..length).collect(),
                deadline_ns: None,
            });
        }
    }
    if has(Feature::Stretch) {
        // Only outside reservations.
        for task in tasks.iter_mut().filter(|task| task.reservation.is_some()) {
            task.non_preemptive_ns = 0;
        }
        let none = tasks.iter().all(|task| task.non_preemptive_ns == 0);
        let outside = tasks.iter_mut().find(|task| task.reservation.is_none());
        if let (true, Some(task)) = (none, outside) {
            task.non_preemptive_ns = dice.between(1, task.execution_ns);
        }
    }
    Set {
        method,
        cpus,
        tasks,
        known,
        chains,
    }
}

fn put(
    feature: Feature,
    queue: Queue,
    scale: u64,
    tasks: &mut [Task],
    known: &mut Known,
    dice: &mut Dice,
) {
    let several = matches!(
        queue,
        Queue::FixedOnSeveral | Queue::EdfOnSeveral | Queue::DeadlineOnSeveral
    );
    let sure = dice.below(tasks.len() as u64) as usize;
    let each = |tasks: &mut [Task], dice: &mut Dice, put: &mut dyn FnMut(&mut Task, &mut Dice)| {
        for (place, task) in tasks.iter_mut().enumerate() {
            if place == sure || dice.chance(50) {
                put(task, dice);
            }
        }
    };
    match feature {
        Feature::Jitter => each(tasks, dice, &mut |task, dice| {
            let most = if several || queue == Queue::DeadlineOnOne {
                task.deadline_ns.saturating_sub(task.execution_ns) / 2
            } else {
                task.period_ns() * dice.between(1, 4) / 2
            };
            task.jitter_ns = dice.between(1, most.max(1));
        }),
        Feature::Offset => {
            for task in tasks {
                task.offset_ns = Some(dice.below(task.period_ns()));
            }
        }
        Feature::Burst => each(tasks, dice, &mut |task, dice| {
            let period = task.period_ns();
            let least = if queue == Queue::FixedOnOne {
                0
            } else {
                period * 2 / 3
            };
            let first = dice.between(least, period);
            let mut list = vec![first, first + dice.between(0, period)];
            list.push(list[1] + dice.between(period, 2 * period));
            if dice.chance(50) {
                list.remove(1);
            }
            task.arrivals = Arrivals::Distances(list);
        }),
        Feature::LateDeadline => each(tasks, dice, &mut |task, dice| {
            task.deadline_ns =
                task.closest_ns().max(task.execution_ns) + dice.between(1, 2 * task.period_ns());
        }),
        Feature::Suspension => each(tasks, dice, &mut |task, dice| {
            let room = task.deadline_ns.saturating_sub(task.execution_ns);
            task.suspension_ns = dice.between(1, (room / 2).max(1)).min(room);
        }),
        Feature::Stretch => each(tasks, dice, &mut |task, dice| {
            task.non_preemptive_ns = if dice.chance(50) {
                task.execution_ns
            } else {
                dice.between(1, task.execution_ns)
            };
        }),
        Feature::Blocking => {
            let ns = dice.between(1, 10) * scale;
            for task in tasks {
                task.blocking_ns = ns;
            }
        }
        Feature::Section => known.costs.section_ns = dice.between(1, 10) * scale,
        Feature::Overheads => {
            let mut cost = |most: u64| dice.between(0, most) * scale;
            known.costs = Costs {
                event_ns: cost(2),
                release_ns: cost(1),
                scheduling_ns: cost(1),
                switch_ns: cost(1),
                ipi_ns: cost(1),
                tick_ns: cost(1),
                section_ns: known.costs.section_ns,
                tick_period_ns: 0,
            };
            known.costs.tick_period_ns = dice.between(20, 60) * scale;
            known.cold_ns = dice.between(0, 2) * scale;
        }
        Feature::After => {
            let (before, place) = match sure {
                0 => (1, 0),
                place => (place - 1, place),
            };
            tasks[place].after = Some(tasks[before].name.clone());
            tasks[place].offset_ns = None;
            tasks[place].arrivals = tasks[before].arrivals.clone();
            tasks[place].deadline_ns = tasks[before].deadline_ns + 2 * tasks[before].period_ns();
        }
        Feature::PeriodicServer | Feature::ConstantBandwidthServer => {
            let constant = feature == Feature::ConstantBandwidthServer;
            let period = dice.between(20, 60) * scale;
            let budget = dice.between(period / 5, period / 2);
            let reservation = Reservation {
                name: feature.name().into(),
                server: if constant {
                    Server::ConstantBandwidth
                } else {
                    Server::Periodic
                },
                budget_ns: budget,
                period_ns: period,
                priority: 100 * dice.below(2) as u32,
                cpu: None,
            };
            let most = if constant { 1 } else { tasks.len() / 2 };
            let count = dice.between(1, most.max(1) as u64) as usize;
            for number in 0..count {
                let place = (sure + number) % tasks.len();
                // Work that a server can do.
                let period = tasks[place].period_ns() * 4;
                tasks[place].deadline_ns += period - tasks[place].period_ns();
                tasks[place].arrivals = match &tasks[place].arrivals {
                    Arrivals::Sporadic(_) => Arrivals::Sporadic(period),
                    Arrivals::Distances(list) => {
                        Arrivals::Distances(list.iter().map(|distance| 4 * distance).collect())
                    }
                };
                tasks[place].reservation = Some(reservation.clone());
            }
        }
        Feature::SporadicServer | Feature::StretchInside | Feature::Chain => {}
    }
}
