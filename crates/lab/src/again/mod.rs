//! Repeats a run while the emulator records the instructions of its latencies.
//!
//! The guest doesn't notice. The folder `window` interprets the instructions.

mod costs;
mod error;
// The plugin is compiled separately; its decoding of instructions is tested here.
#[cfg(test)]
#[path = "../../plugin/flow.rs"]
mod flow;
mod guest;
mod inventory;
mod kept;
mod kept_symbols;
mod line;
mod noted;
mod plugin;
mod repeat;
mod told;
mod wanted;

pub use costs::{ConditionCosts, CycleCost, RunCosts, costs, costs_json, costs_text};
pub use error::{AgainError, NoBlocks};
pub use guest::Again;
pub use inventory::{
    AsScheduled, ConditionSections, InterruptFound, RunSections, SectionFound, sections,
    sections_json, sections_text, to_file,
};
pub(crate) use inventory::{KERNEL, course_of};
pub(crate) use kept_symbols::{keep_symbols, kept_symbols};
pub use line::{Listener, Noting, Since, attend};
pub use plugin::Plugin;
pub use wanted::{CyclesAsked, Wanted};

use crate::LabError;
use crate::guests::Stopped;
use crate::host::Host;
use wakepath_archive::Run;
use wakepath_assess::stored_windows;
use wakepath_directory::Directory;
use wakepath_explain::window::Window;

/// Repeats the run, finds the windows of the wanted cycles and stores them in the run's
/// `directory`, which is open for writing.
///
/// # Errors
/// If the run comes out differently, or a window can't be found.
pub fn windows(
    run: &Run,
    directory: &Directory,
    again: &Again,
    wanted: &Wanted,
    host: &Host,
    stopped: Stopped<'_>,
) -> Result<Vec<Window>, AgainError> {
    // Fails before anything boots if the file can't be extended.
    let earlier = stored_windows(run).map_err(LabError::from)?;
    let repeated = repeat::repeat(again, wanted, host, stopped)?;
    // A console that explains a failure stays.
    again.clean_up();
    let windows = told::windows(again, wanted, &repeated)?;
    kept::keep(directory, earlier, &windows)?;
    Ok(windows)
}
