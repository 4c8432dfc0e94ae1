//! A schedule played through, job by job: a counterexample where a deadline is missed, and nothing
//! proven where none is. Tasks are released together (or at given offsets) and strictly periodic.

use crate::global::GlobalTask;

/// Which job runs first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The earliest absolute deadline; of equal ones, the task that stands first.
    EarliestDeadline,
    /// The task that stands first.
    FixedPriority,
}

/// What a simulation saw.
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

#[derive(Debug, Clone, Copy)]
struct Job {
    task: usize,
    number: u64,
    released_ns: u64,
    /// Its deadline, and that by which it is ordered.
    deadline_ns: u64,
    ordered_by_ns: u64,
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
    let mut next_release: Vec<(u64, u64)> = (0..tasks.len())
        .map(|task| (offsets_ns.get(task).copied().unwrap_or(0), 0))
        .collect();
    let mut ready: Vec<Job> = Vec::new();
    let mut now = 0_u64;
    while now < until_ns {
        for (task, (release, number)) in next_release.iter_mut().enumerate() {
            while *release <= now {
                ready.push(Job {
                    task,
                    number: *number,
                    released_ns: *release,
                    deadline_ns: *release + tasks[task].deadline_ns,
                    ordered_by_ns: *release + tasks[task].latest_deadline_ns,
                    left_ns: tasks[task].execution_ns,
                });
                *release += tasks[task].period_ns.max(1);
                *number += 1;
            }
        }
        // Jobs of one task run one after the other: only the first of each competes.
        ready.sort_by_key(|job| match rule {
            Rule::EarliestDeadline => (job.ordered_by_ns, job.task, job.number),
            Rule::FixedPriority => (job.task as u64, job.task, job.number),
        });
        let running = first_of_each_task(&ready, cpus as usize);
        let next = next_release.iter().map(|(release, _)| *release).min();
        let done = running
            .iter()
            .map(|&place| now + ready[place].left_ns)
            .min();
        let until = [next, done]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or(until_ns)
            .min(until_ns);
        for &place in &running {
            ready[place].left_ns -= (until - now).min(ready[place].left_ns);
        }
        now = until;
        for job in &ready {
            if job.left_ns == 0 {
                let response = now - job.released_ns;
                let longest = &mut played.longest_ns[job.task];
                *longest = (*longest).max(response);
            }
            let late = match job.left_ns {
                0 => now > job.deadline_ns,
                _ => now >= job.deadline_ns && now > job.released_ns,
            };
            if late && played.first_miss.is_none() {
                played.first_miss = Some(Miss {
                    task: job.task,
                    job: job.number,
                    deadline_ns: job.deadline_ns,
                });
            }
        }
        ready.retain(|job| job.left_ns > 0);
        if stop_at_miss && played.first_miss.is_some() {
            break;
        }
    }
    played
}

/// Places of the jobs that run: the first of each task, as many as there are CPUs.
fn first_of_each_task(ready: &[Job], cpus: usize) -> Vec<usize> {
    let mut running: Vec<usize> = Vec::with_capacity(cpus);
    for (place, job) in ready.iter().enumerate() {
        if running.len() == cpus {
            break;
        }
        if running.iter().all(|&other| ready[other].task != job.task) {
            running.push(place);
        }
    }
    running
}
