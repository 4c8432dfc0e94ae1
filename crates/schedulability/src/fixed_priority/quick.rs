//! Yes or no for many sets: response-time analysis for deadlines within the period, without names,
//! allocation or pieces. A test and a sweep ask it a million times a second; it answers as
//! [`responses`](super::responses) does.

/// A task of a set that is asked about quickly, in order of priority, the highest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuickTask {
    /// The most CPU time of a job, in nanoseconds; above 0.
    pub execution_ns: u64,
    /// The shortest time between jobs, in nanoseconds; above 0.
    pub period_ns: u64,
    /// From due time to deadline, in nanoseconds; at most the period.
    pub deadline_ns: u64,
    /// How far the release may lag, in nanoseconds.
    pub jitter_ns: u64,
    /// Waiting for tasks of lower priority, in nanoseconds.
    pub blocking_ns: u64,
}

/// Whether every job is done by its deadline. Sums beyond 64 bits count as a miss.
///
/// Starts each window where it must end at the earliest: at the work of all before, divided by what
/// they leave of the CPU (Davis, Zabos and Burns, "Efficient exact schedulability tests for fixed
/// priority real-time systems", 2008). A window never begins above its answer: the start is rounded
/// down.
pub fn holds(tasks: &[QuickTask]) -> bool {
    tasks
        .iter()
        .enumerate()
        .all(|(rank, task)| one_holds(task, &tasks[..rank]))
}

fn one_holds(task: &QuickTask, before: &[QuickTask]) -> bool {
    let Some(most_ns) = task.deadline_ns.checked_sub(task.jitter_ns) else {
        return false;
    };
    let Some(fixed_ns) = task.execution_ns.checked_add(task.blocking_ns) else {
        return false;
    };
    let mut window_ns = before
        .iter()
        .try_fold(fixed_ns, |sum, other| sum.checked_add(other.execution_ns));
    loop {
        let Some(reached_ns) = window_ns.filter(|reached_ns| *reached_ns <= most_ns) else {
            return false;
        };
        let next_ns = before.iter().try_fold(fixed_ns, |sum, other| {
            let jobs = reached_ns
                .checked_add(other.jitter_ns)?
                .div_ceil(other.period_ns);
            sum.checked_add(jobs.checked_mul(other.execution_ns)?)
        });
        if next_ns == Some(reached_ns) {
            return true;
        }
        window_ns = next_ns;
    }
}
