//! A trial for a terminal.

use crate::command_line::TuneTrial;
use std::fmt::{Error, Write};
use wakepath_assess::Trial;
use wakepath_report::{Style, trial_before_and_after, trial_steps};

/// The table of the steps, before and after, and how to take it.
pub fn of(trial: &Trial, arguments: &TuneTrial) -> Result<String, Error> {
    let mut text = String::new();
    let columns = Style::of_stdout().columns;
    text += &trial_steps(trial).to_terminal(columns);
    text.push('\n');
    text += &trial_before_and_after(trial).to_terminal(columns);
    writeln!(text, "criterion: {}", trial.criterion)?;
    writeln!(
        text,
        "\ndifferences with − without, mean of {} pairs measured next to each other; the intervals \
         hold together with 95 % (Student's t over the pairs, Bonferroni over steps and figures); \
         runs of {}",
        arguments.pairs, trial.block
    )?;
    writeln!(text, "\nwhat else could have made a difference")?;
    for line in &trial.confounders {
        writeln!(text, "  {line}")?;
    }
    match trial.stays {
        true => writeln!(
            text,
            "what helps stays applied: wakepath tune status, tune revert"
        )?,
        false => writeln!(
            text,
            "everything is taken back; --keep would leave what helps"
        )?,
    }
    Ok(text)
}
