//! `wakepath machine`: this host, and this user's privileges on it.

use crate::command_line::Machine;
use std::fmt::Write;
use std::process::ExitCode;
use wakepath_console::Outcome;
use wakepath_console::terminal::print_result;
use wakepath_machine::{Facts, Root};

/// Reads and shows.
pub fn run(arguments: &Machine) -> Outcome {
    let facts = Facts::read(&Root::host());
    let text = if arguments.json {
        format!("{}\n", serde_json::to_string_pretty(&facts)?)
    } else {
        let mut text = String::new();
        for line in facts.summary() {
            writeln!(text, "{:<16} {}", line.topic, line.text)?;
        }
        for (what, permission) in facts.privileges().named() {
            writeln!(text, "{what:<16} {permission}")?;
        }
        text
    };
    print_result(arguments.json, &text)?;
    Ok(ExitCode::SUCCESS)
}
