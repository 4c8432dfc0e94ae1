//! `wakepath lab diff`: known differences of two runs, and the first cycle at which they part.

use super::command_line::LabDiff;
use std::process::ExitCode;
use wakepath_archive::Run;
use wakepath_console::terminal::print_result;
use wakepath_console::{Outcome, runs};
use wakepath_lab::{first_divergence, known_differences, known_differences_text, streams};

/// Exit code 0 where every field of every sample is the same, 2 where the runs part.
pub fn run(arguments: &LabDiff) -> Outcome {
    let first = runs::find(Some(&arguments.first))?;
    let second = runs::find(Some(&arguments.second))?;
    let known = known_differences(&Run::open(&first)?.manifest, &Run::open(&second)?.manifest);
    let (first, second) = (streams(&first)?, streams(&second)?);
    let divergence = first_divergence(&first, &second);
    let samples: usize = first.iter().map(|stream| stream.samples.len()).sum();
    let text = match (&divergence, arguments.json) {
        (_, true) => {
            let found = serde_json::json!({
                "samples": samples, "known_differences": known, "divergence": divergence,
            });
            format!("{found:#}\n")
        }
        (None, false) => format!(
            "{}the same: {samples} samples, every nanosecond of every one\n",
            known_differences_text(&known)
        ),
        (Some(found), false) if known.is_empty() => {
            format!("{found}\nthe manifests record no other difference\n")
        }
        (Some(found), false) => format!("{}{found}\n", known_differences_text(&known)),
    };
    print_result(arguments.json, &text)?;
    Ok(ExitCode::from(if divergence.is_some() { 2 } else { 0 }))
}
