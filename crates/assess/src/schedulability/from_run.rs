//! A task set from a recorded or watched run: its threads with their measurements. Guesses are reported for
//! each thread.

use super::executions::{ExecutionLack, Observed, Which, judged_threads};
use super::machine::{MachineError, RunMachine};
use std::path::PathBuf;
use wakepath_archive::{ArchiveError, Run, ThreadRecord};
use wakepath_scenario::TaskSet;
use wakepath_schedulability::{Method, Task};
use wakepath_timeline::Policy;

/// Why a run gives no task set.
#[derive(Debug, thiserror::Error)]
pub enum FromRunError {
    /// Its samples can't be read.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// It knows no machine.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// No thread with cycles.
    #[error("{0}: contains no thread with cycles; give another run")]
    NoThreads(PathBuf),
    /// Fixed priorities and deadlines side by side.
    #[error(
        "{run}: {fixed} runs under {policy} and {deadline} under SCHED_DEADLINE; a set of both is \
         not analysed: give a task set of those that share a CPU under one policy"
    )]
    Mixed {
        /// The run.
        run: PathBuf,
        /// A thread with a priority.
        fixed: String,
        /// Its policy.
        policy: String,
        /// A thread with a deadline.
        deadline: String,
    },
    /// A quantile that isn't available.
    #[error("{run}: {thread}: {why}")]
    Execution {
        /// The run.
        run: PathBuf,
        /// The thread.
        thread: String,
        /// The fault.
        why: ExecutionLack,
    },
}

/// The threads of a run as a task set.
///
/// # Errors
/// [`FromRunError`].
pub fn set_of_run(run: &Run, which: Which) -> Result<TaskSet, FromRunError> {
    let directory = || run.directory().to_owned();
    let mut notes = vec![format!("taken from {}", run.directory().display())];
    let threads = judged_threads(run);
    let mut names: Vec<&str> = Vec::new();
    for (_, thread) in &threads {
        if !names.contains(&thread.name.as_str()) && thread.recorded > 0 {
            names.push(&thread.name);
        }
    }
    let mut found: Vec<(Task, Policy, Vec<u16>)> = Vec::new();
    for name in names {
        let own: Vec<&ThreadRecord> = threads
            .iter()
            .filter(|(_, thread)| thread.name == name && thread.recorded > 0)
            .map(|(_, thread)| *thread)
            .collect();
        let Some(observed) = Observed::new(run, name)? else {
            continue;
        };
        let told = observed
            .told(which)
            .map_err(|why| FromRunError::Execution {
                run: directory(),
                thread: name.to_owned(),
                why,
            })?;
        let policy = policy_of(name, &own, &mut notes);
        let periods = own.iter().map(|thread| thread.due.period_ns);
        let period_ns = periods.min().unwrap_or(1).max(1);
        let mut task = Task::new(name, told.ns, period_ns);
        notes.push(format!("{name}: {}", told.from));
        match policy {
            Policy::Deadline {
                deadline_ns,
                period_ns,
                runtime_ns,
            } => {
                task.deadline_ns = deadline_ns;
                if runtime_ns >= task.execution_ns {
                    task.runtime_ns = Some(runtime_ns);
                }
                if period_ns > task.period_ns() {
                    notes.push(format!(
                        "{name}: its reservation comes every {}, less often than its jobs",
                        wakepath_timeline::duration::exact(period_ns)
                    ));
                }
            }
            other => match other.of_litmus() {
                Some((_, jobs)) => task.deadline_ns = jobs.deadline_ns.unwrap_or(period_ns),
                None => notes.push(format!("{name}: the deadline is the period: a guess")),
            },
        }
        if let Policy::Fifo { priority } | Policy::RoundRobin { priority } = policy.in_linux() {
            task.priority = priority.into();
        }
        if let Policy::LitmusPFp { priority, .. } = policy {
            // 1 is its highest.
            task.priority = u32::from(512 - priority.min(511));
        }
        let cpus = own.iter().map(|thread| thread.cpus.clone()).next();
        found.push((task, policy, cpus.unwrap_or_default()));
    }
    if found.is_empty() {
        return Err(FromRunError::NoThreads(directory()));
    }
    let machine = RunMachine::new(run)?;
    let real_time = |policy: &Policy| policy.is_real_time();
    if found.iter().any(|(_, policy, _)| real_time(policy)) {
        found.retain(|(task, policy, _)| {
            let stays = real_time(policy);
            if !stays {
                notes.push(format!(
                    "{}: left out: it runs under {policy}, after every real-time thread",
                    task.name
                ));
            }
            stays
        });
    } else {
        by_rate(&mut found, &mut notes);
    }
    let fixed = found
        .iter()
        .find(|(_, policy, _)| !matches!(policy, Policy::Deadline { .. }));
    let deadline = found
        .iter()
        .find(|(_, policy, _)| matches!(policy, Policy::Deadline { .. }));
    if let (Some((fixed, policy, _)), Some((deadline, ..))) = (fixed, deadline) {
        return Err(FromRunError::Mixed {
            run: directory(),
            fixed: fixed.name.clone(),
            policy: policy.to_string(),
            deadline: deadline.name.clone(),
        });
    }
    let pinned = found.iter().all(|(_, _, cpus)| cpus.len() == 1);
    let method = match (deadline.is_some(), pinned) {
        (true, _) => Method::Deadline(u16::MAX),
        (false, true) => Method::PartitionedFixedPriority,
        (false, false) => Method::GlobalFixedPriority,
    };
    let mut cpus = machine.cpus;
    if method == Method::GlobalFixedPriority {
        let mut allowed: Vec<u16> = found
            .iter()
            .flat_map(|(_, _, cpus)| cpus.iter().copied())
            .collect();
        allowed.sort_unstable();
        allowed.dedup();
        let alike = found.iter().all(|(_, _, own)| own.len() == allowed.len());
        cpus = match (alike, u16::try_from(allowed.len())) {
            (true, Ok(count)) if count > 0 => count,
            _ => {
                notes.push(
                    "threads may run on different CPUs: as if each could run on all, a guess"
                        .into(),
                );
                machine.cpus
            }
        };
    }
    let tasks = found.into_iter().map(|(mut task, _, cpus)| {
        if method == Method::PartitionedFixedPriority {
            task.cpu = cpus.first().copied();
        }
        task
    });
    let tasks: Vec<Task> = tasks.collect();
    notes.push("releases have no jitter beyond what overheads bring: a guess".into());
    let cpus = tasks
        .iter()
        .filter_map(|task| task.cpu)
        .fold(cpus, |cpus, cpu| cpus.max(cpu + 1));
    Ok(TaskSet {
        method,
        cpus,
        tasks,
        chains: Vec::new(),
        admission: machine.admission,
        overheads: None,
        notes,
    })
}

/// The thread's policy as the kernel reports it, in the first segment in which it was real-time.
fn policy_of(name: &str, threads: &[&ThreadRecord], notes: &mut Vec<String>) -> Policy {
    let effective = |thread: &&ThreadRecord| {
        let told = thread.effective.details.get("policy")?;
        serde_json::from_value::<Policy>(told.clone()).ok()
    };
    let mut policies: Vec<Policy> = Vec::new();
    for thread in threads {
        let policy = effective(thread).unwrap_or(thread.requested);
        if !policies.contains(&policy) {
            policies.push(policy);
        }
    }
    let chosen = policies
        .iter()
        .find(|policy| policy.is_real_time())
        .or(policies.first())
        .copied()
        .unwrap_or(Policy::Other { nice: 0 });
    if policies.len() > 1 {
        notes.push(format!(
            "{name}: {chosen}, one of {} policies that the run compared: a guess",
            policies.len()
        ));
    }
    chosen
}

/// Priorities for threads that have none: the shorter the period, the higher.
fn by_rate(found: &mut [(Task, Policy, Vec<u16>)], notes: &mut Vec<String>) {
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by_cached_key(|&place| std::cmp::Reverse(found[place].0.period_ns()));
    for (priority, place) in (1..).zip(order) {
        found[place].0.priority = priority;
        notes.push(format!(
            "{}: priority {priority} by its rate, since it ran under {}: a guess",
            found[place].0.name, found[place].1
        ));
    }
}
