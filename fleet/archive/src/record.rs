//! An archive's record of one run.
//!
//! Facts, counts and sums, verdicts, worst cycles, and the names of the objects with the rest. A
//! record makes its run visible, and is never written again.

use crate::error::{FleetArchiveError, Result};
use crate::name::{Board, is_plain, is_sha256};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Version of the records' form.
pub(crate) const FORMAT: u32 = 1;

/// Longest record that is read.
pub(crate) const LONGEST_RECORD: u64 = 64 << 20;

/// Folder of the records.
pub(crate) const RUNS: &str = "runs";

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Version of this form.
    pub format: u32,
    /// The run's name.
    pub run_id: String,
    /// The board that it was measured on, as given when it was added.
    pub board: String,
    /// Wall-clock start, by the board's clock.
    pub started: String,
    /// The run's outcome by its criterion.
    pub outcome: String,
    /// The machine and the terms: column to value.
    pub facts: BTreeMap<String, String>,
    /// The run's own files, as they were.
    pub files: Vec<Kept>,
    /// SHA-256 of the object with the histograms.
    pub histograms: String,
    /// Every thread in every segment, with counts that must add up.
    pub threads: Vec<ThreadRow>,
    /// Every condition that was judged.
    pub conditions: Vec<ConditionRow>,
    /// The worst cycles of each thread.
    pub outliers: Vec<Outlier>,
}

/// Role of a run's file in an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The run's manifest. Kept forever.
    Manifest,
    /// Every sample. Kept by retention.
    Samples,
    /// A seal, or a file that belongs to one. Kept forever.
    Seal,
    /// Why cycles were late. Kept forever.
    Explanation,
    /// Kernel events and anything else. Kept by retention.
    Other,
}

impl Role {
    /// Whether retention can remove it if no seal needs it.
    pub(crate) fn is_by_retention(self) -> bool {
        matches!(self, Self::Samples | Self::Other)
    }
}

/// One of the run's own files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Its name in the run directory.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// Its length.
    pub bytes: u64,
    /// SHA-256 of its bytes, which names its object.
    pub sha256: String,
}

/// A thread in a segment. Counts of samples are of the judged cycles, after the warm-up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadRow {
    /// Number of the segment.
    pub segment: i64,
    /// Number of the thread.
    pub thread: i64,
    /// Its name.
    pub name: String,
    /// Phase of the segment.
    pub phase: String,
    /// Repetition of the phase.
    pub repetition: i64,
    /// The requested policy.
    pub policy: String,
    /// Whether kernel events were recorded in it; such a segment explains, but doesn't count for
    /// verdicts.
    pub traced: bool,
    /// Period in nanoseconds.
    pub period_ns: i64,
    /// First cycle that is judged.
    pub first_cycle: i64,
    /// One past the last due time that is judged.
    pub end_cycle: i64,
    /// Due times of the whole segment, from the manifest.
    pub expected: i64,
    /// Samples of the whole segment, from the manifest and as counted.
    pub recorded: i64,
    /// Samples that did not fit into the ring; unknown if the segment's end is missing.
    pub lost: Option<i64>,
    /// Judged due times at which a cycle ran.
    pub executed: i64,
    /// Judged due times at which none ran.
    pub skipped: i64,
    /// Sum of the latencies of those that ran.
    pub latency_sum_ns: i64,
    /// Sum of the lateness of the skipped ones.
    pub skipped_sum_ns: i64,
    /// Sum of execution times.
    pub execution_sum_ns: i64,
    /// Sum of response times.
    pub response_sum_ns: i64,
}

/// A condition as it was judged when the run was added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConditionRow {
    /// Phase.
    pub phase: String,
    /// Policy; empty for a task set.
    pub policy: String,
    /// Task; empty if all tasks are alike.
    pub task: String,
    /// The verdict.
    pub outcome: String,
    /// Judged due times.
    pub due: i64,
    /// Those missed by the run's own criterion.
    pub missed: i64,
    /// Those skipped.
    pub skipped: i64,
    /// Latency beyond which a due time is missed, if there is one.
    pub latency_limit_ns: Option<i64>,
    /// Response time beyond which a due time is missed; none if each task has its own.
    pub deadline_ns: Option<i64>,
    /// Nearest-rank quantiles of the latency over all due times: 50 %.
    pub p50_ns: Option<i64>,
    /// 99.9 %.
    pub p999_ns: Option<i64>,
    /// The largest.
    pub max_ns: Option<i64>,
}

/// One of the worst cycles of a thread, kept forever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outlier {
    /// Number of the segment.
    pub segment: i64,
    /// Number of the thread.
    pub thread: i64,
    /// Number of the cycle.
    pub cycle: i64,
    /// Wake-up latency.
    pub latency_ns: i64,
    /// Execution time.
    pub execution_ns: i64,
    /// Response time.
    pub response_ns: i64,
}

impl RunRecord {
    /// The form stored in the archive.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut text = serde_json::to_vec(self).expect("its keys are texts");
        text.push(b'\n');
        text
    }

    /// Reads an untrusted record; `path` is for messages.
    ///
    /// # Errors
    /// [`FleetArchiveError::Damaged`] for a record that our writers can't have written.
    pub(crate) fn from_bytes(bytes: &[u8], name: &str, path: &Path) -> Result<Self> {
        let damaged = |why: String| FleetArchiveError::damaged(path, why);
        #[derive(Deserialize)]
        struct Version {
            format: u32,
        }
        let unreadable = |e: serde_json::Error| damaged(format!("is not a record of a run: {e}"));
        let Version { format } = serde_json::from_slice(bytes).map_err(unreadable)?;
        if format > FORMAT {
            return Err(damaged(format!(
                "is of form {format}; this wakepath-fleet reads up to {FORMAT}"
            )));
        }
        let record: Self = serde_json::from_slice(bytes).map_err(unreadable)?;
        if record.run_id != name || !is_plain(name) {
            return Err(damaged(
                "is not named by the run that it describes".to_owned(),
            ));
        }
        Board::new(&record.board).map_err(|e| damaged(e.to_string()))?;
        let mut digests = record.files.iter().map(|file| &file.sha256);
        if !digests.all(|digest| is_sha256(digest)) || !is_sha256(&record.histograms) {
            return Err(damaged(
                "names an object by what is not a SHA-256".to_owned(),
            ));
        }
        Ok(record)
    }

    /// The names of all objects that it needs, and whether retention can remove each.
    pub(crate) fn objects(&self) -> impl Iterator<Item = (String, bool)> + '_ {
        let files = self
            .files
            .iter()
            .map(|file| (object_name(&file.sha256), file.role.is_by_retention()));
        files.chain([(object_name(&self.histograms), false)])
    }
}

/// Name of an object's file.
pub(crate) fn object_name(sha256: &str) -> String {
    format!("objects/{}/{sha256}", &sha256[..2])
}

/// The name of a run's record.
pub(crate) fn record_name(run_id: &str) -> String {
    format!("{RUNS}/{run_id}.json")
}

/// Folder of the seals. A run can get one after it was added.
pub(crate) const SEALS: &str = "seals";

/// Name of a run's seal. No run's name contains two dots in a row.
pub(crate) fn seal_name(run_id: &str, sha256: &str) -> String {
    format!("{SEALS}/{run_id}..{sha256}")
}

/// Folder of the marks that retention sets before it removes a run's samples.
pub(crate) const RETIRED: &str = "retired";
