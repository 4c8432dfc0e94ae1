//! A schedule simulated job by job: a counterexample if a deadline is missed, and no proof if none is.
//! Tasks are released together (or at given offsets) and strictly periodic.

use crate::global::GlobalTask;

/// Which job runs first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The earliest absolute deadline; of equal ones, the task that stands first.
    EarliestDeadline,
    /// The task that stands first.
    FixedPriority,
}

/// Result of a simulation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Played {
    /// The longest response of each task, in nanoseconds.
    pub longest_ns: Vec<u64>,
    /// The first deadline that was missed: the task, its job from 0, and the deadline's instant.
    pub first_miss: Option<Miss>,
}

/// A missed deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Miss {
    /// Place of the task.
    pub task: usize,
    /// Which of its jobs, from 0.
    pub job: u64,
    /// When the deadline was, in nanoseconds from the start.
    pub deadline_ns: u64,
}

/// The jobs of one task, which run one after the other: only the first of them competes.
#[derive(Debug, Clone, Copy)]
struct Jobs {
    /// When the next job is released, and how many jobs wait or run.
    next_release_ns: u64,
    waiting: u64,
    /// The first of those: its number, its release, and what is left of it.
    number: u64,
    released_ns: u64,
    left_ns: u64,
}

/// Plays the tasks on `cpus` CPUs until `until_ns`, each job taking all its execution time, and
/// stops at the first miss where `stop_at_miss`.
pub fn play(
    tasks: &[GlobalTask],
    offsets_ns: &[u64],
    cpus: u32,
    rule: Rule,
    until_ns: u64,
    stop_at_miss: bool,
) -> Played {
    let mut played = Played {
        longest_ns: vec![0; tasks.len()],
        first_miss: None,
    };
    let mut all: Vec<Jobs> = (0..)
        .zip(tasks)
        .map(|(place, task)| {
            let first_ns = offsets_ns.get(place).copied().unwrap_or(0);
            Jobs {
                next_release_ns: first_ns,
                waiting: 0,
                number: 0,
                released_ns: first_ns,
                left_ns: task.execution_ns,
            }
        })
        .collect();
    // Tasks with a job, the first to run in front.
    let mut ready: Vec<usize> = Vec::with_capacity(tasks.len());
    let mut now = 0_u64;
    while now < until_ns {
        let mut next = until_ns;
        ready.clear();
        for (place, (jobs, task)) in all.iter_mut().zip(tasks).enumerate() {
            while jobs.next_release_ns <= now {
                jobs.waiting += 1;
                jobs.next_release_ns += task.period_ns.max(1);
            }
            next = next.min(jobs.next_release_ns);
            if jobs.waiting > 0 {
                ready.push(place);
            }
        }
        if rule == Rule::EarliestDeadline {
            // In the order of tasks where deadlines are equal.
            ready.sort_by_key(|&place| all[place].released_ns + tasks[place].latest_deadline_ns);
        }
        let running = ready.len().min(cpus as usize);
        for &place in &ready[..running] {
            next = next.min(now + all[place].left_ns);
        }
        let passed = next - now;
        now = next;
        for (rank, &place) in ready.iter().enumerate() {
            let (jobs, task) = (&mut all[place], &tasks[place]);
            if rank < running {
                jobs.left_ns -= passed;
            }
            let deadline_ns = jobs.released_ns + task.deadline_ns;
            let is_done = jobs.left_ns == 0;
            let late = if is_done {
                now > deadline_ns
            } else {
                now >= deadline_ns && now > jobs.released_ns
            };
            if late && played.first_miss.is_none() {
                played.first_miss = Some(Miss {
                    task: place,
                    job: jobs.number,
                    deadline_ns,
                });
            }
            if is_done {
                let longest_ns = &mut played.longest_ns[place];
                *longest_ns = (*longest_ns).max(now - jobs.released_ns);
                jobs.waiting -= 1;
                jobs.number += 1;
                jobs.released_ns += task.period_ns.max(1);
                jobs.left_ns = task.execution_ns;
            }
        }
        if stop_at_miss && played.first_miss.is_some() {
            break;
        }
    }
    played
}
