//! Reports a wrong command line in one line.
//!
//! `command_line` defines the command line.

use crate::terminal::tell_line;
use clap::error::ErrorKind;
use std::process::ExitCode;

/// Help and version end well, a wrong command line with 1: clap's own 2 means "criterion not met"
/// here, and a script must not read a misspelt option as a verdict.
pub fn answer(said: &clap::Error) -> ExitCode {
    if said.use_stderr() && said.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        tell_line(&format!(
            "wakepath-fleet: {}",
            one_line(&said.render().to_string())
        ));
    } else {
        // Nobody left to read it changes nothing about the answer.
        let _ = said.print();
    }
    ExitCode::from(u8::from(said.use_stderr()))
}

/// The error and clap's advice, without the repetition of the usage.
fn one_line(rendered: &str) -> String {
    let parts = rendered.lines().map(str::trim).filter(|part| {
        !part.is_empty() && !part.starts_with("Usage:") && !part.starts_with("For more information")
    });
    let without = |part: &str| {
        let part = part.strip_prefix("error: ").unwrap_or(part);
        part.strip_prefix("tip: ").unwrap_or(part).to_owned()
    };
    let parts: Vec<String> = parts.map(without).collect();
    format!(
        "{}; `--help` says what there is",
        parts.join("; ").replace(":;", ":")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::CommandLine;
    use clap::Parser;

    #[test]
    fn a_wrong_command_line_is_one_line_with_what_would_be_right() {
        let error =
            CommandLine::try_parse_from(["wakepath-fleet", "boards", "--inventry"]).unwrap_err();
        assert_eq!(
            one_line(&error.render().to_string()),
            "unexpected argument '--inventry' found; a similar argument exists: '--inventory'; `--help` says what there is"
        );
    }
}
