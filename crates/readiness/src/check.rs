//! A check as data, and what it found. The judging functions are in `checks`.

use crate::{Inspection, Magnitude, Severity};
use serde::{Deserialize, Serialize};
use wakepath_machine::Reading;
use wakepath_timeline::shortened;

/// Subject of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum Group {
    Kernel,
    Boot,
    Power,
    Topology,
    Interrupts,
    KernelThreads,
    Scheduler,
    Memory,
    Time,
    Limits,
    Services,
    Firmware,
    Output,
    Devices,
}

impl Group {
    /// As printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Boot => "boot parameters",
            Self::Power => "frequency, idle, power",
            Self::Topology => "topology",
            Self::Interrupts => "interrupts",
            Self::KernelThreads => "kernel threads",
            Self::Scheduler => "scheduler",
            Self::Memory => "memory",
            Self::Time => "time",
            Self::Limits => "limits",
            Self::Services => "services",
            Self::Firmware => "firmware, hypervisor",
            Self::Output => "console, logging",
            Self::Devices => "devices",
        }
    }
}

/// How well the fact of a check is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Read in the kernel's source or its documentation.
    Source,
    /// Well known; measure what it costs here.
    WellKnown,
}

impl Confidence {
    /// As printed.
    pub fn words(self) -> &'static str {
        match self {
            Self::Source => "kernel source or documentation",
            Self::WellKnown => "general knowledge; measure its cost here",
        }
    }
}

/// One check: everything about it that does not depend on a machine.
#[derive(Debug, Serialize)]
pub struct Check {
    /// Short and stable: `F3`.
    pub id: &'static str,
    /// Subject.
    pub group: Group,
    /// A few words.
    pub title: &'static str,
    /// The files that it reads.
    pub reads: &'static str,
    /// Why it matters, with magnitudes where some are published.
    pub why: &'static str,
    /// What to do while the machine runs; empty if nothing can be done.
    pub now: &'static str,
    /// What to do at boot or by another kernel; empty if nothing can be done.
    pub boot: &'static str,
    /// Severity if no figure is known.
    pub weight: Severity,
    /// How well it is known.
    pub confidence: Confidence,
    /// Reads and judges.
    #[serde(skip)]
    pub judge: fn(&Inspection) -> Finding,
}

/// Result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// As it should be.
    Good,
    /// There is nothing here to check: no such hardware or feature.
    DoesNotApply,
    /// It could not be read, or what was read does not tell.
    Unknown,
    /// Not as it should be for this loop.
    Bad,
}

impl State {
    /// As printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::DoesNotApply => "does not apply",
            Self::Unknown => "unknown",
            Self::Bad => "bad",
        }
    }
}

/// Finding of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The judgement.
    pub state: State,
    /// The value that was read, in words, or the reason that nothing was.
    pub found: String,
    /// The file, or files, that it was read from.
    pub path: String,
    /// How much it can cost.
    pub magnitude: Magnitude,
    /// The fix for exactly this finding, if it needs more than the check's own words.
    pub now: Option<String>,
    /// The same for what a boot changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_boot: Option<Box<str>>,
}

impl Finding {
    fn new(state: State, found: impl Into<String>, path: impl Into<String>) -> Self {
        Self {
            state,
            found: printable(&found.into()),
            path: printable(&path.into()),
            magnitude: Magnitude::NotKnown,
            now: None,
            at_boot: None,
        }
    }

    /// As it should be.
    pub fn good(found: impl Into<String>, path: impl Into<String>) -> Self {
        Self::new(State::Good, found, path)
    }

    /// Not as it should be.
    pub fn bad(found: impl Into<String>, path: impl Into<String>) -> Self {
        Self::new(State::Bad, found, path)
    }

    /// Good or bad.
    pub fn judged(good: bool, found: impl Into<String>, path: impl Into<String>) -> Self {
        let state = if good { State::Good } else { State::Bad };
        Self::new(state, found, path)
    }

    /// Unknown.
    pub fn unknown(why: impl Into<String>, path: impl Into<String>) -> Self {
        Self::new(State::Unknown, why, path)
    }

    /// There is nothing to check.
    pub fn does_not_apply(why: impl Into<String>, path: impl Into<String>) -> Self {
        Self::new(State::DoesNotApply, why, path)
    }

    /// Unknown for the reason that a reading has no value.
    pub fn unread<T>(reading: &Reading<T>) -> Self {
        let why = match reading {
            Reading::Known { .. } => "read, but inconclusive".to_owned(),
            Reading::Absent { .. } => {
                "no such file: not available on this kernel or machine".to_owned()
            }
            Reading::Denied { .. } => {
                "not readable by this user; run as root, unless Secure Boot or kernel lockdown refuse it to root too".to_owned()
            },
            Reading::Unreadable { why, .. } => format!("not understood: {why}"),
            Reading::Skipped { why, .. } => format!("not read: {why}"),
            Reading::NotRead => "not read".to_owned(),
        };
        Self::unknown(why, reading.path())
    }

    /// With how much it can cost.
    #[must_use]
    pub fn costing(mut self, magnitude: Magnitude) -> Self {
        self.magnitude = magnitude;
        self
    }

    /// With a remedy for exactly this.
    #[must_use]
    pub fn remedied_by(mut self, now: impl Into<String>) -> Self {
        self.now = Some(printable(&now.into()));
        self
    }
}

/// Text from a machine's files on one line: a name of a process or a device may hold anything.
pub(crate) fn printable(text: &str) -> String {
    const LONGEST: usize = 600;
    shortened(text, LONGEST)
}
