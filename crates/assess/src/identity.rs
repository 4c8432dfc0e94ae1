//! Which run it is, and the terms that it was measured on.

use crate::error::AssessmentError;
use serde::Serialize;
use wakepath_archive::{Ending, Invocation, QuickCheck, Run};
use wakepath_scenario::{KnownCpus, Scenario};

/// Which run it is.
#[derive(Debug, Clone, Serialize)]
pub struct RunIdentity {
    /// Unique name.
    pub run_id: String,
    /// Its path.
    pub directory: String,
    /// Start, RFC 3339 in UTC.
    pub started: String,
    /// The wakepath that measured.
    pub wakepath: String,
    /// Name of the scenario.
    pub scenario: String,
    /// The command line that repeats it.
    pub command: Vec<String>,
    /// The same in parts; none for a run that no command repeats.
    #[serde(skip)]
    pub invocation: Option<Invocation>,
    /// Terms of a quick check.
    #[serde(skip)]
    pub quick: Option<QuickCheck>,
    /// How the run ended.
    pub ending: Ending,
    /// Whether it was put together by `wakepath recover`.
    pub recovered: bool,
    /// The run's own notes.
    pub notes: Vec<String>,
}

/// The run's own scenario.
pub(crate) fn scenario_of(run: &Run) -> Result<Scenario, AssessmentError> {
    // The run's own machine had these CPUs; this one need not have them.
    let known = KnownCpus::first(1024);
    let toml = &run.manifest.scenario.toml;
    Ok(Scenario::parse(toml, "scenario of the run", &known)?)
}

pub(crate) fn identity(run: &Run) -> RunIdentity {
    let manifest = &run.manifest;
    let quick = manifest.quick.iter();
    RunIdentity {
        run_id: manifest.run_id.clone(),
        directory: run.directory().display().to_string(),
        started: manifest.started.clone(),
        wakepath: manifest.tool.version.clone(),
        scenario: manifest.scenario.name.clone(),
        command: manifest.command.clone(),
        invocation: manifest.invocation.clone(),
        quick: manifest.quick,
        ending: manifest.ending.clone(),
        recovered: manifest.recovered.is_some(),
        notes: manifest
            .notes
            .iter()
            .cloned()
            .chain(quick.map(|terms| format!("--quick: {terms}")))
            .collect(),
    }
}
