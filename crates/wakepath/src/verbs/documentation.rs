//! `wakepath completions` and `wakepath man`: made from the one definition of the command line.

use super::Outcome;
use crate::command_line::CommandLine;
use clap::CommandFactory;
use std::path::Path;
use std::process::ExitCode;

/// Prints a shell's completions.
pub fn completions(shell: clap_complete::Shell) -> Outcome {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut CommandLine::command(), "wakepath", &mut text);
    crate::terminal::print_own(&String::from_utf8(text)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a man page for the command and one for each verb.
pub fn man(directory: &Path) -> Outcome {
    clap_mangen::generate_to(CommandLine::command(), directory)
        .map_err(|error| format!("{}: {error}", directory.display()))?;
    Ok(ExitCode::SUCCESS)
}
