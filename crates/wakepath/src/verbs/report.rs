//! `wakepath report`: recorded runs as one HTML file that needs nothing else, and each figure as
//! an SVG file.

use super::progress::assessed;
use super::{Outcome, measured, print};
use crate::command_line::Report;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wakepath_archive::{Manifest, Run};
use wakepath_assess::{Assessment, Picture, Trial};
use wakepath_directory::{Directory, Trust};
use wakepath_explain::Explanation;
use wakepath_report::{Figure, Figures, Reported, page, trial_page};

type Failure = Box<dyn std::error::Error>;

/// Name of the report in a run directory.
pub const NAME: &str = "report.html";

/// Reads, judges, draws and writes.
pub fn run(arguments: &Report) -> Outcome {
    let output = match (&arguments.output, &arguments.runs[..]) {
        (Some(output), _) => output.clone(),
        (None, [only]) => {
            // It is said before the report is drawn.
            Directory::to_write(only, measured::trust(arguments.trust_directory))?;
            only.join(NAME)
        }
        (None, _) => {
            return Err("several runs make one report: say where to put it with --output".into());
        }
    };
    let directories = arguments.runs.iter();
    let drawn: Vec<Drawn> = directories
        .map(|run| draw(run))
        .collect::<Result<_, Failure>>()?;
    write_page(&output, &drawn)?;
    let mut text = format!("report: {}\n", output.display());
    if let Some(directory) = &arguments.svg {
        let count = write_all_figures(directory, &drawn)?;
        text += &format!("figures: {count} in {}\n", directory.display());
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

struct Drawn {
    manifest: Manifest,
    explanation: Option<Explanation>,
    assessment: Assessment,
    pictures: Vec<Picture>,
    figures: Figures,
}

fn draw(directory: &Path) -> Result<Drawn, Failure> {
    let run = Run::open(directory)?;
    let (assessment, pictures) = assessed(&run, true)?;
    let explanation = explanation(&run)?;
    let figures = Figures::of(&assessment, &pictures, explanation.as_ref())
        .with_windows(&wakepath_lab::kept_windows(&run)?);
    Ok(Drawn {
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

/// The report of a run that was just measured, beside its recording.
pub fn beside(
    run: &Run,
    directory: &Directory,
    assessment: &Assessment,
    pictures: &[Picture],
) -> Result<PathBuf, Failure> {
    let explanation = explanation(run)?;
    let figures = Figures::of(assessment, pictures, explanation.as_ref());
    let reported = Reported {
        manifest: &run.manifest,
        explanation: explanation.as_ref(),
        assessment,
        pictures,
        figures: &figures,
    };
    put(directory, NAME, &page(&[reported]))?;
    Ok(directory.path_of(NAME))
}

fn write_page(output: &Path, drawn: &[Drawn]) -> Result<(), Failure> {
    write(output, &page(&reported(drawn)))
}

fn reported(drawn: &[Drawn]) -> Vec<Reported<'_>> {
    drawn
        .iter()
        .map(|run| Reported {
            manifest: &run.manifest,
            explanation: run.explanation.as_ref(),
            assessment: &run.assessment,
            pictures: &run.pictures,
            figures: &run.figures,
        })
        .collect()
}

/// What was written beside a traced run when it ended; `None` for a run that was not traced.
pub(super) fn explanation(run: &Run) -> Result<Option<Explanation>, Failure> {
    let path = run.directory().join(Explanation::FILE_NAME);
    let text = match std::fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("{}: {error}", path.display()).into()),
    };
    let remedy = "remove it, and the report does without causes";
    let found: Explanation = serde_json::from_slice(&text)
        .map_err(|error| format!("{}: not an explanation: {error}; {remedy}", path.display()))?;
    if found.version > Explanation::VERSION {
        return Err(format!("{}: written by a newer wakepath; {remedy}", path.display()).into());
    }
    Ok(Some(found))
}

/// One file for each figure; those of several runs are told apart by a number in front.
fn write_all_figures(directory: &Path, drawn: &[Drawn]) -> Result<usize, Failure> {
    let mut count = 0;
    for (number, run) in drawn.iter().enumerate() {
        let prefix = match drawn.len() {
            1 => String::new(),
            _ => format!("{}-", number + 1),
        };
        count += write_figures(directory, &prefix, run.figures.all())?;
    }
    Ok(count)
}

/// One file for each figure, with `prefix` before its name.
pub(super) fn write_figures<'a>(
    directory: &Path,
    prefix: &str,
    figures: impl Iterator<Item = &'a Figure>,
) -> Result<usize, Failure> {
    let directory = Directory::make(directory, Trust::Any)?;
    let mut names: Vec<String> = Vec::new();
    for figure in figures {
        // Two phases may differ only in what a file's name can't hold.
        let alike = names.iter().filter(|name| **name == figure.name).count();
        let more = if alike == 0 {
            String::new()
        } else {
            format!("-{}", alike + 1)
        };
        names.push(figure.name.clone());
        let name = format!("{prefix}{}{more}.svg", figure.name);
        put(&directory, &name, &figure.to_svg())?;
    }
    Ok(names.len())
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
