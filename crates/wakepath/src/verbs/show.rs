//! `wakepath show`: a recorded run, judged again by the scenario that it was measured for.

use super::progress::assessed;
use super::{Outcome, opened, print_result};
use crate::command_line::Show;
use std::process::ExitCode;
use wakepath_report::{Style, ToText, to_json};

/// Reads and judges.
pub fn run(arguments: &Show) -> Outcome {
    let run = opened(&arguments.run, arguments.json)?;
    let findings = run.check()?;
    let (assessment, _) = assessed(&run, false)?;
    let text = match arguments.json {
        true => to_json(&assessment),
        false => assessment.to_text(Style::of_stdout()),
    };
    print_result(arguments.json, &text)?;
    // An archive that is not as it was written says nothing, whatever its figures.
    if !findings.is_empty() {
        let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
        return Err(format!("{}: {}", arguments.run.display(), findings.join("; ")).into());
    }
    Ok(ExitCode::from(assessment.exit_code()))
}
