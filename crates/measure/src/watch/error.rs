//! Why a program can't be watched, or a watch not be recorded.

use super::StartError;
use crate::NotTraced;
use std::io;
use wakepath_archive::ArchiveError;
use wakepath_archive::watch::SessionError;
use wakepath_assess::watched::KeptFiguresError;
use wakepath_scenario::ScenarioErrors;

/// Why a watch can't continue.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// There is no tracing.
    #[error("can't watch: {0}")]
    NotTraced(NotTraced),
    /// The trace could not be written.
    #[error("the trace is lost: {0}")]
    TraceLost(NotTraced),
    /// It reports that the trace is written, but it is not there.
    #[error("there is no trace")]
    NoTrace,
    /// wakepath can't stay off the program's CPUs.
    #[error("wakepath can't be kept off the program's CPUs: {0}")]
    Affinity(io::Error),
    /// The program can't be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The watch's session can't be kept.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// Trace or run can't be read or written.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The figures of chains can't be written.
    #[error(transparent)]
    Chains(#[from] KeptFiguresError),
    /// The machine's facts can't be written down.
    #[error("the machine's facts can't be written as JSON: {0}")]
    Facts(serde_json::Error),
    /// The observations do not fit a scenario.
    #[error(transparent)]
    Scenario(#[from] ScenarioErrors),
    /// The run can't be named.
    #[error("the run can't be started: {0}")]
    Begin(io::Error),
}
