//! `wakepath tiers`: which timing tiers this machine's policies reach, by the evidence of a run, and how finely
//! a pin can be driven, by that of a second line.

mod pin;

use crate::command_line::Tiers;
use crate::open_run::opened;
use std::process::ExitCode;
use wakepath_console::terminal::print_result;
use wakepath_console::{Outcome, runs};
use wakepath_report::{Style, ToText, tiers_in_short, to_json};

/// Judges a run by each tier; drives a pin first if given.
pub fn run(arguments: &Tiers) -> Outcome {
    let lines = pin::lines(arguments)?;
    let directory = runs::find(arguments.run.as_deref())?;
    let run = opened(&directory, arguments.json)?;
    if let Some(lines) = lines {
        pin::drive(arguments, lines, &run)?;
    }
    let tiers = wakepath_assess::Tiers::new(&run)?;
    let style = Style::of_stdout();
    let text = match (arguments.json, arguments.all) {
        (true, _) => to_json(&tiers),
        (false, true) => tiers.to_text(style),
        (false, false) => tiers_in_short(&tiers, style, &runs::word_for(&directory)),
    };
    print_result(arguments.json, &text)?;
    Ok(ExitCode::from(tiers.exit_code()))
}
