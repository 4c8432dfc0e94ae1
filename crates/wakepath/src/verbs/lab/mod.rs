//! `wakepath lab`: scenarios on real kernels in virtual time. All of it is in the crate `wakepath-lab`;
//! here is what a person asks for and sees.

mod bisect;
mod check;
mod costs;
mod diff;
mod exec;
mod experiments;
mod guest;
mod run;
mod sections;
mod window;

pub use guest::main as guest_main;

use super::Outcome;
use crate::command_line::{Lab, LabAdded, LabAgain, LabGuests, LabHost, VERSION};
use wakepath_archive::GuestAdditions;
use wakepath_directory::Trust;
use wakepath_lab::{GuestsAsked, Host, HostAsked};
use wakepath_measure::own_executable;

/// Boots, compares, finds where runs part.
pub fn run(verb: &Lab) -> Outcome {
    match verb {
        Lab::Run(arguments) => run::run(arguments),
        Lab::Exec(arguments) => exec::run(arguments),
        Lab::Check(arguments) => check::run(arguments),
        Lab::Diff(arguments) => diff::run(arguments),
        Lab::Experiments(arguments) => experiments::run(arguments),
        Lab::Window(arguments) => window::run(arguments),
        Lab::Sections(arguments) => sections::run(arguments),
        Lab::Costs(arguments) => costs::run(arguments),
        Lab::Bisect(arguments) => bisect::run(arguments),
    }
}

/// This program, as the laboratory uses it.
fn host() -> Host {
    Host {
        program: own_executable(),
        version: VERSION.into(),
        tell: crate::terminal::tell_line,
    }
}

impl LabGuests {
    /// The guests as the laboratory takes them.
    fn asked(&self) -> GuestsAsked {
        GuestsAsked {
            kernels: self.kernel.clone(),
            variants: self.variant.clone(),
            architecture: self.architecture.clone(),
            cpus: self.cpus,
            topology: self.topology,
            before: self.before.clone(),
            ns_per_instruction: self.ns_per_instruction,
            memory_mib: self.memory,
            added: self.added.asked(),
        }
    }
}

impl LabAdded {
    /// The same as the laboratory takes it.
    fn asked(&self) -> GuestAdditions {
        GuestAdditions {
            modules_from: self.modules.clone(),
            modules: self.module.clone(),
            files: self.file.clone(),
            writes: self.init_write.clone(),
        }
    }
}

impl LabAgain {
    /// What of this host makes a run again.
    fn asked(&self) -> HostAsked {
        HostAsked {
            beside: None,
            timeout: self.timeout.clone(),
            program: self.program.clone(),
            emulator: self.emulator.clone(),
        }
    }
}

impl LabHost {
    /// What `--trust-directory` says.
    fn trust(&self) -> Trust {
        super::measured::trust(self.trust_directory)
    }

    /// The same of this host.
    fn asked(&self) -> HostAsked {
        HostAsked {
            beside: self.beside,
            timeout: self.timeout.clone(),
            program: self.program.clone(),
            emulator: self.emulator.clone(),
        }
    }
}
