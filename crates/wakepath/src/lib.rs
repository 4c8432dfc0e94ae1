//! The command. Each verb has a file in `verbs`, and what verbs share has one here; the display of a running measurement is in `view`. The crate
//! `wakepath-measure` carries runs out, and the loop's process is in `wakepath-measured-loop`.
//!
//! No library for others: [`main`] is the program. It is here and not in the program's own crate, because
//! the compiler builds a library in parallel with its dependencies, and a program only after all of them.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod answer_cache;
mod applied_steps;
mod beginning;
mod check_scenario;
mod command_line;
mod companion;
mod criterion_options;
mod executable;
mod explained_cycle;
mod fit_to_screen;
mod guest;
mod inspected_loop;
mod internal;
mod limit_exceeded;
mod machine_facts;
mod measured_run;
mod metrics;
mod open_run;
mod program_scenario;
mod report_files;
mod ros2_options;
mod run_scenario;
mod seal_files;
mod service;
mod unattended;
mod usage;
mod validation;
mod verbs;
mod view;
mod watched_program;

use clap::Parser;
use command_line::{CommandLine, Verb};
use std::process::ExitCode;
use wakepath_console::{ended, limits, memory, without_capabilities};

#[global_allocator]
static MEMORY: memory::Spoken = memory::Spoken;

/// Does what this process's arguments ask for: 0 passed, 1 error, 2 criterion not met, 3 undecided.
pub fn main() -> ExitCode {
    limits::report_instead_of_dying();
    // A load that measures fork and exec starts this program thousands of times a second: its
    // workers don't wait for a command line that they don't have.
    if let Some(arguments) = internal::load_worker_arguments() {
        return wakepath_load::worker::main(arguments, None);
    }
    let line = match CommandLine::try_parse() {
        Ok(line) => line,
        Err(said) => return usage::answer(&said),
    };
    line.printing.apply();
    if !line.verb.uses_capabilities()
        && let Err(code) = without_capabilities()
    {
        return code;
    }
    let outcome = match line.verb {
        Verb::Check(arguments) => verbs::check::run(&arguments),
        Verb::Run(arguments) => verbs::run::run(&arguments),
        Verb::Rate(arguments) => verbs::rate::run(&arguments),
        Verb::Record(arguments) => verbs::record::run(&arguments),
        Verb::Runs(arguments) => verbs::runs::run(&arguments),
        Verb::Show(arguments) => verbs::show::run(&arguments),
        Verb::Report(arguments) => verbs::report::run(&arguments),
        Verb::Fly(arguments) => verbs::fly::run(&arguments),
        Verb::Bound(arguments) => verbs::bound::run(&arguments),
        Verb::Explain(arguments) => verbs::explain::run(&arguments),
        Verb::Watch(arguments) => verbs::watch::run(&arguments),
        Verb::Exec(arguments) => verbs::exec::run(&arguments),
        Verb::Try(arguments) => verbs::try_fix::run(&arguments),
        Verb::Schedulability(arguments) => verbs::schedulability::run(&arguments),
        Verb::Compare(arguments) => verbs::compare::run(&arguments),
        Verb::Import(arguments) => verbs::import::run(&arguments),
        Verb::Export(arguments) => verbs::export::run(&arguments),
        Verb::Recover(arguments) => verbs::recover::run(&arguments),
        Verb::Seal(arguments) => verbs::seal::run(&arguments),
        Verb::Verify(arguments) => verbs::verify::run(&arguments),
        Verb::Scenario(arguments) => verbs::scenario::run(&arguments),
        Verb::Doctor(arguments) => verbs::doctor::run(&arguments),
        Verb::Tune(arguments) => verbs::tune::run(&arguments),
        Verb::Lab { arguments } => companion::run(companion::LAB, line.printing, &arguments),
        Verb::Experiment { arguments } => {
            companion::run(companion::EXPERIMENT, line.printing, &arguments)
        }
        Verb::Loads(arguments) => verbs::loads::run(&arguments),
        Verb::Tiers(arguments) => verbs::tiers::run(&arguments),
        Verb::Machine(arguments) => verbs::machine::run(&arguments),
        Verb::Help { all, command } => verbs::documentation::help(all, &command),
        Verb::Completions { shell } => verbs::documentation::completions(shell),
        Verb::Man { directory } => verbs::documentation::man(&directory),
        Verb::Internal(process) => return internal::run(process),
    };
    ended(outcome)
}

/// Reads a command line with all its values, without carrying it out. Help and versions are right, too.
///
/// # Errors
/// With the line that the program would print.
pub fn read_command(words: &[&str]) -> Result<(), String> {
    match CommandLine::try_parse_from([&["wakepath"], words].concat()) {
        Ok(line) => validation::validate(&line.verb).map_err(|error| error.to_string()),
        Err(said) => usage::refusal(&said),
    }
}
