//! Faults of a scenario file: one line for each finding, with its place.
//!
//! Always one line and free of control characters, whatever the file contains.

use crate::Warning;
use crate::units::Complaint;
use std::fmt;
use wakepath_timeline::one_line;

/// One finding: place, fault, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioError {
    /// Name of the file as the caller gave it.
    pub source_name: String,
    /// Line of the finding, from 1.
    pub line: u32,
    /// Column of the finding in characters, from 1.
    pub column: u32,
    /// Full key such as `policies[2].runtime`, items counted from 0; empty for the file as a whole.
    pub key: String,
    /// The value found, as written, shortened; empty if there is none to show.
    pub found: String,
    /// The fault, as a phrase that follows key and value.
    pub problem: String,
    /// What would be right, as a phrase; can be empty.
    pub remedy: String,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: ", self.source_name, self.line, self.column)?;
        if !self.key.is_empty() {
            write!(f, "{} ", self.key)?;
        }
        if !self.found.is_empty() {
            write!(f, "= {} ", self.found)?;
        }
        f.write_str(&self.problem)?;
        if self.remedy.is_empty() {
            Ok(())
        } else {
            write!(f, "; {}", self.remedy)
        }
    }
}

impl std::error::Error for ScenarioError {}

/// Everything found wrong with a file, in the order of the file; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioErrors {
    /// The findings, at most [`ScenarioErrors::MOST_SHOWN`].
    pub errors: Vec<ScenarioError>,
    /// Number of further findings.
    pub left_out: usize,
}

impl ScenarioErrors {
    /// Most findings to keep.
    pub const MOST_SHOWN: usize = 20;

    /// The first finding in the file.
    pub fn first(&self) -> &ScenarioError {
        &self.errors[0]
    }
}

/// One line for each finding.
impl fmt::Display for ScenarioErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.errors.iter().enumerate() {
            let line_break = if index == 0 { "" } else { "\n" };
            write!(f, "{line_break}{error}")?;
        }
        match self.left_out {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

impl std::error::Error for ScenarioErrors {}

/// A finding before its line is counted: lines are only counted for the few that are shown, so that
/// a hostile file with a hundred thousand mistakes costs one pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Place in the text, in bytes.
    pub(crate) at: usize,
    pub(crate) key: String,
    pub(crate) found: String,
    pub(crate) complaint: Complaint,
}

impl Finding {
    fn placed(self, source_name: &str, text: &str) -> ScenarioError {
        let before = text.get(..self.at).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        let Complaint { problem, remedy } = self.complaint;
        ScenarioError {
            source_name: one_line(source_name),
            line: before.bytes().filter(|byte| *byte == b'\n').count() as u32 + 1,
            column: before[line_start..].chars().count() as u32 + 1,
            key: self.key,
            found: self.found,
            problem,
            remedy,
        }
    }
}

/// Collects findings so that reading can continue after the first.
#[derive(Default)]
pub(crate) struct Findings {
    all: Vec<Finding>,
    pub(crate) warnings: Vec<Warning>,
}

impl Findings {
    pub(crate) fn push(&mut self, finding: Finding) {
        self.all.push(finding);
    }

    /// The value, or nothing once the finding is noted.
    pub(crate) fn keep<T>(&mut self, result: Result<T, Finding>) -> Option<T> {
        result.map_err(|finding| self.push(finding)).ok()
    }

    /// Adds those of another reading.
    pub(crate) fn append(&mut self, other: Self) {
        self.all.extend(other.all);
    }

    /// Those that another reading of the same text found as well.
    pub(crate) fn and_also(mut self, other: &Self) -> Self {
        self.all.retain(|finding| other.all.contains(finding));
        self
    }

    /// The findings in the order of the file, or `value` if there are none.
    pub(crate) fn or<T>(
        mut self,
        value: Option<T>,
        source_name: &str,
        text: &str,
    ) -> Result<T, ScenarioErrors> {
        if let (Some(value), true) = (value, self.all.is_empty()) {
            return Ok(value);
        }
        self.all.sort_by_cached_key(|finding| finding.at);
        let left_out = self.all.len().saturating_sub(ScenarioErrors::MOST_SHOWN);
        self.all.truncate(ScenarioErrors::MOST_SHOWN);
        let errors = self
            .all
            .into_iter()
            .map(|finding| finding.placed(source_name, text))
            .collect();
        Err(ScenarioErrors { errors, left_out })
    }
}
