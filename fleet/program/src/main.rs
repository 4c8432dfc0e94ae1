//! The command for a fleet.
//!
//! Each verb has a file in `verbs`; the crate `wakepath-fleet-boards` works on the boards.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod command_line;
mod histories;
mod reports;
mod served;
mod terminal;
mod usage;
mod verbs;

use clap::Parser;
use command_line::{CommandLine, Verb};
use std::process::ExitCode;

fn main() -> ExitCode {
    let line = match CommandLine::try_parse() {
        Ok(line) => line,
        Err(said) => return usage::answer(&said),
    };
    let outcome = match line.verb {
        Verb::Boards(arguments) => verbs::boards::run(&arguments),
        Verb::Add(arguments) => verbs::add::run(&arguments),
        Verb::Gc(arguments) => verbs::gc::run(&arguments),
        Verb::Check(arguments) => verbs::check::run(&arguments),
        Verb::Push(arguments) => verbs::push::run(&arguments),
        Verb::Run(arguments) => verbs::run::run(&arguments),
        Verb::Schedule(arguments) => verbs::schedule::run(&arguments),
        Verb::Status(arguments) => verbs::status::run(&arguments),
        Verb::Fetch(arguments) => verbs::fetch::run(&arguments),
        Verb::Tune(arguments) => verbs::tune::run(&arguments),
        Verb::Reboot(arguments) => verbs::reboot::run(&arguments),
        Verb::Authorize(arguments) => verbs::authorize::run(&arguments),
        #[cfg(feature = "questions")]
        Verb::Query(arguments) => verbs::query::run(&arguments),
        Verb::Regressions(arguments) => verbs::regressions::run(&arguments),
        Verb::Changes(arguments) => verbs::changes::run(&arguments),
        Verb::Site(arguments) => verbs::site::run(&arguments),
        Verb::Serve(arguments) => verbs::serve::run(&arguments),
        Verb::Export(arguments) => verbs::export::run(&arguments),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            terminal::tell_line(&format!("wakepath-fleet: {error}"));
            ExitCode::from(1)
        }
    }
}
