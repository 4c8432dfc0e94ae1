//! Controllers of the user's own, loaded and let go once before anything is recorded: one that can't
//! be loaded, refuses or dies in its `init` is refused like any other mistake in a scenario, and
//! nothing is left behind. No cycle of theirs is run.

use crate::course::READY_PATIENCE;
use crate::program::{NoProgram, loop_program};
use crate::supervisor::{Child, Heard};
use crate::{Interrupt, Plan};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};
use wakepath_measured_loop::{LoopReply, LoopSpec, WorkSpec};
use wakepath_rt::Preparation;
use wakepath_rt::shared::{SharedMemory, SharedMemoryError};

/// Between two looks at the interrupt.
const TICK: Duration = Duration::from_millis(100);
/// Nothing is measured: the loop may begin at once.
const LEAD_NS: u64 = 1_000_000;
/// The least that a ring can hold; nothing is written into it.
const RING_SAMPLES: u32 = 8;

/// Why a controller can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ControllerError {
    /// There is no program that could load it or run its loop.
    #[error(transparent)]
    NoProgram(#[from] NoProgram),
    /// The process that would load it can't be started.
    #[error("{library}: the process that loads it can't be started: {source}")]
    NotStarted {
        /// The controller's file.
        library: String,
        /// The system's answer.
        source: io::Error,
    },
    /// There is no memory to share with that process.
    #[error("{library}: the process that loads it can't be started: {source}")]
    NoMemory {
        /// The controller's file.
        library: String,
        /// The system's answer.
        source: SharedMemoryError,
    },
    /// It was refused, in the words of the process that tried.
    #[error("{0}")]
    Refused(String),
    /// It took the process that loaded it with it.
    #[error("{library}: the process that loaded it died before its first cycle: {how}")]
    Died {
        /// The controller's file.
        library: String,
        /// Exit status.
        how: String,
    },
    /// It did not come back.
    #[error("{library}: not loaded and initialised after {} s", READY_PATIENCE.as_secs())]
    NotReady {
        /// The controller's file.
        library: String,
    },
    /// The user interrupted it.
    #[error("interrupted before measuring")]
    Interrupted,
}

/// Looks for the programs of the plan's loops, and loads each controller as its loop will.
///
/// # Errors
/// One line: which program is missing and how to get it, or which controller, what is wrong with it, what would be
/// right.
pub fn load_controllers(plan: &Plan, interrupt: &Interrupt) -> Result<(), ControllerError> {
    let mut tried: Vec<Vec<&WorkSpec>> = Vec::new();
    for spec in plan.segments().map(|segment| &segment.loop_spec) {
        let program = loop_program(spec)?;
        let works: Vec<&WorkSpec> = spec.threads.iter().map(|thread| &thread.work).collect();
        if let (Some(library), false) = (spec.library(), tried.contains(&works)) {
            load(&program, library, &without_cycles(spec), interrupt)?;
            tried.push(works);
        }
    }
    Ok(())
}

/// The same loop, under the ordinary policy and due for no cycle.
fn without_cycles(spec: &LoopSpec) -> LoopSpec {
    let mut spec = spec.clone();
    spec.lead_ns = LEAD_NS;
    for thread in &mut spec.threads {
        thread.preparation = Preparation::default();
        thread.counters = false;
        (thread.first_judged_cycle, thread.end_cycle) = (0, 0);
    }
    spec
}

fn load(
    program: &Path,
    library: &str,
    spec: &LoopSpec,
    interrupt: &Interrupt,
) -> Result<(), ControllerError> {
    let library = library.to_owned();
    let memory = match SharedMemory::create(spec.threads.len() as u32, RING_SAMPLES) {
        Ok(memory) => memory,
        Err(source) => return Err(ControllerError::NoMemory { library, source }),
    };
    let child = Child::start(program, "loop", memory.file(), None);
    let told = child.and_then(|mut child| child.say(spec).map(|()| child));
    let mut child = match told {
        Ok(child) => child,
        Err(source) => return Err(ControllerError::NotStarted { library, source }),
    };
    let told = Instant::now();
    let outcome = loop {
        match child.hear(TICK) {
            // Ready, and so loaded; its end shows whether it can be let go.
            Heard::Said(LoopReply::Ready { .. }) => {}
            Heard::Said(LoopReply::Ended { .. }) => break Ok(()),
            Heard::Said(LoopReply::CannotRun { reason, .. }) => {
                break Err(ControllerError::Refused(reason));
            }
            Heard::Gone => {
                let how = child.end();
                break Err(ControllerError::Died { library, how });
            }
            Heard::Nothing if interrupt.requested() => break Err(ControllerError::Interrupted),
            Heard::Nothing if told.elapsed() > READY_PATIENCE => {
                break Err(ControllerError::NotReady { library });
            }
            Heard::Nothing => {}
        }
    };
    child.kill();
    outcome
}
