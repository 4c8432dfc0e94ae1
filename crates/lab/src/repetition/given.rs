//! Kernels that the user gives for rows of an experiment.

use crate::{ExperimentError, LabError, Result};
use std::path::{Path, PathBuf};
use wakepath_experiments::{Given, all};
use wakepath_scenario::Scenario;

/// A user's kernel for a row of an experiment.
#[derive(Debug, Clone)]
pub struct GivenKernel {
    /// The experiment's [`Given::key`].
    pub key: String,
    /// Its bzImage.
    pub kernel: String,
}

impl GivenKernel {
    /// From `NAME=BZIMAGE`.
    ///
    /// # Errors
    /// [`ExperimentError::NoGivenKernel`] for a name that no experiment has, or if the file doesn't exist.
    pub fn parse(text: &str) -> Result<Self> {
        let refused = |fault: String| {
            LabError::from(ExperimentError::NoGivenKernel {
                given: text.to_owned(),
                fault,
            })
        };
        let keys: Vec<&str> = all()
            .iter()
            .flat_map(|experiment| experiment.given)
            .map(|given| given.key)
            .collect();
        let known = format!("give NAME=BZIMAGE, with NAME one of {}", keys.join(", "));
        let Some((key, kernel)) = text.split_once('=') else {
            return Err(refused(known));
        };
        if !keys.contains(&key) {
            return Err(refused(format!(
                "no experiment has a kernel {key}; {known}"
            )));
        }
        if !Path::new(kernel).is_file() {
            return Err(refused(format!("{kernel} is not a file; {known}")));
        }
        Ok(Self {
            key: key.to_owned(),
            kernel: kernel.to_owned(),
        })
    }
}

/// A given kernel's part of a repetition.
pub struct GivenGuest {
    /// Which of the experiment's.
    pub given: &'static Given,
    /// The scenario with its policies.
    pub scenario: Scenario,
    /// Directory of its runs.
    pub place: PathBuf,
    /// Whether they are there already.
    pub is_there: bool,
    /// The existing ones.
    pub done: Vec<PathBuf>,
    pub(super) kernel: String,
}
