//! `wakepath lab`: scenarios on real kernels in virtual time. Kernels, initramfs and emulator are in
//! the crate `wakepath-lab`; here is what a person asks for and sees.

mod comparison;
mod diff;
mod guest;
mod guests;
mod run;

pub use guest::main as guest_main;

use super::Outcome;
use crate::command_line::Lab;

/// Boots, compares, finds where runs part.
pub fn run(verb: &Lab) -> Outcome {
    match verb {
        Lab::Run(arguments) => run::run(arguments),
        Lab::Diff(arguments) => diff::run(arguments),
    }
}
