//! Types of an experiment.
//!
//! The experiments themselves are in `laboratory` and `board`.

use super::Claims;
use super::published::{Published, rows};
use serde::{Deserialize, Serialize};
use wakepath_machine::PreemptionModel;

/// A published experiment and how it is repeated.
#[derive(Debug, Clone, Copy)]
pub struct Experiment {
    /// The setting of its repetition.
    pub setting: Setting,
    /// Name for users.
    pub name: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// The publication and its measurement, in sentences.
    pub source: &'static str,
    /// The scenario that each guest runs, as TOML.
    pub scenario: &'static str,
    /// CPUs of each guest of the laboratory; on a board those that it has, and this is 0.
    pub cpus: u16,
    /// The disk of each guest, as for `wakepath lab run --disk`.
    pub disk: Option<&'static str>,
    /// The kernels, in the order of the published table. A board runs one at a time.
    pub guests: &'static [Guest],
    /// Kernels of the published table that aren't in any package: measured if the user gives them.
    pub given: &'static [Given],
    /// The figure to draw.
    pub drawing: Drawing,
    /// Its table of published figures.
    pub(crate) table: &'static str,
    /// The data file of its claims, which a repetition registers before its first run.
    pub claims: &'static str,
    /// CPU time of a laboratory's host for one guest, in seconds, as measured; on a board 0.
    pub host_seconds: f64,
    /// Differences between the repetition and the publication, a sentence each.
    pub differs: &'static [&'static str],
}

impl Experiment {
    /// Published figures, including those of kernels that are none of its guests.
    pub fn published(&self) -> impl Iterator<Item = Published> {
        rows(self.table)
    }

    /// Its claims.
    ///
    /// # Panics
    /// If the data file is wrong, which its test detects.
    pub fn claims(&self) -> Claims {
        Claims::read(self.claims).expect("a built-in data file")
    }
}

/// A kernel with its parameters, under the name that the published table has for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guest {
    /// Name in tables.
    pub name: &'static str,
    /// Kernel and parameters as for `wakepath lab run --kernel`; for a board, the kernel to boot.
    pub kernel: &'static str,
    /// Recognises a board's boot as this one; `None` in the laboratory, which boots it.
    pub boot: Option<Boot>,
}

/// A kernel with a real-time core, which a user of the laboratory gives by its path. Its loops have the core's
/// policies in the place of the scenario's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Given {
    /// Name for users: `--kernel xenomai=BZIMAGE`.
    pub key: &'static str,
    /// Name in tables.
    pub name: &'static str,
    /// The line of the scenario that has the policies.
    pub instead_of: &'static str,
    /// Published policies for this kernel.
    pub policies: &'static str,
}

impl Given {
    /// The scenario of an experiment for this kernel, as TOML.
    pub fn scenario(&self, experiment: &Experiment) -> String {
        experiment
            .scenario
            .replacen(self.instead_of, self.policies, 1)
    }
}

/// A board's boot, as far as published tables distinguish kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Boot {
    /// The kernel follows one of these.
    pub models: &'static [PreemptionModel],
    /// Whether the loop's CPU is isolated; `None` if that makes no difference.
    pub isolated: Option<bool>,
}

/// Place of a repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Setting {
    /// On kernels in virtual time, each with several seeds.
    Laboratory,
    /// On a board, boot by boot, each in several rounds.
    Board,
}

impl Setting {
    /// The clock of measured times, after their caption; nothing for that of the board.
    pub fn clock(self) -> &'static str {
        match self {
            Self::Laboratory => ", virtual time",
            Self::Board => "",
        }
    }

    /// Unit of repeated measurements of a guest, each one observation.
    pub fn replicates(self) -> &'static str {
        match self {
            Self::Laboratory => "seeds",
            Self::Board => "rounds",
        }
    }

    /// One of [`Self::replicates`].
    pub fn replicate(self) -> &'static str {
        match self {
            Self::Laboratory => "seed",
            Self::Board => "round",
        }
    }

    /// The command that repeats an experiment.
    pub fn command(self) -> &'static str {
        match self {
            Self::Laboratory => "wakepath lab experiments",
            Self::Board => "wakepath experiment run",
        }
    }
}

/// Drawing of an experiment's guests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drawing {
    /// The guests' distributions of wake-up latency over each other, for each condition.
    Overlay,
    /// For each guest a box for each policy and phase.
    Boxes,
    /// For each guest the averages with their intervals, and the maxima.
    Averages,
}

/// One condition of one guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell<'a> {
    /// [`Guest::name`].
    pub guest: &'a str,
    /// Phase of the scenario.
    pub phase: &'a str,
    /// Policy as in tables, such as `FIFO 99`, or [`OVER_POLICIES`].
    pub policy: &'a str,
}

/// In a policy's place: all policies of that phase. Its smallest and its largest are those of any of them.
pub const OVER_POLICIES: &str = "all policies";

/// A figure of a condition, by default of the latency of its wake-ups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// Smallest.
    Min,
    /// Arithmetic mean.
    Mean,
    /// Largest observed; no bound.
    Max,
    /// Largest observed over all due times, skipped ones included; no bound.
    MaxAsScheduled,
    /// Arithmetic mean of the execution time, over the cycles that ran.
    MeanExecution,
    /// Largest response time observed, from the due time to the end of the work, or to the next
    /// cycle that ran if it was skipped; no bound.
    MaxResponse,
}

impl Figure {
    /// All of them.
    pub(crate) const ALL: [Self; 6] = [
        Self::Min,
        Self::Mean,
        Self::Max,
        Self::MaxAsScheduled,
        Self::MeanExecution,
        Self::MaxResponse,
    ];

    /// Its name in a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Self::Min => "smallest",
            Self::Mean => "average",
            Self::Max => "largest",
            Self::MaxAsScheduled => "largest as scheduled",
            Self::MeanExecution => "average execution time",
            Self::MaxResponse => "largest response time",
        }
    }
}
