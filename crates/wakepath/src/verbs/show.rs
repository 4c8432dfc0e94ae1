//! `wakepath show`: a recorded run's answer, or everything that it says, judged by the scenario that it
//! was measured for.

use super::progress::assessed;
use super::{Outcome, answers, opened, print_result};
use crate::command_line::Show;
use crate::runs;
use crate::terminal::OneLine;
use std::path::Path;
use std::process::ExitCode;
use wakepath_report::{Answer, Shown, Style, ToText, to_json};

/// Reads and judges.
pub fn run(arguments: &Show) -> Outcome {
    let directory = runs::find(arguments.run.as_deref())?;
    if wakepath_service::is_service(&directory) {
        return super::service::show(&directory, arguments);
    }
    let run = opened(&directory, arguments.json)?;
    if !arguments.json && !arguments.details {
        let answer = answers::of(&run)?.answer;
        print_result(false, &text(&answer, &directory))?;
        return Ok(ExitCode::from(answer.exit_code));
    }
    let (assessment, _) = assessed(&run, false)?;
    let text = match arguments.json {
        true => to_json(&assessment),
        false => assessment.to_text(Style::of_stdout()),
    };
    print_result(arguments.json, &text)?;
    Ok(ExitCode::from(assessment.exit_code()))
}

fn text(answer: &Answer, directory: &Path) -> String {
    answer.to_text(&Shown {
        style: Style::of_stdout(),
        run: &runs::word_for(directory),
        recording: &directory.in_one_line(),
        lines_below: 0,
    })
}
