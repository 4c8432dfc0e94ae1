//! Chains of tasks: how long a value takes from the due time of the job that reads it to the end
//! of the last job that has it in hand.
//!
//! Between tasks that read when their own time comes: Davare et al., "Period optimization for hard
//! real-time distributed automotive systems" (DAC 2007). A task that the one before it releases adds
//! no wait of its own: its response counts from the chain's start already (Tindell and Clark 1994).

use crate::analysis::{Analysis, NotAnalysed};
use crate::arithmetic::sum;
use crate::matrix::chain_refusal;
use crate::task::Task;

/// Tasks that hand a value on, in order, by their places in a set; no task twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// Its name.
    pub name: String,
    /// Places of its tasks.
    pub tasks: Vec<usize>,
    /// By when the last must be done, in nanoseconds from the due time of the first; `None`: only
    /// the bound is asked for.
    pub deadline_ns: Option<u64>,
}

/// How long a chain takes at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndToEnd {
    /// From the first task's due time to the end of the last job with its value, in nanoseconds.
    pub latency_ns: u64,
    /// From anything that happens outside until a job with it is done: longer by one period of the
    /// first task, which may just have read. In nanoseconds.
    pub reaction_ns: u64,
}

/// The bound of one chain; `None` where a task on the way has no bound.
///
/// A job waits for its turn at most one period, which holds for tasks that are strictly periodic.
///
/// # Errors
/// [`NotAnalysed`] for a task that comes by distances, or sums that overflow.
pub fn end_to_end(
    set: &[Task],
    analysis: &Analysis,
    chain: &Chain,
) -> Result<Option<EndToEnd>, NotAnalysed> {
    if let Some(refusal) = chain_refusal(set, chain) {
        return Err(NotAnalysed::Refused(Box::new(refusal)));
    }
    let mut latency_ns = 0;
    for (position, &place) in chain.tasks.iter().enumerate() {
        let (task, answer) = (&set[place], &analysis.tasks[place]);
        // What holds without a response of its own is done by its deadline.
        let response_ns = match (answer.bound.response_ns, answer.schedulable) {
            (Some(response_ns), _) => response_ns,
            (None, true) => answer.bound.deadline_ns,
            (None, false) => return Ok(None),
        };
        let before = position.checked_sub(1).map(|before| chain.tasks[before]);
        let Some(before) = before else {
            latency_ns = response_ns;
            continue;
        };
        latency_ns = match task.after.as_deref() == Some(set[before].name.as_str()) {
            // Its response counts from the first due time of the tasks that release each other: the time
            // counted for those is in it.
            true => {
                let released_ns = analysis.tasks[before].bound.response_ns.unwrap_or(0);
                sum(latency_ns, response_ns.saturating_sub(released_ns))?
            }
            false => sum(latency_ns, sum(task.period_ns(), response_ns)?)?,
        };
    }
    let Some(first) = chain.tasks.first().map(|&place| &set[place]) else {
        return Ok(None);
    };
    Ok(Some(EndToEnd {
        latency_ns,
        reaction_ns: sum(latency_ns, first.period_ns())?,
    }))
}
