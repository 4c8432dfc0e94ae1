//! Controllers of the user's own, loaded and let go once before anything is recorded: one that can't
//! be loaded, refuses or dies in its `init` is refused like any other mistake in a scenario, and
//! nothing is left behind. No cycle of theirs is run.

use super::child::{FromChild, JsonChild};
use super::program::loop_program;
use super::segment::READY_PATIENCE;
use super::{Interrupt, Plan};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use wakepath_measured_loop::{LoopReply, LoopSpec, WorkSpec};
use wakepath_rt::Preparation;
use wakepath_rt::shared::SharedMemory;
use wakepath_scenario::Scenario;

/// Between two looks at the interrupt.
const TICK: Duration = Duration::from_millis(100);
/// Nothing is measured: the loop may begin at once.
const LEAD_NS: u64 = 1_000_000;
/// The least that a ring can hold; nothing is written into it.
const RING_SAMPLES: u32 = 8;

/// Loads each controller of the scenario as its loop will.
///
/// # Errors
/// One line: which controller, what is wrong with it, what would be right.
pub fn load_controllers(
    scenario: &Scenario,
    plan: &Plan,
    interrupt: &Interrupt,
) -> Result<(), String> {
    let mut tried: Vec<Vec<WorkSpec>> = Vec::new();
    for segment in plan.segments() {
        let spec = plan.loop_spec(scenario, segment);
        let works = spec.threads.iter().map(|thread| thread.work.clone());
        let works: Vec<WorkSpec> = works.collect();
        if let (Some(library), false) = (spec.library(), tried.contains(&works)) {
            load(library, &without_cycles(&spec), interrupt)?;
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

fn load(library: &str, spec: &LoopSpec, interrupt: &Interrupt) -> Result<(), String> {
    let program = loop_program(Some(library))?;
    let not_started = |error: &dyn std::fmt::Display| {
        format!("{library}: the process that loads it can't be started: {error}")
    };
    let memory = SharedMemory::create(spec.threads.len() as u32, RING_SAMPLES)
        .map_err(|error| not_started(&error))?;
    let (sender, messages) = mpsc::channel();
    let mut child = JsonChild::start(&program, "loop", memory.file(), &[], sender, |said| said)
        .map_err(|error| not_started(&error))?;
    child.say(spec).map_err(|error| not_started(&error))?;
    let deadline = Instant::now() + READY_PATIENCE;
    let outcome = loop {
        match messages.recv_timeout(TICK) {
            // Ready, and so loaded; its end shows whether it can be let go.
            Ok(FromChild::Said(LoopReply::Ready { .. })) => {}
            Ok(FromChild::Said(LoopReply::Ended { .. })) => break Ok(()),
            Ok(FromChild::Said(LoopReply::CannotRun { reason })) => break Err(reason),
            Ok(FromChild::Gone) => {
                let how = child
                    .wait()
                    .map_or_else(|e| e.to_string(), |status| status.to_string());
                break Err(format!(
                    "{library}: the process that loaded it died before its first cycle: {how}"
                ));
            }
            Err(_) if interrupt.requested() => break Err("interrupted before measuring".into()),
            Err(_) if Instant::now() > deadline => {
                break Err(format!(
                    "{library}: was not loaded and initialised after {} s",
                    READY_PATIENCE.as_secs()
                ));
            }
            Err(_) => {}
        }
    };
    child.kill();
    outcome
}
