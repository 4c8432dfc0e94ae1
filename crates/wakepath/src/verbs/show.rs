//! `wakepath show`: a recorded run's answer, or everything that it says, judged by the scenario that it
//! was measured for.

use super::progress::assessed;
use super::{Outcome, opened, print_result};
use crate::command_line::Show;
use crate::runs;
use crate::terminal::OneLine;
use std::path::Path;
use std::process::ExitCode;
use wakepath_assess::explanation;
use wakepath_report::{Answer, Shown, Style, ToText, to_json};

/// Reads and judges.
pub fn run(arguments: &Show) -> Outcome {
    let directory = runs::find(arguments.run.as_deref())?;
    if wakepath_service::is_service(&directory) {
        return super::service::show(&directory, arguments);
    }
    let run = opened(&directory, arguments.json)?;
    let (assessment, _) = assessed(&run, false)?;
    let text = match (arguments.json, arguments.details) {
        (true, _) => to_json(&assessment),
        (_, true) => assessment.to_text(Style::of_stdout()),
        _ => text(
            &Answer::of(&assessment, explanation::kept(run.directory())?.as_ref()),
            &directory,
        ),
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
