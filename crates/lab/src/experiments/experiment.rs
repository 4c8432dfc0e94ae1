//! What an experiment is made of. The experiments themselves are in `known`.

use super::Claim;

/// A published experiment and how the laboratory repeats it.
#[derive(Debug, Clone, Copy)]
pub struct Experiment {
    /// What a user calls it.
    pub name: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// Where it was published and how it was measured there, in sentences.
    pub source: &'static str,
    /// The scenario that each guest runs, as TOML.
    pub scenario: &'static str,
    /// CPUs of each guest.
    pub cpus: u16,
    /// The kernels, in the order of the published table.
    pub guests: &'static [Guest],
    /// What is drawn.
    pub drawing: Drawing,
    /// Figures that were published.
    pub published: &'static [Published],
    /// What was published as a finding, each with the test that our figures are put to.
    pub claims: &'static [Claim],
    /// How the repetition differs from what was published, each in a sentence.
    pub differs: &'static [&'static str],
}

/// A kernel with its parameters, under the name that the published table has for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guest {
    /// Name in tables.
    pub name: &'static str,
    /// Kernel and parameters as `wakepath lab run --kernel` takes them.
    pub kernel: &'static str,
}

/// What is drawn of an experiment's guests.
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
    /// Policy as tables call it, such as `FIFO 99`, or [`OVER_POLICIES`].
    pub policy: &'a str,
}

/// In a policy's place: all policies of that phase. Its smallest and its largest are those of any of them.
pub const OVER_POLICIES: &str = "all policies";

/// Published wake-up latencies of one condition, in microseconds on the machine that they are of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Published {
    /// Which.
    pub cell: Cell<'static>,
    /// Smallest.
    pub min: Option<f64>,
    /// Average.
    pub mean: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
}

/// Which figure of a condition's wake-up latencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// Smallest.
    Min,
    /// Arithmetic mean.
    Mean,
    /// Largest observed; no bound.
    Max,
}

impl Figure {
    /// Its name in a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Self::Min => "smallest",
            Self::Mean => "average",
            Self::Max => "largest",
        }
    }
}
