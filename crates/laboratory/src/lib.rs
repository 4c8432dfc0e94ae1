//! The programs `wakepath-lab` (scenarios on real kernels in virtual time, in the room `lab`) and
//! `wakepath-experiment` (published experiments on a board): their command lines and what they print.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod bisect;
mod board;
mod check;
mod command_line;
mod command_line_again;
mod command_line_bisect;
mod command_line_experiments;
mod command_line_hunt;
mod costs;
mod diff;
mod exec;
mod experiments;
mod hunt;
mod run;
mod sections;
mod window;

use clap::{CommandFactory, Parser};
use command_line::{CommandLine, Lab, LabAdded, LabAgain, LabEach, LabGuests, LabHost};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use wakepath_archive::GuestAdditions;
use wakepath_console::{
    Outcome, VERSION, candidates, ended, limits, manual, memory, run_directory, terminal, usage,
    without_capabilities,
};
use wakepath_directory::Trust;
use wakepath_lab::{GuestsAsked, Host, HostAsked};
use wakepath_measure::own_executable;

#[global_allocator]
static MEMORY: memory::Spoken = memory::Spoken;

/// Does what this process's arguments ask for; each verb's help lists its exit codes.
pub fn main() -> ExitCode {
    limits::report_instead_of_dying();
    let line = match CommandLine::try_parse() {
        Ok(line) => line,
        Err(said) => return usage::answer(&said, None),
    };
    line.printing.apply();
    if let Err(code) = without_capabilities() {
        return code;
    }
    ended(run(&line.verb))
}

/// The same for `wakepath-experiment`.
pub fn experiment_main() -> ExitCode {
    limits::report_instead_of_dying();
    let line = match board::command_line::CommandLine::try_parse() {
        Ok(line) => line,
        Err(said) => return usage::answer(&said, None),
    };
    line.printing.apply();
    if let Err(code) = without_capabilities() {
        return code;
    }
    ended(board::run(&line.verb))
}

fn run(verb: &Lab) -> Outcome {
    match verb {
        Lab::Run(arguments) => run::run(arguments),
        Lab::Exec(arguments) => exec::run(arguments),
        Lab::Check(arguments) => check::run(arguments),
        Lab::Diff(arguments) => diff::run(arguments),
        Lab::Experiments(arguments) => experiments::run(arguments),
        Lab::Window(arguments) => window::run(arguments),
        Lab::Sections(arguments) => sections::run(arguments),
        Lab::Costs(arguments) => costs::run(arguments),
        Lab::Hunt(arguments) => hunt::run(arguments),
        Lab::Bisect(arguments) => bisect::run(arguments),
        Lab::Candidates { words } => Ok(candidates::print(CommandLine::command(), words)),
        Lab::Man { directory } => manual::write(CommandLine::command(), directory),
        Lab::SuperviseEmulator { parent, command } => become_emulator(*parent, command),
    }
}

/// Becomes the emulator, which then dies with the process that started it.
fn become_emulator(parent: i32, command: &[OsString]) -> Outcome {
    if !wakepath_measured_loop::die_with(parent) {
        return Err("the process that started the emulator is gone".into());
    }
    let (program, arguments) = command.split_first().ok_or("no emulator is named")?;
    let error = Command::new(program).args(arguments).exec();
    Err(format!("{}: {error}", program.display()).into())
}

/// This program and the wakepath that it belongs to, as the laboratory uses them.
fn host() -> Result<Host, Box<dyn std::error::Error>> {
    let program = wakepath_programs::companion("wakepath");
    Ok(Host {
        own: own_executable(),
        program: program.map_err(|missing| format!("for the guests: {missing}"))?,
        version: VERSION.into(),
        tell: terminal::tell_line,
    })
}

impl LabGuests {
    /// The guests as the laboratory takes them.
    fn asked(&self) -> GuestsAsked {
        GuestsAsked {
            variants: self.variant.clone(),
            architecture: self.architecture.clone(),
            cpus: self.cpus,
            topology: self.topology,
            ..self.each.asked(self.kernel.clone())
        }
    }
}

impl LabEach {
    /// Guests with one x86-64 CPU and these kernels, as the laboratory takes them.
    fn asked(&self, kernels: Vec<String>) -> GuestsAsked {
        GuestsAsked {
            kernels,
            variants: Vec::new(),
            architecture: "x86-64".into(),
            cpus: 1,
            topology: None,
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
            disk: self.disk.clone(),
        }
    }
}

impl LabAgain {
    /// Parts of this host that a repeated run uses.
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
        run_directory::trust(self.trust_directory)
    }

    /// The same of this host.
    fn asked(&self) -> HostAsked {
        HostAsked {
            beside: self.jobs,
            timeout: self.timeout.clone(),
            program: self.program.clone(),
            emulator: self.emulator.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_help_of_every_command_fits_one_screen() {
        let programs = [
            CommandLine::command(),
            board::command_line::CommandLine::command(),
        ];
        let mut wrong = String::new();
        for mut program in programs {
            program.build();
            for of in std::iter::once(&program).chain(program.get_subcommands()) {
                let help = of.clone().term_width(80).render_help().to_string();
                let lines = help.lines().count();
                if !of.is_hide_set() && lines > 39 {
                    wrong += &format!("{} -h: {lines} lines\n{help}", of.get_name());
                }
            }
        }
        assert_eq!(wrong, "");
    }

    #[test]
    fn the_definitions_are_consistent() {
        CommandLine::command().debug_assert();
        board::command_line::CommandLine::command().debug_assert();
    }
}
