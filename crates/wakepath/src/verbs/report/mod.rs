//! `wakepath report`: recorded runs as one HTML file that needs nothing else, and each figure as
//! an SVG file.

mod open;
mod pdf;
mod svg;

pub(super) use svg::write_figures;

use crate::command_line::Report;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wakepath_archive::{Manifest, Run, may_add};
use wakepath_assess::explanation::kept;
use wakepath_assess::watched::{Ros2Figures, Ros2File};
use wakepath_assess::{Assessment, BoundOrder, Bounds, BoundsError, Picture, Trial};
use wakepath_console::progress::assessed;
use wakepath_console::terminal::{OneLine, print, tell};
use wakepath_console::{Outcome, place, runs};
use wakepath_directory::Directory;
use wakepath_explain::Explanation;
use wakepath_report::{Figures, Reported, Titles, page, trial_page};
use wakepath_timeline::one_line;

type Failure = Box<dyn std::error::Error>;

/// Name of the report in a run directory.
pub const NAME: &str = "report.html";

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
            let place = Directory::to_write(only, place::trust(arguments.trust_directory))?;
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
        let count = svg::write_all(directory, &drawn)?;
        text += &format!("figures: {count} in {}\n", directory.in_one_line());
    }
    print(&text)?;
    if arguments.open {
        // It is written: that nobody could be shown it takes nothing from that.
        open::open(&output).unwrap_or_else(|why| tell!("warning: {why}"));
    }
    Ok(ExitCode::SUCCESS)
}

struct Drawn {
    manifest: Manifest,
    explanation: Option<Explanation>,
    callbacks: Vec<Ros2Figures>,
    assessment: Assessment,
    bounds: Option<Bounds>,
    pictures: Vec<Picture>,
    figures: Figures,
}

/// A run's evidence about its largest latency. One without a cycle has none.
fn bounds(run: &Run) -> Result<Option<Bounds>, BoundsError> {
    match Bounds::of(run, &BoundOrder::default()) {
        Ok(bounds) => Ok(Some(bounds)),
        Err(BoundsError::NoValues { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn draw(directory: &Path) -> Result<Drawn, Failure> {
    let run = Run::open(directory)?;
    let (assessment, pictures) = assessed(&run, true)?;
    let explanation = kept(run.directory())?;
    let figures = Figures::of(&assessment, &pictures, explanation.as_ref())
        .with_windows(&wakepath_assess::stored_windows(&run)?);
    Ok(Drawn {
        callbacks: Ros2File::read(run.directory())?,
        bounds: bounds(&run)?,
        manifest: run.manifest,
        explanation,
        assessment,
        pictures,
        figures,
    })
}

/// The report of a trial, in its directory: the table of the steps above the first and the last run.
pub fn of_trial(directory: &Path, trial: &Trial) -> Result<PathBuf, Failure> {
    let drawn = [&trial.before, &trial.after]
        .into_iter()
        .map(|run| draw(Path::new(&run.run)))
        .collect::<Result<Vec<_>, Failure>>()?;
    let path = directory.join(NAME);
    write(&path, &trial_page(trial, &reported(&drawn)))?;
    Ok(path)
}

/// The report of a run that was just measured, next to its recording.
pub fn beside(
    run: &Run,
    directory: &Directory,
    assessment: &Assessment,
    pictures: &[Picture],
) -> Result<PathBuf, Failure> {
    let explanation = kept(run.directory())?;
    let figures = Figures::of(assessment, pictures, explanation.as_ref());
    let bounds = bounds(run)?;
    let reported = Reported {
        manifest: &run.manifest,
        explanation: explanation.as_ref(),
        callbacks: &Ros2File::read(run.directory())?,
        assessment,
        bounds: bounds.as_ref(),
        pictures,
        figures: &figures,
    };
    put(directory, NAME, &page(&[reported], &Titles::default()))?;
    Ok(directory.path_of(NAME))
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

fn reported(drawn: &[Drawn]) -> Vec<Reported<'_>> {
    drawn
        .iter()
        .map(|run| Reported {
            manifest: &run.manifest,
            explanation: run.explanation.as_ref(),
            callbacks: &run.callbacks,
            assessment: &run.assessment,
            bounds: run.bounds.as_ref(),
            pictures: &run.pictures,
            figures: &run.figures,
        })
        .collect()
}

/// Through a temporary name, so that a full disk leaves no half of a report.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    Ok(wakepath_directory::replace(path, text.as_bytes())?)
}

/// Puts a file of a run in place.
pub(super) fn put(directory: &Directory, name: &str, text: &str) -> Result<(), Failure> {
    directory
        .put(name, text.as_bytes())
        .map_err(|error| format!("{}: {error}", directory.path_of(name).display()).into())
}
