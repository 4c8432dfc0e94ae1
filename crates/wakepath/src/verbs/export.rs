//! `wakepath export`: a run in another form, on standard output.

use crate::command_line::{Export, ExportFormat};
use crate::open_run::opened;
use std::io::{BufWriter, ErrorKind};
use std::process::ExitCode;
use wakepath_archive::{Finding, Run};
use wakepath_assess::Assessment;
use wakepath_console::terminal::{self, OneLine, print_result, print_whole, tell};
use wakepath_console::{Outcome, runs};
use wakepath_report::{
    CsvError, McapExportError, csv, junit, markdown, mcap, open_metrics, to_json,
};

/// Maximum number of lines about a run's faults.
const MOST_SAID: usize = 3;

/// Reads and writes.
pub fn run(arguments: &Export) -> Outcome {
    let form: fn(&Assessment) -> String = match arguments.format {
        ExportFormat::Csv => return samples(arguments),
        ExportFormat::Mcap => return messages(arguments),
        ExportFormat::Json => to_json,
        ExportFormat::OpenMetrics => open_metrics,
        ExportFormat::Markdown => markdown,
        ExportFormat::JUnit => junit,
    };
    let assessment = Assessment::new(&open(arguments)?)?;
    let text = form(&assessment);
    if arguments.format == ExportFormat::Json {
        print_result(true, &text)?
    } else {
        print_whole(&text)?
    }
    Ok(ExitCode::SUCCESS)
}

/// An archive that differs from the written one is not passed on. One that was cut short, or whose
/// counts don't add up, is, with its faults: the reader sees them on standard error, or in the
/// verdict, which is invalid.
fn open(arguments: &Export) -> Result<Run, Box<dyn std::error::Error>> {
    let directory = runs::find(arguments.run.as_deref())?;
    let run = opened(&directory, arguments.format == ExportFormat::Json)?;
    let findings = run.check()?;
    let shown = directory.in_one_line();
    if let Some(altered) = findings.iter().find(|of| matches!(of, Finding::File(_))) {
        return Err(format!("{shown}: {altered}").into());
    }
    for finding in findings.iter().take(MOST_SAID) {
        tell!("note: {shown}: {finding}");
    }
    if findings.len() > MOST_SAID {
        tell!("note: {shown}: and {} more", findings.len() - MOST_SAID);
    }
    Ok(run)
}

fn samples(arguments: &Export) -> Outcome {
    let run = open(arguments)?;
    let mut out = BufWriter::with_capacity(1 << 16, terminal::stream());
    match csv(&run, &mut out) {
        // A reader that has had enough is no error.
        Err(CsvError::Write(error)) if error.kind() == ErrorKind::BrokenPipe => {
            // The rest of the buffer has no reader either.
            let _ = out.into_parts();
            Ok(ExitCode::SUCCESS)
        }
        written => {
            written?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn messages(arguments: &Export) -> Outcome {
    let Some(out) = terminal::bytes() else {
        return Err("--format mcap is not text: write it into a file with > run.mcap".into());
    };
    let run = open(arguments)?;
    let mut out = BufWriter::with_capacity(1 << 16, out);
    match mcap(&run, &mut out) {
        // A reader that has had enough is no error.
        Err(McapExportError::Write(error)) if error.kind() == ErrorKind::BrokenPipe => {
            // The rest of the buffer has no reader either.
            let _ = out.into_parts();
            Ok(ExitCode::SUCCESS)
        }
        written => {
            written?;
            Ok(ExitCode::SUCCESS)
        }
    }
}
