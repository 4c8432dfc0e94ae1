//! `wakepath help`, `wakepath completions` and `wakepath man`: made from the one definition of the command line.

use super::Outcome;
use crate::command_line::{CommandLine, first_page};
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

/// Shows the first page, every command, or one command's help.
pub fn help(all: bool, words: &[String]) -> Outcome {
    if words.is_empty() && !all {
        crate::terminal::print(&first_page())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut command = CommandLine::command();
    command.build();
    let mut found = &mut command;
    for word in words {
        found = found
            .find_subcommand_mut(word)
            .ok_or_else(|| format!("{word}: no such command; see wakepath help --all"))?;
    }
    crate::terminal::print(&found.render_long_help().to_string())?;
    Ok(ExitCode::SUCCESS)
}

/// Sections that every man page ends with.
const MAN_END: &str = "\
.SH FILES
.TP
\\fIwakepath\\-runs/\\fR
Runs, each a directory, below the working directory.
.TP
\\fI/run/wakepath/journal\\fR
Settings changed by \\fBwakepath tune apply\\fR, with their former values.
.SH SEE ALSO
.BR wakepath (1),
.BR cyclictest (8),
.BR rtla (1),
.BR chrt (1),
.BR taskset (1),
.BR sched (7)
";

/// Writes a man page for the command and one for each command below it that is not hidden.
pub fn man(directory: &Path) -> Outcome {
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    if !directory.is_dir() {
        return Err(format!("{}: no such directory", directory.display()).into());
    }
    let mut command = CommandLine::command();
    command.build();
    let mut open = vec![command];
    while let Some(command) = open.pop() {
        open.extend(
            command
                .get_subcommands()
                .filter(|of| !of.is_hide_set())
                .cloned(),
        );
        let page = clap_mangen::Man::new(command);
        let name = page.get_filename();
        let mut text = Vec::new();
        page.render(&mut text).map_err(failed)?;
        text.extend_from_slice(MAN_END.as_bytes());
        std::fs::write(directory.join(name), text).map_err(failed)?;
    }
    Ok(ExitCode::SUCCESS)
}
