//! Reports and figures of runs, drawn and written.

mod svg;

pub use svg::{write_all_figures, write_figures};

use std::path::{Path, PathBuf};
use wakepath_archive::{Manifest, Run};
use wakepath_assess::explanation::kept;
use wakepath_assess::watched::{KeptFigures, Ros2Figures, ThreadChain};
use wakepath_assess::{Assessment, BoundOrder, Bounds, BoundsError, Picture, Trial};
use wakepath_console::progress::assessed;
use wakepath_directory::Directory;
use wakepath_explain::Explanation;
use wakepath_report::{Figures, Reported, Titles, page, trial_page};

type Failure = Box<dyn std::error::Error>;

/// Name of the report in a run directory.
pub const NAME: &str = "report.html";

/// A run with everything that its report shows.
pub struct Drawn {
    manifest: Manifest,
    explanation: Option<Explanation>,
    callbacks: Vec<Ros2Figures>,
    chains: Vec<ThreadChain>,
    assessment: Assessment,
    bounds: Option<Bounds>,
    pictures: Vec<Picture>,
    figures: Figures,
}

/// A run's evidence about its largest latency. One without a cycle has none.
fn bounds(run: &Run) -> Result<Option<Bounds>, BoundsError> {
    match Bounds::new(run, &BoundOrder::default()) {
        Ok(bounds) => Ok(Some(bounds)),
        Err(BoundsError::NoValues { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads a run, judges it and draws its figures.
pub fn draw(directory: &Path) -> Result<Drawn, Failure> {
    let run = Run::open(directory)?;
    let (assessment, pictures) = assessed(&run, true)?;
    let explanation = kept(run.directory())?;
    let figures = Figures::new(&assessment, &pictures, explanation.as_ref())
        .with_windows(&wakepath_assess::stored_windows(&run)?);
    Ok(Drawn {
        callbacks: Ros2Figures::kept(run.directory())?,
        chains: ThreadChain::kept(run.directory())?,
        bounds: bounds(&run)?,
        manifest: run.manifest,
        explanation,
        assessment,
        pictures,
        figures,
    })
}

/// The report of a trial, in its directory: the table of the steps above the first and the last run.
pub fn write_trial(directory: &Path, trial: &Trial) -> Result<PathBuf, Failure> {
    let drawn = [&trial.before, &trial.after]
        .into_iter()
        .map(|run| draw(Path::new(&run.run)))
        .collect::<Result<Vec<_>, Failure>>()?;
    let path = directory.join(NAME);
    write(&path, &trial_page(trial, &reported(&drawn)))?;
    Ok(path)
}

/// The report of a run that was just measured, next to its recording.
pub fn write_beside(
    run: &Run,
    directory: &Directory,
    assessment: &Assessment,
    pictures: &[Picture],
) -> Result<PathBuf, Failure> {
    let explanation = kept(run.directory())?;
    let figures = Figures::new(assessment, pictures, explanation.as_ref());
    let bounds = bounds(run)?;
    let reported = Reported {
        manifest: &run.manifest,
        explanation: explanation.as_ref(),
        callbacks: &Ros2Figures::kept(run.directory())?,
        chains: &ThreadChain::kept(run.directory())?,
        assessment,
        bounds: bounds.as_ref(),
        pictures,
        figures: &figures,
    };
    put(directory, NAME, &page(&[reported], &Titles::default()))?;
    Ok(directory.path_of(NAME))
}

/// The runs as a page shows them.
pub fn reported(drawn: &[Drawn]) -> Vec<Reported<'_>> {
    drawn
        .iter()
        .map(|run| Reported {
            manifest: &run.manifest,
            explanation: run.explanation.as_ref(),
            callbacks: &run.callbacks,
            chains: &run.chains,
            assessment: &run.assessment,
            bounds: run.bounds.as_ref(),
            pictures: &run.pictures,
            figures: &run.figures,
        })
        .collect()
}

/// Through a temporary name, so that a full disk leaves no half of a report.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    Ok(wakepath_directory::replace(path, text.as_bytes())?)
}

/// Puts a file of a run in place.
pub fn put(directory: &Directory, name: &str, text: &str) -> Result<(), Failure> {
    directory
        .put(name, text.as_bytes())
        .map_err(|error| format!("{}: {error}", directory.path_of(name).display()).into())
}
