//! `wakepath lab`: scenarios on real kernels in virtual time. Kernels, initramfs and emulator are in
//! the crate `wakepath-lab`; here is what a person asks for and sees.

mod check;
mod commands;
mod comparison;
mod counted;
mod diff;
mod effective;
mod exec;
mod experiments;
mod guest;
mod guests;
mod prepare;
mod run;
mod window;
mod words;

pub use guest::main as guest_main;
pub use window::kept as kept_windows;

use super::Outcome;
use crate::command_line::Lab;

/// Boots, compares, finds where runs part.
pub fn run(verb: &Lab) -> Outcome {
    match verb {
        Lab::Run(arguments) => run::run(arguments),
        Lab::Exec(arguments) => exec::run(arguments),
        Lab::Check(arguments) => check::run(arguments),
        Lab::Diff(arguments) => diff::run(arguments),
        Lab::Experiments(arguments) => experiments::run(arguments),
        Lab::Window(arguments) => window::run(arguments),
    }
}
