//! Runs a scenario in each guest of a laboratory.
//!
//! `comparison` evaluates the runs.

use crate::Result;
use crate::guests::{Guest, Limit, Stopped, carry_out_and};
use crate::laboratory::{Laboratory, Task};
use std::path::{Path, PathBuf};
use wakepath_scenario::Scenario;

/// Guests ready to measure.
pub struct Measuring<'a> {
    laboratory: &'a Laboratory<'a>,
    guests: Vec<Guest>,
    limit: Limit,
    run_ns: u64,
}

/// Result of a guest that measures.
#[derive(Debug)]
pub struct Recorded {
    /// Kernel and variant.
    pub guest: String,
    /// Its run directory.
    pub directory: PathBuf,
    /// Whether its run is there, in its final form.
    pub outcome: Result<()>,
}

impl<'a> Measuring<'a> {
    /// Prepares a guest for each kernel, variant and seed.
    ///
    /// # Errors
    /// If a guest would lack something.
    pub fn prepare(
        laboratory: &'a Laboratory<'a>,
        scenario: &Scenario,
        seeds: &[u64],
        directory: &Path,
    ) -> Result<Self> {
        let task = Task {
            command: None,
            scenario: Some(scenario),
            hunt: None,
            seeds,
        };
        Ok(Self {
            limit: laboratory.limit(&task)?,
            guests: laboratory.guests(&task, directory)?,
            run_ns: scenario.estimated_run_ns(),
            laboratory,
        })
    }

    /// Has its one guest repeat the run in that directory: it is stopped at the first segment that differs.
    pub fn repeating(mut self, first: PathBuf) -> Self {
        for guest in &mut self.guests {
            guest.repeats = Some(first.clone());
        }
        self
    }

    /// Leaves the guests out whose runs are there.
    pub fn without(mut self, done: &[PathBuf]) -> Self {
        self.guests.retain(|guest| !done.contains(&guest.directory));
        self
    }

    /// Message before the guests run.
    pub fn announcement(&self) -> String {
        format!(
            "{} of {:.1} s virtual time each, {} at a time, with {}",
            match self.guests.len() {
                1 => "1 guest".to_owned(),
                number => format!("{number} guests"),
            },
            self.run_ns as f64 / 1e9,
            self.laboratory.beside().min(self.guests.len()),
            self.laboratory.qemu.version
        )
    }

    /// Boots the guests and puts their runs into their final form.
    pub fn carry_out(self, stopped: Stopped<'_>) -> Vec<Recorded> {
        let Self {
            laboratory,
            guests,
            limit,
            ..
        } = self;
        let ended = carry_out_and(
            &guests,
            &laboratory.qemu,
            laboratory.beside(),
            limit,
            laboratory.host,
            stopped,
            &|guest| Ok(wakepath_archive::finish(&guest.directory).map(drop)?),
        );
        let runs = guests.into_iter().zip(ended);
        runs.map(|(guest, outcome)| Recorded {
            outcome,
            guest: guest.name,
            directory: guest.directory,
        })
        .collect()
    }
}
