//! `wakepath tiers`: which timing tiers this machine's policies reach, by the evidence of a run, and how finely
//! a pin can be driven, by that of a second line.

mod pin;

use super::opened;
use crate::command_line::Tiers;
use std::process::ExitCode;
use wakepath_console::terminal::print_result;
use wakepath_console::{Outcome, runs};
use wakepath_report::{Style, ToText, to_json};

/// Judges a run by each tier; drives a pin first if given.
pub fn run(arguments: &Tiers) -> Outcome {
    let lines = pin::lines(arguments)?;
    let run = opened(&runs::find(arguments.run.as_deref())?, arguments.json)?;
    if let Some(lines) = lines {
        pin::drive(arguments, lines, &run)?;
    }
    let tiers = wakepath_assess::Tiers::of(&run)?;
    let text = match arguments.json {
        true => to_json(&tiers),
        false => tiers.to_text(Style::of_stdout()),
    };
    print_result(arguments.json, &text)?;
    Ok(ExitCode::from(tiers.exit_code()))
}
