//! `wakepath lab diff`: the first cycle at which two runs part.

use crate::command_line::LabDiff;
use crate::verbs::{Outcome, print};
use std::path::Path;
use std::process::ExitCode;
use wakepath_archive::Run;
use wakepath_lab::{Stream, first_divergence};

type Failure = Box<dyn std::error::Error>;

/// Exit code 0 where every field of every sample is the same, 2 where the runs part.
pub fn run(arguments: &LabDiff) -> Outcome {
    let (first, second) = (streams(&arguments.first)?, streams(&arguments.second)?);
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
    print(&text)?;
    Ok(ExitCode::from(if divergence.is_some() { 2 } else { 0 }))
}

/// All samples of a run, in the order of execution.
pub(super) fn streams(directory: &Path) -> Result<Vec<Stream>, Failure> {
    let run = Run::open(directory)?;
    if run.manifest.virtual_time.is_none() {
        return Err(format!(
            "{}: not in virtual time: two such runs part at once and by chance; `wakepath show` \
             shows each",
            directory.display()
        )
        .into());
    }
    let mut streams = Vec::new();
    for segment in &run.manifest.segments {
        for thread in &segment.threads {
            streams.push(Stream {
                segment: segment.segment,
                thread: thread.thread,
                condition: format!("{}, {}", segment.condition, segment.phase),
                samples: run.samples(segment.segment, thread.thread)?,
            });
        }
    }
    Ok(streams)
}
