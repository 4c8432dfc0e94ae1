//! Makes an interrupted run readable, and reports its missing parts.
//!
//! It invents nothing: an unknown count stays unknown.

use std::fmt;
use std::path::Path;

use wakepath_directory::Directory;
use wakepath_timeline::count::counted;

use crate::durable::to_write;
use crate::error::Result;
use crate::finish::{convert, finished, lock_log};
use crate::manifest::{Contradictions, Manifest};
use crate::survey::survey;

/// Findings and actions of a recovery.
#[derive(Debug, Clone, PartialEq)]
pub struct RecoveryReport {
    /// The run as it can be read now.
    pub manifest: Manifest,
    /// Whether the run had been finished before.
    pub was_finished: bool,
}

/// Turns an interrupted run into a readable one: `samples.parquet` and a manifest that is marked as
/// recovered. A log with damage in its middle is kept as well. A run that ended but was not yet
/// converted is finished and not marked.
///
/// # Errors
/// [`crate::ArchiveError::InUse`] while a live process writes the run, with its number;
/// [`crate::ArchiveError::NothingRecorded`] if it was stopped before its first event; otherwise as
/// [`crate::finish`].
pub fn recover(directory: &Path) -> Result<RecoveryReport> {
    recover_in(&to_write(directory)?)
}

/// [`recover`] in an open directory.
///
/// # Errors
/// As [`recover`].
pub fn recover_in(directory: &Directory) -> Result<RecoveryReport> {
    let Some(log) = lock_log(directory)? else {
        return Ok(RecoveryReport {
            manifest: finished(directory)?,
            was_finished: true,
        });
    };
    let survey = survey(directory)?;
    let manifest = convert(directory, log, survey, None)?;
    Ok(RecoveryReport {
        manifest,
        was_finished: false,
    })
}

impl RecoveryReport {
    /// The missing parts, one line each; empty if nothing is missing.
    pub fn missing(&self) -> Vec<String> {
        let Some(missing) = &self.manifest.recovered else {
            return Vec::new();
        };
        let mut lines = Vec::new();
        if !missing.end_recorded {
            lines.push("the end of the run: its recorder was killed or the power went".to_owned());
        }
        lines.extend(missing.damage.gaps.iter().map(ToString::to_string));
        lines.extend(missing.damage.tail.map(|tail| tail.to_string()));
        for number in &missing.segments_without_end {
            lines.extend(self.open_segment(*number));
        }
        if missing.samples_without_segment > 0 {
            lines.push(format!(
                "{} left out: the start of the segment can't be read",
                counted(missing.samples_without_segment, "sample is", "samples are")
            ));
        }
        for number in &missing.segments_without_start {
            lines.push(format!(
                "the start of segment {number}, and with it what it measured: the disk was full, or it can't be read"
            ));
        }
        let Contradictions { blocks, first } = &missing.contradictions;
        if let Some(first) = first {
            lines.push(format!(
                "{}, and left out; {first}",
                counted(
                    *blocks,
                    "block that contradicts the blocks before it",
                    "blocks that contradict the blocks before them"
                )
            ));
        }
        let never = missing.segments_never_started.len();
        if never > 0 {
            lines.push(format!(
                "{never} of {} planned segments never started",
                self.manifest.planned.len()
            ));
        }
        if let Some(name) = &missing.kept_log {
            lines.push(format!("the damaged log is kept as {name}"));
        }
        lines
    }

    fn open_segment(&self, number: u32) -> Option<String> {
        let segment = self
            .manifest
            .segments
            .iter()
            .find(|s| s.segment == number)?;
        let recorded: u64 = segment.threads.iter().map(|t| t.recorded).sum();
        let expected: u64 = segment.threads.iter().map(|t| t.expected).sum();
        Some(format!(
            "the end of segment {number} ({}): {recorded} of {expected} expected samples are there; the number of \
             lost samples is unknown",
            segment.condition
        ))
    }
}

impl fmt::Display for RecoveryReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Manifest {
            run_id, segments, ..
        } = &self.manifest;
        let recorded = self.manifest.recorded();
        writeln!(
            f,
            "run {run_id}: {} in {}",
            counted(recorded, "sample", "samples"),
            counted(segments.len() as u64, "segment", "segments")
        )?;
        if self.was_finished {
            writeln!(f, "it was already finished; its files are unchanged")?;
        }
        let missing = self.missing();
        if missing.is_empty() {
            return writeln!(f, "nothing is missing");
        }
        missing
            .iter()
            .try_for_each(|line| writeln!(f, "missing: {line}"))
    }
}
