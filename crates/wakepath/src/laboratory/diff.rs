//! `wakepath lab diff`: the first cycle at which two runs part.

use super::command_line::LabDiff;
use crate::runs;
use crate::verbs::{Outcome, print_result};
use std::process::ExitCode;
use wakepath_lab::{first_divergence, streams};

/// Exit code 0 where every field of every sample is the same, 2 where the runs part.
pub fn run(arguments: &LabDiff) -> Outcome {
    let (first, second) = (
        streams(&runs::find(Some(&arguments.first))?)?,
        streams(&runs::find(Some(&arguments.second))?)?,
    );
    let divergence = first_divergence(&first, &second);
    let samples: usize = first.iter().map(|stream| stream.samples.len()).sum();
    let text = match (&divergence, arguments.json) {
        (_, true) => {
            let found = serde_json::json!({ "samples": samples, "divergence": divergence });
            format!("{found:#}\n")
        }
        (None, false) => {
            format!("the same: {samples} samples, every nanosecond of every one\n")
        }
        (Some(found), false) => format!("{found}\n"),
    };
    print_result(arguments.json, &text)?;
    Ok(ExitCode::from(if divergence.is_some() { 2 } else { 0 }))
}
