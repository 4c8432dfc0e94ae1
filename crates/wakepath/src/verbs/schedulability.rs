//! `wakepath schedulability`: whether a task set always meets its deadlines.

use super::{Outcome, print_result};
use crate::command_line::{FitWord, Schedulability as Arguments, TakenWord};
use std::process::ExitCode;
use wakepath_archive::Run;
use wakepath_assess::{KnownOverheads, Schedulability, Taken};
use wakepath_report::{Style, ToText, to_json};
use wakepath_scenario::TaskSet;
use wakepath_schedulability::{Fit, Question, place};

/// The lowest priority that is given: below it stay the threads of the kernel that must not wait
/// for a control loop.
const LOWEST_PRIORITY: u32 = 1;

/// Analyses and shows.
pub fn run(arguments: &Arguments) -> Outcome {
    let path = arguments.tasks.display().to_string();
    let text = std::fs::read_to_string(&arguments.tasks)
        .map_err(|error| format!("{path}: {error}; give a file with [[tasks]]"))?;
    let mut set = TaskSet::parse(&text, &path, arguments.assign.is_some())?;
    let overheads = overheads(arguments, &set)?;
    let refused = |error: &dyn std::error::Error| format!("{path}: {error}");
    if let Some(fit) = arguments.assign {
        let fit = match fit {
            FitWord::First => Fit::First,
            FitWord::Best => Fit::Best,
            FitWord::Worst => Fit::Worst,
        };
        let question = Question {
            tasks: &set.tasks,
            method: set.method,
            cpus: set.cpus,
            overheads: Some(&overheads),
        };
        set.tasks = place(&question, fit, LOWEST_PRIORITY).map_err(|error| refused(&error))?;
    }
    let answer = Schedulability::of(set, overheads).map_err(|error| refused(&error))?;
    if let Some(output) = &arguments.output {
        std::fs::write(output, answer.set.to_toml())
            .map_err(|error| format!("{}: {error}", output.display()))?;
    }
    let said = match arguments.json {
        true => to_json(&answer),
        false => answer.to_text(Style::of_stdout()),
    };
    print_result(arguments.json, &said)?;
    Ok(ExitCode::from(answer.exit_code()))
}

fn overheads(
    arguments: &Arguments,
    set: &TaskSet,
) -> Result<KnownOverheads, Box<dyn std::error::Error>> {
    if arguments.overheads.is_empty() {
        return Ok(match &set.overheads {
            Some(given) => KnownOverheads::of_file(given),
            None => KnownOverheads::none(),
        });
    }
    let runs: Result<Vec<Run>, _> = arguments
        .overheads
        .iter()
        .map(|run| Run::open(run))
        .collect();
    let taken = match arguments.taken {
        TakenWord::Max => Taken::Maximum,
        TakenWord::P999 => Taken::P999,
        TakenWord::P99 => Taken::P99,
        TakenWord::Median => Taken::Median,
    };
    Ok(KnownOverheads::of_runs(&runs?, taken)?)
}
