//! A measurement of several runs that can be interrupted and resumed: the only place that decides which
//! runs are measured, kept and measured again.
//!
//! A [`Plan`] names the runs and takes their results; an [`Executor`] measures one of them. A run that is
//! complete in its directory is not measured again, however the command ended that measured it. A run that
//! was cut short keeps its samples next to the new one; without samples it is removed.

mod directory_state;
mod process;
#[cfg(test)]
mod tests;

pub use process::ProcessExecutor;

use crate::run_order::OrderedRun;
use directory_state::DirectoryState;
use std::io;
use std::path::PathBuf;
use wakepath_archive::{Run, command_about};
use wakepath_directory::Trust;

type Failure = Box<dyn std::error::Error>;

/// A run of the sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step<S> {
    /// Subject of the measurement, such as a rate.
    pub subject: S,
    /// Its name in messages, such as `round 3 of 10`.
    pub name: String,
    /// Run directory.
    pub directory: PathBuf,
    /// Steps after it, at most.
    pub remaining: u32,
}

/// When a complete run was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// By this command.
    Measured,
    /// By an earlier command.
    Resumed,
}

/// Runs to measure, and their results so far.
pub trait Plan {
    /// Subject of a step.
    type Subject;

    /// The next run; `None` after the last.
    fn next(&self) -> Option<Step<Self::Subject>>;

    /// Prepares and orders a run that has to be measured.
    ///
    /// # Errors
    /// Ends the sequence. Nothing is written for the step.
    fn order(&mut self, step: &Step<Self::Subject>) -> Result<OrderedRun, Failure>;

    /// Takes the result of a complete run.
    ///
    /// # Errors
    /// Ends the sequence, for example for an earlier run of a different measurement.
    fn take(&mut self, step: Step<Self::Subject>, run: Run, origin: Origin) -> Result<(), Failure>;

    /// End of the message `interrupted; …`: the kept runs, and how to resume.
    fn after_interruption(&self) -> String;

    /// Directory for runs that were cut short [default: that of the step].
    fn leftovers(&self, step: &Step<Self::Subject>) -> PathBuf {
        step.directory
            .parent()
            .map_or_else(PathBuf::new, PathBuf::from)
    }

    /// Owners whose directories are accepted.
    fn trust(&self) -> Trust {
        Trust::Own
    }
}

/// Measures one run.
pub trait Executor {
    /// Measures a run and waits for its end. Returns the reason if it failed.
    ///
    /// # Errors
    /// If it can't be started.
    fn execute(
        &mut self,
        run: OrderedRun,
        name: &str,
        remaining: u32,
    ) -> io::Result<Option<String>>;

    /// Whether the user asked for the end.
    fn is_interrupted(&self) -> bool;
}

/// Measures all runs that are missing.
///
/// # Errors
/// The plan's; one line if a run was refused, failed or is still being written, or after an interruption.
pub fn carry_out<P: Plan>(plan: &mut P, executor: &mut impl Executor) -> Result<(), Failure> {
    while let Some(step) = plan.next() {
        let (run, origin) = match DirectoryState::read(&step.directory, plan.trust())? {
            DirectoryState::Complete(run) => (run, Origin::Resumed),
            state => {
                state.clear(&step.directory, &plan.leftovers(&step))?;
                (measure(plan, executor, &step)?, Origin::Measured)
            }
        };
        plan.take(step, *run, origin)?;
    }
    Ok(())
}

fn measure<P: Plan>(
    plan: &mut P,
    executor: &mut impl Executor,
    step: &Step<P::Subject>,
) -> Result<Box<Run>, Failure> {
    let interrupted = |plan: &P| format!("interrupted; {}", plan.after_interruption());
    if executor.is_interrupted() {
        return Err(interrupted(plan).into());
    }
    let order = plan.order(step)?;
    if let Some(parent) = step.directory.parent() {
        std::fs::create_dir_all(parent)
            .map_err(|error| format!("{}: {error}", parent.display()))?;
    }
    let failed = executor.execute(order, &step.name, step.remaining)?;
    let state = DirectoryState::read(&step.directory, plan.trust())?;
    let is_interrupted = executor.is_interrupted();
    let is_recorded = match state {
        DirectoryState::Complete(run) if !is_interrupted => return Ok(run),
        DirectoryState::Complete(_) | DirectoryState::CutShort => true,
        DirectoryState::Absent | DirectoryState::Empty => {
            // One that can't be removed is replaced by the next command.
            let _ = state.remove_empty(&step.directory);
            false
        }
    };
    let name = &step.name;
    Err(match (failed, is_recorded) {
        _ if is_interrupted => interrupted(plan),
        (Some(why), _) => format!("{name}: {why}"),
        (None, true) => format!(
            "{name}: ended before its time; its notes give the reason: {}",
            command_about("show", &step.directory.display().to_string(), "")
        ),
        (None, false) => format!("{name}: nothing was recorded"),
    }
    .into())
}
