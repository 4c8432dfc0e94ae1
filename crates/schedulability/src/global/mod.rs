//! Several CPUs on which any task can run: sufficient tests of global scheduling. A set that they accept is
//! schedulable; one that they refuse might be all the same.
//!
//! For sporadic tasks with deadlines within their periods, without jitter and blocking; see
//! [`GlobalTask::new`].

mod density;
mod interference;
mod quick;
mod tardiness;
mod window;

pub use density::density_holds;
pub use interference::{Order, responses, shares};
pub use quick::Slacks;
pub use tardiness::tardiness_bounds;

use crate::task::{Arrivals, Task};

/// A task as the global tests see it. Times in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GlobalTask {
    /// The most CPU time of a job.
    pub execution_ns: u64,
    /// The shortest time between jobs.
    pub period_ns: u64,
    /// From release to deadline at least; at most the period.
    pub deadline_ns: u64,
    /// From release to the deadline by which the scheduler orders jobs, at most: longer than `deadline_ns`
    /// if a release is later than the due time and the deadline is not moved.
    pub latest_deadline_ns: u64,
}

/// Why a task is beyond the global tests.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotGlobal {
    /// A deadline after the next job's due time.
    #[error("{0}: its deadline lies beyond its period, for which no global test is built in")]
    DeadlineBeyondPeriod(String),
    /// Jobs that come in bursts.
    #[error("{0}: its jobs come by a list of distances, for which no global test is built in")]
    Distances(String),
    /// A release as late as the next job's due time.
    #[error("{0}: a job can be released as late as the next, for which no global test is built in")]
    Together(String),
    /// Stretches that can't be preempted, or locks.
    #[error("{0}: it blocks others, for which no global test is built in")]
    Blocking(String),
}

impl GlobalTask {
    /// The task, where the tests hold for it: jitter shortens its deadline and its period, a sleep
    /// counts as execution.
    ///
    /// # Errors
    /// [`NotGlobal`].
    pub fn new(task: &Task) -> Result<Self, NotGlobal> {
        let name = || task.name.clone();
        let Arrivals::Sporadic(period_ns) = task.arrivals else {
            return Err(NotGlobal::Distances(name()));
        };
        if task.deadline_ns > period_ns {
            return Err(NotGlobal::DeadlineBeyondPeriod(name()));
        }
        if task.blocking_ns > 0 || task.non_preemptive_ns > 0 {
            return Err(NotGlobal::Blocking(name()));
        }
        let period_ns = period_ns.saturating_sub(task.jitter_ns);
        if period_ns == 0 {
            return Err(NotGlobal::Together(name()));
        }
        Ok(Self {
            execution_ns: task.alone_ns(),
            period_ns,
            deadline_ns: task.deadline_ns.saturating_sub(task.jitter_ns),
            latest_deadline_ns: task.deadline_ns,
        })
    }
}
