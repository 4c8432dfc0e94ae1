//! Published statements as tests that our own figures can fail, registered before the runs.

mod figures;
mod findings;
mod holm;
mod read;
mod shown;

pub use findings::{Agreement, Finding, findings, findings_text};
pub use read::ClaimsError;

pub(crate) use figures::disturbers;

use crate::{Cell, Figure};

/// The claims of an experiment, as they were registered before its runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Claims {
    /// Fewer seeds, or rounds, decide no claim.
    pub seeds: usize,
    /// All of them, in the page's order.
    pub all: Vec<Claim>,
    /// Whether they were registered before the first run. If not, they decide nothing.
    pub before_the_runs: bool,
    /// SHA-256 of the data file, as hexadecimal digits.
    pub sha256: String,
}

impl Claims {
    /// The same for runs that were there before.
    pub fn after_the_runs(self) -> Self {
        Self {
            before_the_runs: false,
            ..self
        }
    }

    /// How many of them a test decides: the number that its probabilities are corrected for.
    pub fn tested(&self) -> usize {
        let is_tested = |claim: &&Claim| claim.test.is_statistical();
        self.all.iter().filter(is_tested).count()
    }
}

/// A published statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// In one sentence.
    pub statement: String,
    /// The published figures, or how it was published without any.
    pub published: String,
    /// The test of our figures.
    pub test: Test,
}

/// One condition of one guest, as [`Cell`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// [`Cell::guest`].
    pub guest: String,
    /// [`Cell::phase`].
    pub phase: String,
    /// [`Cell::policy`].
    pub policy: String,
}

impl Condition {
    /// The same, borrowed.
    pub fn cell(&self) -> Cell<'_> {
        Cell {
            guest: &self.guest,
            phase: &self.phase,
            policy: &self.policy,
        }
    }
}

/// Measured quantity of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// A figure of a condition, in nanoseconds.
    Figure(Figure),
    /// Cycles of a traced pass during whose wake-up other threads or interrupts ran.
    DisturbedCycles,
}

/// The smallest effect that counts: how many times the lower value the higher one is at least.
#[derive(Debug, Clone, PartialEq)]
pub struct Smallest {
    /// That many times.
    pub times: f64,
    /// Why.
    pub from: Reasoned,
}

/// Reason for a smallest effect.
#[derive(Debug, Clone, PartialEq)]
pub enum Reasoned {
    /// A third of the published ratio, on the logarithmic scale on which ratios add up.
    ThirdOf(f64),
    /// Argued in the data file.
    Argued(String),
}

/// Kinds of tests.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// One value is below another, by the smallest effect at least.
    Lower {
        /// The condition that should be lower.
        low: Condition,
        /// The one that should be higher.
        high: Condition,
        /// Of what.
        quantity: Quantity,
        /// Smallest effect that counts.
        smallest: Smallest,
    },
    /// Neither is as many times the other as the smallest effect.
    Alike {
        /// Two conditions.
        both: [Condition; 2],
        /// Of what.
        quantity: Quantity,
        /// Smallest difference that counts.
        smallest: Smallest,
    },
    /// A value is below a limit that is no other machine's, such as a period.
    Below {
        /// The condition.
        condition: Condition,
        /// Of what.
        quantity: Quantity,
        /// In nanoseconds.
        ns: f64,
    },
    /// More than half of the cycles were woken in this way, by `ConditionExplanation::woken`.
    Woken {
        /// The condition.
        condition: Condition,
        /// `direct` or `deferred`.
        way: String,
    },
    /// Our figures are of something else: they are shown, and judged by nothing.
    NotComparable {
        /// Why.
        reason: String,
        /// Conditions to show, and of what.
        shown: Option<(Vec<Condition>, Quantity)>,
    },
    /// Such a repetition doesn't measure it.
    NotRun {
        /// Why, and what would.
        reason: String,
    },
}

impl Test {
    /// Whether a probability decides it.
    fn is_statistical(&self) -> bool {
        !matches!(self, Self::NotComparable { .. } | Self::NotRun { .. })
    }

    /// The conditions that it names.
    pub fn conditions(&self) -> Vec<&Condition> {
        match self {
            Self::Lower { low, high, .. } => vec![low, high],
            Self::Alike { both, .. } => both.iter().collect(),
            Self::Below { condition, .. } | Self::Woken { condition, .. } => vec![condition],
            Self::NotComparable { shown, .. } => shown
                .iter()
                .flat_map(|(conditions, _)| conditions)
                .collect(),
            Self::NotRun { .. } => Vec::new(),
        }
    }
}
