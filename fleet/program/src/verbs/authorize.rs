//! `wakepath-fleet authorize`: prints the line that restricts a board's account to the board's
//! script.
//!
//! The board's administrator adds it to the account.

use super::Outcome;
use crate::command_line::Authorize;
use crate::terminal::print;
use std::process::ExitCode;
use wakepath_evidence::PublicKey;

/// Prints it.
pub fn run(arguments: &Authorize) -> Outcome {
    let directory = &arguments.directory;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    if !directory.starts_with('/') || !directory.chars().all(is_plain) {
        return Err(format!(
            "--directory {directory:?}: an absolute path of letters, digits, `.`, `_`, `-` and `/`"
        )
        .into());
    }
    let path = arguments.key.display();
    let text = std::fs::read_to_string(&arguments.key).map_err(|e| format!("{path}: {e}"))?;
    let key = PublicKey::from_line(&text).map_err(|error| format!("{path}: {error}"))?;
    print(&format!(
        "restrict,command=\"sh {directory}/board restricted\" {} wakepath-fleet\n",
        key.line()
    ))?;
    Ok(ExitCode::SUCCESS)
}
