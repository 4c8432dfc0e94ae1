//! Jobs of a task as they may come: their due times, releases, parts and sleeps.

use super::Dice;
use super::machine::Job;
use wakepath_schedulability::{Arrivals, Task};

/// How jobs come in one playing.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    /// All at once, the first as late as may be and further ones at once, each as long as may be.
    pub together: bool,
    /// Each job exactly a period after the last.
    pub periodic: bool,
    /// The latest that a timer's interrupt comes.
    pub timer: u64,
    /// When all come together.
    pub origin: u64,
}

/// The shortest time from a job's due time to that of the `count`-th after it.
fn apart(arrivals: &Arrivals, count: usize) -> u64 {
    match arrivals {
        Arrivals::Sporadic(period) => count as u64 * period,
        Arrivals::Distances(list) => {
            let whole = (count / list.len()) as u64 * list[list.len() - 1];
            match count % list.len() {
                0 => whole,
                rest => whole + list[rest - 1],
            }
        }
    }
}

/// Jobs of a task due before `until`.
pub fn jobs(task: &Task, manner: Manner, until: u64, dice: &mut Dice) -> Vec<Job> {
    let period = apart(&task.arrivals, 64) / 64;
    // The first job of all is released at one instant, whatever its lag.
    let first = match (task.offset_ns, manner.together) {
        (Some(offset), _) => manner.origin + offset,
        (None, true) => 0,
        (None, false) => manner.origin + dice.below(2 * period.max(1)),
    };
    let mut dues: Vec<u64> = Vec::new();
    let mut jobs: Vec<Job> = Vec::new();
    let (mut released, mut told) = (0_u64, 0_u64);
    loop {
        let number = dues.len();
        let due = match (number, task.offset_ns, manner.together) {
            (0, None, true) => manner.origin - task.jitter_ns,
            (0, ..) => first,
            _ => {
                let earliest = (0..number)
                    .map(|earlier| dues[earlier] + apart(&task.arrivals, number - earlier))
                    .max()
                    .unwrap_or(0);
                let strict = manner.periodic || manner.together || task.offset_ns.is_some();
                if strict || dice.chance(70) {
                    earliest
                } else {
                    earliest + dice.below(period.max(1))
                }
            }
        };
        if due >= until {
            return jobs;
        }
        dues.push(due);
        let lag = match (manner.together, number) {
            (true, 0) => task.jitter_ns,
            // As early as it can be, but not before the first.
            (true, _) => manner.origin.saturating_sub(due).min(task.jitter_ns),
            _ => match dice.below(3) {
                0 => 0,
                1 => task.jitter_ns,
                _ => dice.between(0, task.jitter_ns),
            },
        };
        // With offsets the clock decides what comes together.
        let lag = if task.offset_ns.is_some() && manner.together {
            match dice.below(2) {
                0 => 0,
                _ => task.jitter_ns,
            }
        } else {
            lag
        };
        // Jobs of one task come in their order, however late.
        let lag = lag.max(released.saturating_sub(due));
        released = due + lag;
        let timer = match dice.below(3) {
            0 => 0,
            1 => manner.timer,
            _ => dice.between(0, manner.timer),
        };
        let timer = timer.max(told.saturating_sub(released));
        told = released + timer;
        let parts = parts(task, manner, dice);
        jobs.push(Job {
            due,
            lag,
            timer,
            parts,
        });
    }
}

fn parts(task: &Task, manner: Manner, dice: &mut Dice) -> Vec<(u64, u64)> {
    let execution = if manner.together || dice.chance(80) {
        task.execution_ns
    } else {
        dice.between(1, task.execution_ns)
    };
    if task.suspension_ns == 0 {
        return vec![(execution, 0)];
    }
    let sleeps = dice.between(1, 4).min(execution.saturating_sub(1));
    let mut parts = Vec::new();
    let (mut left, mut asleep) = (execution, task.suspension_ns);
    for number in 0..sleeps {
        // At least 1 is left for each further part.
        let most = left - (sleeps - number);
        let run = match dice.below(3) {
            0 => 1,
            _ => dice.between(1, most.max(1)),
        };
        let sleep = if number + 1 == sleeps {
            asleep
        } else {
            dice.between(0, asleep)
        };
        asleep -= sleep;
        left -= run;
        parts.push((run, sleep));
    }
    parts.push((left, 0));
    parts
}
