//! Inventory of every non-preemptible section of a run.
//!
//! The run is repeated while the emulator notes when preemption and interrupts are switched. The
//! folder `sections` evaluates the notes.

mod file;
mod heard;
mod json;
mod text;
mod told;

pub use file::to_file;
pub use json::to_json as sections_json;
pub use text::to_text as sections_text;
pub use told::{AsScheduled, ConditionSections, InterruptFound, RunSections, SectionFound};

use super::error::AgainError;
use super::guest::Again;
use super::line::Noting;
use super::repeat::{follower, once_more, refuse_another_run, told as symbols_told};
use super::wanted::Wanted;
use crate::guests::Stopped;
use crate::host::Host;
use crate::sections::{Course, Preemption, Roles, count_place};
use heard::Heard;
use wakepath_archive::Run;
use wakepath_assess::Assessment;
use wakepath_machine::{Facts, PreemptionModel};

/// Addresses from here on are the kernel's.
pub(crate) const KERNEL: u64 = 1 << 63;

/// Repeats the run and returns its sections, with all cycles of `wanted`.
///
/// # Errors
/// If the run comes out differently, or its kernel can't be followed.
pub fn sections(
    run: &Run,
    again: &Again,
    wanted: &Wanted,
    host: &Host,
    stopped: Stopped<'_>,
) -> Result<RunSections, AgainError> {
    let list = match (&again.symbols, &again.telling) {
        (Some(known), _) => known.clone(),
        (None, Some((guest, limit))) => symbols_told(again, guest, *limit, host, stopped)?,
        (None, None) => return Err(AgainError::NoSymbols),
    };
    let count_at = count_place(&list).ok_or(AgainError::NoCount)?;
    let symbols = again.symbols_of(&list)?;
    let model = preemption(run);
    let noting = Noting {
        transitions: true,
        kernel_from: KERNEL,
        count_at,
        watched: Roles(&symbols).watched(),
        costs: None,
    };
    let ns = u64::from(again.ns_per_instruction);
    let latencies = wanted.latencies(ns);
    let course = Course::new(course_of(model));
    let mut heard = Heard::new(follower(again, wanted), course, &symbols, &latencies);
    once_more(again, &noting, &mut heard, host, stopped)?;
    refuse_another_run(again)?;
    again.clean_up();
    let assessment = Assessment::new(run).map_err(crate::LabError::from)?;
    told::told(&assessment, wanted, &heard, &symbols, model.word(), ns)
}

/// How a kernel's stretches are followed.
pub(crate) fn course_of(model: PreemptionModel) -> Preemption {
    match model {
        PreemptionModel::RealTime | PreemptionModel::Full | PreemptionModel::Lazy => {
            Preemption::Full
        }
        // A kernel without full preemption has all the stretches of one with it.
        PreemptionModel::Voluntary | PreemptionModel::None | PreemptionModel::Unknown => {
            Preemption::Voluntary
        }
    }
}

/// When the run's kernel let a woken thread take the CPU, as the guest read it back.
fn preemption(run: &Run) -> PreemptionModel {
    let facts = run.manifest.facts.first();
    let facts = facts.and_then(|taken| Facts::of_json(&taken.facts).ok());
    facts.map_or(PreemptionModel::Unknown, |facts| {
        facts.varying.preemption.model
    })
}
