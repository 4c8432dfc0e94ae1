//! Orders for a recorder in the field, and whether they can be carried out: known before anything
//! is written or started.

use crate::criterion_options;
use crate::metrics::Listening;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use wakepath_console::{VERSION, option_value, run_directory, scenarios};
use wakepath_scenario::units::parse_size;
use wakepath_service::Settings;

/// Less than this holds no minute of a fast loop.
const LEAST_KEPT: u64 = 16 << 20;

/// The recorder's order.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServiceOrder {
    pub(super) settings: Settings,
    /// The program's file, for the segments' names of it.
    pub(super) program: String,
    pub(super) criterion: Option<String>,
    pub(super) metrics: Option<String>,
    pub(super) process: u32,
    pub(super) trusts_directory: bool,
}

/// As it was given.
pub(super) struct ServiceRequest<'a> {
    pub(super) program: String,
    pub(super) command: Vec<String>,
    pub(super) process: u32,
    pub(super) keep: &'a str,
    pub(super) worst: u16,
    pub(super) criterion: Option<&'a str>,
    pub(super) metrics: Option<&'a str>,
    pub(super) trusts_directory: bool,
    pub(super) traces: bool,
}

impl ServiceRequest<'_> {
    /// The order, if it can be carried out.
    pub(super) fn order(self) -> Result<ServiceOrder, Box<dyn std::error::Error>> {
        let keep_bytes = parse_size(self.keep)
            .map_err(|why| option_value::OptionError::new("--keep", self.keep, why))?;
        if keep_bytes < LEAST_KEPT {
            return Err(format!("--keep {}: give 16 MiB or more", self.keep).into());
        }
        let host = scenarios::host_cpus()?;
        if let Some(criterion) = self.criterion {
            let table = criterion_options::parse(criterion)?;
            scenarios::read_scenario(&criterion_options::judged_by(&table)?, "--criterion", &host)?;
        }
        if let Some(address) = self.metrics {
            // The recorder takes it; that it can't is better known now.
            drop(Listening::at(address)?);
        }
        Ok(ServiceOrder {
            settings: Settings {
                keep_bytes,
                worst: self.worst.into(),
                command: self.command,
                version: VERSION.into(),
                resumes: false,
                traces: self.traces,
            },
            program: self.program,
            criterion: self.criterion.map(ToOwned::to_owned),
            metrics: self.metrics.map(ToOwned::to_owned),
            process: self.process,
            trusts_directory: self.trusts_directory,
        })
    }
}

impl ServiceOrder {
    /// The service's directory, created if missing; its whole path.
    pub(super) fn place(&self, directory: &Path) -> Result<PathBuf, Box<dyn std::error::Error>> {
        let trust = run_directory::trust(self.trusts_directory);
        let place = wakepath_service::prepare(directory, trust)?;
        Ok(place.path().canonicalize()?)
    }
}
