//! A trial for a terminal.

use crate::command_line::TuneTrial;
use std::fmt::{Error, Write};
use wakepath_assess::{Trial, TrialEffect};

/// The table of the steps, before and after, and how to take it.
pub fn of(trial: &Trial, arguments: &TuneTrial) -> Result<String, Error> {
    let mut text = String::new();
    let effect = |effect: Option<TrialEffect>| {
        effect.map_or_else(|| "–".to_owned(), |effect| effect.to_string())
    };
    writeln!(
        text,
        "{:<16} {:>30} {:>34}  {:<16} then",
        "step", "misses, % of due times", "p99 of wake-up latency, µs", "finding"
    )?;
    for one in &trial.steps {
        writeln!(
            text,
            "{:<16} {:>30} {:>34}  {:<16} {}",
            one.step,
            effect(one.misses),
            effect(one.p99),
            one.finding,
            if one.kept { "kept" } else { "taken back" }
        )?;
    }
    writeln!(
        text,
        "\n{:<16} {:>10} {:>10} {:>10} {:>10}  verdict",
        "", "due", "missed", "p99, µs", "max, µs"
    )?;
    for (name, run) in [("before", &trial.before), ("with what helps", &trial.after)] {
        writeln!(
            text,
            "{name:<16} {:>10} {:>10} {:>10.1} {:>10.1}  {}",
            run.due, run.missed, run.p99_us, run.max_us, run.outcome
        )?;
    }
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
