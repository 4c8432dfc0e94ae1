//! `wakepath export`: a run in another form, on standard output.

use super::{Outcome, print};
use crate::command_line::Export;
use std::io::{BufWriter, ErrorKind};
use std::process::ExitCode;
use wakepath_archive::Run;
use wakepath_assess::Assessment;
use wakepath_report::{CsvError, csv, markdown, open_metrics, to_json};

/// Reads and writes.
pub fn run(arguments: &Export) -> Outcome {
    let form: fn(&Assessment) -> String = match arguments.format.as_str() {
        "csv" => return samples(arguments),
        "json" => to_json,
        "openmetrics" => open_metrics,
        "markdown" => markdown,
        other => {
            return Err(format!(
                "--format {other}: csv, json, openmetrics and markdown are known; the run \
                 directory itself has Parquet"
            )
            .into());
        }
    };
    let assessment = Assessment::of(&open(arguments)?)?;
    print(&form(&assessment))?;
    Ok(ExitCode::SUCCESS)
}

/// An archive that is not as it was written is not passed on.
fn open(arguments: &Export) -> Result<Run, Box<dyn std::error::Error>> {
    let run = Run::open(&arguments.run)?;
    match run.check()?.first() {
        Some(finding) => Err(format!("{}: {finding}", arguments.run.display()).into()),
        None => Ok(run),
    }
}

fn samples(arguments: &Export) -> Outcome {
    let run = open(arguments)?;
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    match csv(&run, &mut out) {
        // A reader that has had enough is no error.
        Err(CsvError::Write(error)) if error.kind() == ErrorKind::BrokenPipe => {
            // What is left in the buffer has no reader either.
            let _ = out.into_parts();
            Ok(ExitCode::SUCCESS)
        }
        written => {
            written?;
            Ok(ExitCode::SUCCESS)
        }
    }
}
