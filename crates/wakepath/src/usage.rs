//! A wrong command line, said in one line as every other wrong input. Not the definition of the
//! command line; that is `command_line`.

use crate::terminal::tell;
use clap::error::ErrorKind;
use std::process::ExitCode;

/// Help and version end well, a wrong command line with 1: clap's own 2 means "criterion not met"
/// here, and a script must not read a misspelt option as a verdict.
pub fn answer(said: &clap::Error) -> ExitCode {
    if said.use_stderr() && said.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        tell!("wakepath: {}", one_line(&said.render().to_string()));
    } else {
        // Nobody left to read it changes nothing about the answer.
        let _ = said.print();
    }
    ExitCode::from(u8::from(said.use_stderr()))
}

/// What is wrong and clap's advice, without the repetition of the usage.
fn one_line(rendered: &str) -> String {
    let mut line = String::new();
    for part in rendered.lines().map(str::trim) {
        if part.starts_with("Usage:") || part.starts_with("For more information") {
            continue;
        }
        let part = part.strip_prefix("error: ").unwrap_or(part);
        let part = part.strip_prefix("tip: ").unwrap_or(part);
        if part.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push_str(match line.ends_with(':') || part.starts_with('[') {
                true => " ",
                false => "; ",
            });
        }
        line.push_str(part);
    }
    line.push_str("; `--help` says what there is");
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::CommandLine;
    use clap::Parser;

    fn said(arguments: &[&str]) -> String {
        let arguments = ["wakepath"].iter().chain(arguments);
        let error = CommandLine::try_parse_from(arguments).unwrap_err();
        one_line(&error.render().to_string())
    }

    #[test]
    fn a_wrong_command_line_is_one_line_with_what_would_be_right() {
        assert_eq!(
            said(&["check", "--polcy", "FIFO 80"]),
            "unexpected argument '--polcy' found; a similar argument exists: '--policy'; `--help` \
             says what there is"
        );
        assert_eq!(
            said(&["show"]),
            "the following required arguments were not provided: <RUN>; `--help` says what there is"
        );
        for wrong in [&["chekc"][..], &["completions", "tcsh"]] {
            assert!(!said(wrong).contains('\n'), "{wrong:?}");
        }
    }
}
