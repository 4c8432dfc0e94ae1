//! Errors of repeated experiments.

use crate::divergence::Divergence;
use std::path::PathBuf;

/// Error of a repeated experiment.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// A kernel that no experiment uses.
    #[error("--kernel {given}: {fault}")]
    NoGivenKernel {
        /// The given text.
        given: String,
        /// The reason, with a valid form.
        fault: String,
    },
    /// A file of claims can't be used.
    #[error("{}: {fault}; restore it, or give another --directory", file.display())]
    Claims {
        /// The file.
        file: PathBuf,
        /// The reason.
        fault: wakepath_experiments::ClaimsError,
    },
    /// No experiment has that name.
    #[error(
        "{name}: no experiment; there are {}",
        wakepath_experiments::all().iter().map(|one| one.name).collect::<Vec<_>>().join(", ")
    )]
    NoExperiment {
        /// The name.
        name: String,
    },
    /// A directory without pages of experiments.
    #[error("{}: no page of an experiment has its entry here (NAME.json)", place.display())]
    NoPages {
        /// The directory.
        place: PathBuf,
    },
    /// A page of the laboratory next to one of a board: no index is of both.
    #[error(
        "{}: this page's experiment was repeated in another setting (laboratory or board), and an index is of one; \
         give another --page", file.display()
    )]
    OtherPages {
        /// The entry of the other page.
        file: PathBuf,
    },
    /// Something else is in the place of an experiment's runs.
    #[error(
        "{}: no whole run of this experiment; remove {} or give another --directory",
        run.display(), place.display()
    )]
    OtherRuns {
        /// Expected directory of the run.
        run: PathBuf,
        /// Remove this: the experiment's directory, or this run's alone.
        place: PathBuf,
    },
    /// Runs of an experiment by another wakepath, which makes other guests.
    #[error(
        "{}: measured by wakepath {was}; with {now} in the other guests no run is comparable or repeats; name the \
        earlier one with --program, or give another --directory",
        run.display()
    )]
    OtherProgram {
        /// The run.
        run: PathBuf,
        /// Version of the wakepath in its guest.
        was: String,
        /// Version of the one for the guests that are left.
        now: String,
    },
    /// A guest whose two runs differ: conclusions in virtual time would be invalid.
    #[error(
        "{guest}: carried out twice, {divergence}; no page is written. The emulator did not keep its promise: please \
        report it with both runs, {} and {}",
        first.display(), second.display()
    )]
    Diverged {
        /// The guest.
        guest: String,
        /// First difference.
        divergence: Box<Divergence>,
        /// Its first run.
        first: PathBuf,
        /// Its second run.
        second: PathBuf,
    },
}
