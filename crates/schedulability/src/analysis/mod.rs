//! A whole set on a whole machine: tasks grouped by the CPUs that they share, inflated by overheads,
//! analysed group by group, and one outcome over all.

mod group;
mod outcome;
mod released;
mod reserved;

pub use outcome::{Analysis, Outcome, Refuted, TaskAnswer};

use crate::bound::Bound;
use crate::matrix::{Refusal, refusal};
use crate::method::Method;
use crate::overheads::{Costs, Releases};
use crate::task::{Impossible, Task};
use group::Group;
pub(crate) use group::within_its_deadline;
use std::ops::Range;

/// The input of an analysis.
#[derive(Clone)]
pub struct Question<'a> {
    /// The tasks.
    pub tasks: &'a [Task],
    /// How they are scheduled.
    pub method: Method,
    /// On how many CPUs, numbered from 0.
    pub cpus: u16,
    /// The kernel's overheads; `None`: none are included, and the answer reports that.
    pub overheads: Option<&'a dyn Overheads>,
}

impl Question<'_> {
    /// The kernel's costs among these tasks of one CPU, and the cache reload that a preemption costs each
    /// of them, in nanoseconds; zero without overheads.
    pub(crate) fn costs_of(&self, tasks: &[Task]) -> (Costs, Vec<u64>) {
        match self.overheads {
            None => (Costs::default(), vec![0; tasks.len()]),
            Some(overheads) => {
                let delay = |task: &Task| overheads.cache_delay_ns(task.working_set_bytes, false);
                (
                    overheads.costs(tasks.len()),
                    tasks.iter().map(delay).collect(),
                )
            }
        }
    }
}

/// Where costs come from: they depend on how many tasks a scheduler has.
pub trait Overheads {
    /// The costs with this number of tasks.
    fn costs(&self, tasks: usize) -> Costs;

    /// The costs of a scheduler of these CPUs, if they differ between CPUs.
    fn costs_on(&self, _cpus: Range<u16>, tasks: usize) -> Costs {
        self.costs(tasks)
    }

    /// The cache-related delay of a job with a working set of this size, in nanoseconds; `moves`: a job can
    /// resume on a CPU other than that of its preemption.
    fn cache_delay_ns(&self, working_set_bytes: u64, moves: bool) -> u64;
}

impl Overheads for Costs {
    fn costs(&self, _tasks: usize) -> Costs {
        *self
    }

    fn cache_delay_ns(&self, _working_set_bytes: u64, _moves: bool) -> u64 {
        0
    }
}

/// Why a set was not analysed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAnalysed {
    /// A task or a sum that can't be.
    #[error(transparent)]
    Impossible(#[from] Impossible),
    /// A task without a CPU under a policy that needs one.
    #[error("{task}: has no CPU, and {method} pins every task; give `cpu`, or let tasks be placed")]
    NoCpu {
        /// Its name.
        task: String,
        /// The policy.
        method: Method,
    },
    /// A CPU that the machine doesn't have.
    #[error("{task}: is on CPU {cpu}, and the CPUs are 0 to {last}; give one of those")]
    NoSuchCpu {
        /// Its name.
        task: String,
        /// Its CPU.
        cpu: u16,
        /// The last there is.
        last: u16,
    },
    /// Two tasks of one name.
    #[error("{0}: two tasks have this name; give each its own name")]
    SameName(String),
    /// Released by a task that there isn't.
    #[error("{task}: comes after {after}, and no task has that name; give one of the set's")]
    NoSuchTask {
        /// Its name.
        task: String,
        /// The task it is declared to follow.
        after: String,
    },
    /// Tasks that release each other in a circle.
    #[error("{0}: is released by its own end, in a circle; leave out one `after` of the chain")]
    Circle(String),
    /// A feature, or two together, for which no proof is built in under the policy.
    #[error("{0}")]
    Refused(Box<Refusal>),
    /// Several threads in a reservation that holds one.
    #[error(
        "{0}: a constant-bandwidth server, as SCHED_DEADLINE's, holds one thread; give each task a \
         reservation of its own"
    )]
    OneThread(String),
}

/// Whether a schedule with a miss is searched for in a set that no test accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counterexample {
    Wanted,
    Unwanted,
}

/// Analyses a set.
///
/// # Errors
/// [`NotAnalysed`] where the question itself is wrong.
pub fn analyse(question: &Question<'_>) -> Result<Analysis, NotAnalysed> {
    analysed(question, Counterexample::Wanted)
}

/// As [`analyse`], but plays no schedule in search of a miss, which takes longer than all proofs: a set
/// that only a schedule would refute is [`Outcome::NotProvable`]. Bounds are the same.
///
/// # Errors
/// As [`analyse`].
pub fn prove(question: &Question<'_>) -> Result<Analysis, NotAnalysed> {
    analysed(question, Counterexample::Unwanted)
}

fn analysed(question: &Question<'_>, search: Counterexample) -> Result<Analysis, NotAnalysed> {
    for (place, task) in question.tasks.iter().enumerate() {
        task.check()?;
        if question.tasks[..place]
            .iter()
            .any(|other| other.name == task.name)
        {
            return Err(NotAnalysed::SameName(task.name.clone()));
        }
    }
    if let Some(refusal) = refusal(question) {
        return Err(NotAnalysed::Refused(Box::new(refusal)));
    }
    if question.tasks.iter().any(|task| task.reservation.is_some()) {
        released::predecessors(question)?;
        reserved::analyse_reserved(question)
    } else {
        analyse_unreserved(question, search)
    }
}

/// A set without reservations.
fn analyse_unreserved(
    question: &Question<'_>,
    search: Counterexample,
) -> Result<Analysis, NotAnalysed> {
    let predecessors = released::predecessors(question)?;
    if predecessors.iter().any(Option::is_some) {
        released::analyse_released(question, &predecessors)
    } else {
        analyse_timed(question, search)
    }
}

/// A set in which every task is released by its own timer or interrupt.
fn analyse_timed(question: &Question<'_>, search: Counterexample) -> Result<Analysis, NotAnalysed> {
    let mut bounds: Vec<Option<TaskAnswer>> = vec![None; question.tasks.len()];
    let mut outcome = Outcome::Schedulable;
    let mut groups = 0;
    for group in Group::all(question)? {
        groups += 1;
        let answer = group.analyse(question, search)?;
        outcome = outcome.and(answer.outcome);
        for bound in answer.tasks {
            let place = bound.bound.task;
            bounds[place] = Some(bound);
        }
    }
    debug_assert!(groups > 0 || question.tasks.is_empty());
    Ok(Analysis {
        tasks: bounds.into_iter().flatten().collect(),
        outcome,
    })
}

/// As if each CPU's release interrupts came where its tasks run, or anywhere among several.
fn releases_of(cluster: u16) -> Releases {
    match cluster {
        1 => Releases::Local,
        _ => Releases::Anywhere,
    }
}

/// Puts the answer of a group's own numbering back into the set's.
fn renumbered(mut bound: Bound, members: &[usize]) -> Bound {
    bound.task = members[bound.task];
    for part in &mut bound.made_of {
        if let crate::What::Preemption { by, .. } | crate::What::Interference { by } =
            &mut part.what
        {
            *by = members[*by];
        }
    }
    bound
}
