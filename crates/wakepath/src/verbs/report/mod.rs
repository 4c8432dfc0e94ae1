//! `wakepath report`: recorded runs as one HTML file that needs nothing else, and each figure as
//! an SVG file.

mod open;
mod pdf;

use crate::command_line::Report;
use crate::report_files::{Drawn, NAME, draw, reported, write, write_all_figures};
use std::process::ExitCode;
use wakepath_archive::may_add;
use wakepath_console::terminal::{OneLine, print, tell};
use wakepath_console::{Outcome, run_directory, runs};
use wakepath_directory::Directory;
use wakepath_report::{Titles, page};
use wakepath_timeline::one_line;

type Failure = Box<dyn std::error::Error>;

/// Reads, judges, draws and writes.
pub fn run(arguments: &Report) -> Outcome {
    let directories = match &arguments.runs[..] {
        [] => vec![runs::find(None)?],
        some => runs::find_all(some)?,
    };
    let output = match (&arguments.output, &directories[..]) {
        (Some(output), _) => output.clone(),
        (None, [only]) => {
            // Refuse before the report is drawn.
            let place = Directory::to_write(only, run_directory::trust(arguments.trust_directory))?;
            may_add(&place).map_err(|error| format!("{error} with --output"))?;
            only.join(NAME)
        }
        (None, _) => {
            return Err("several runs make one report: say where to put it with --output".into());
        }
    };
    let titles = titles(arguments)?;
    // Reported before anything is written.
    let printer = arguments.pdf.then(pdf::program).transpose()?;
    let drawn: Vec<Drawn> = directories
        .iter()
        .map(|run| draw(run))
        .collect::<Result<_, Failure>>()?;
    write(&output, &page(&reported(&drawn), &titles))?;
    let mut text = format!("report: {}\n", output.in_one_line());
    if let Some(printer) = &printer {
        let unfolded = Titles {
            unfolded: true,
            ..titles
        };
        let to = output.with_extension("pdf");
        let printed = pdf::printed(printer, &page(&reported(&drawn), &unfolded), &output)?;
        wakepath_directory::replace(&to, &printed)?;
        text += &format!("pdf: {}\n", to.in_one_line());
    }
    if let Some(directory) = &arguments.svg {
        let count = write_all_figures(directory, &drawn)?;
        text += &format!("figures: {count} in {}\n", directory.in_one_line());
    }
    print(&text)?;
    if arguments.open {
        // It is written: that nobody could be shown it takes nothing from that.
        open::open(&output).unwrap_or_else(|why| tell!("warning: {why}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// So many characters a line of a report's head holds.
const LONGEST: usize = 200;

/// Titles of the report from the command line, each in one line.
fn titles(arguments: &Report) -> Result<Titles, Failure> {
    let of = |option: &str, text: &Option<String>| -> Result<Option<String>, Failure> {
        let Some(text) = text else { return Ok(None) };
        let line = one_line(text).trim().to_owned();
        match line.chars().count() {
            1..=LONGEST => Ok(Some(line)),
            0 => Err(format!("{option}: it is empty; leave it out for none").into()),
            many => Err(format!("{option}: {many} characters; at most {LONGEST} fit").into()),
        }
    };
    Ok(Titles {
        title: of("--title", &arguments.title)?,
        customer: of("--customer", &arguments.customer)?,
        author: of("--author", &arguments.author)?,
        unfolded: false,
    })
}
