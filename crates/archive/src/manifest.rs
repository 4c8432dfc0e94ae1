//! The manifest of a finished run.
//!
//! It is derived from the log and written once; it holds its own digest and those of all other
//! files.

use std::fmt;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use wakepath_directory::Directory;
use wakepath_timeline::{DueTimes, LoadProof, Policy, one_line};

use crate::FORMAT_VERSION;
use crate::digest::{sha256_of_bytes, sha256_of_open};
use crate::durable::{open, to_read};
use crate::error::{ArchiveError, Result};
use crate::event::{
    CoreCounts, CoreLatency, CountersRead, Effective, Ending, FactsTaken, KernelLatency,
    KernelNoise, KernelSections, ModuleTimes, PageFaults, PlannedSegment, ScenarioText,
    SegmentTraced, ThreadEnd, Tool, TracingSetUp,
};
use crate::imported::Imported;
use crate::invocation::Invocation;
use crate::log::Damage;
use crate::quick::QuickCheck;
use crate::virtual_time::VirtualTime;

/// Name of the manifest in a run directory.
pub const MANIFEST_NAME: &str = "manifest.json";

/// A run, without its samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the archive's format.
    pub format_version: u32,
    /// Name of the run.
    pub run_id: String,
    /// The program that measured.
    pub tool: Tool,
    /// Its command line, as separate words.
    pub command: Vec<String>,
    /// The same in parts; none for a run that no command repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invocation: Option<Invocation>,
    /// First process of a watched program that wakepath started; none of one that ran already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_process: Option<u32>,
    /// Terms of a quick check; none for any other run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quick: Option<QuickCheck>,
    /// Wall-clock start, RFC 3339 in UTC.
    pub started: String,
    /// How the run ended.
    pub ending: Ending,
    /// Missing parts of an interrupted or damaged run; none for a run that ended and was read in
    /// full. A verdict on a run with missing parts must mention them.
    #[serde(default)]
    pub recovered: Option<Recovered>,
    /// The measured scenario.
    pub scenario: ScenarioText,
    /// Clock of all times.
    pub clock_source: String,
    /// The virtual time that the run is in; none for time that passes. No criterion is judged by
    /// virtual time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub virtual_time: Option<VirtualTime>,
    /// Origin of an imported run; none for one that wakepath measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
    /// Segments the run meant to execute, in order.
    #[serde(default)]
    pub planned: Vec<PlannedSegment>,
    /// How the traced segments were traced; none for a run without tracing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracing: Option<TracingSetUp>,
    /// The kernel tracer's latencies, by phase and repetition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernel_latency: Vec<KernelLatency>,
    /// The kernel tracer's noise, by phase and repetition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernel_noise: Vec<KernelNoise>,
    /// Non-preemptible sections in the kernel's events, by phase and repetition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernel_sections: Vec<KernelSections>,
    /// A real-time core's own measurements, by phase and condition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub core_latency: Vec<CoreLatency>,
    /// Segments that were started, in order.
    pub segments: Vec<SegmentRecord>,
    /// The machine before, during and after.
    pub facts: Vec<FactsTaken>,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// Every other file of the archive; none while the run is a log.
    pub files: Vec<FileRecord>,
}

/// A segment as it was executed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SegmentRecord {
    /// Number of the segment.
    pub segment: u32,
    /// Phase it belongs to.
    pub phase: String,
    /// Repetition of the phase, from 0.
    pub repetition: u32,
    /// Condition it measures.
    pub condition: String,
    /// Whether kernel events were recorded in it; see [`PlannedSegment::traced`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub traced: bool,
    /// Result of its trace; none if the segment is untraced or its trace has no end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<SegmentTraced>,
    /// Whether its end was recorded.
    pub ended: bool,
    /// Its threads.
    pub threads: Vec<ThreadRecord>,
    /// Proof of each load's work.
    #[serde(deserialize_with = "crate::load_proofs::read")]
    pub loads: Vec<LoadProof>,
}

/// A loop thread in a segment, with the counts that must add up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ThreadRecord {
    /// Number of the thread.
    pub thread: u16,
    /// Its name.
    pub name: String,
    /// When each cycle was due.
    pub due: DueTimes,
    /// The requested policy.
    pub requested: Policy,
    /// Policy read back from the kernel.
    pub effective: Effective,
    /// CPUs the thread could run on.
    pub cpus: Vec<u16>,
    /// First cycle after the warm-up.
    pub first_judged_cycle: u64,
    /// Due times from cycle 0 to the planned end, skipped ones included.
    pub expected: u64,
    /// Samples in the archive.
    pub recorded: u64,
    /// Samples that did not fit into the ring; unknown if the segment's end is missing.
    pub lost: Option<u64>,
    /// Samples written into the ring, as counted by the loop.
    pub written: Option<u64>,
    /// Samples appended to the log, as counted by the recorder.
    pub appended: Option<u64>,
    /// Due times at which the loop started no cycle, if the loop counted them.
    pub skipped: Option<u64>,
    /// Page faults in the loop after its warm-up, if the loop lived to report them.
    #[serde(default)]
    pub page_faults: Option<PageFaults>,
    /// Parts of the work that timed themselves, after the warm-up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<ModuleTimes>,
    /// Hardware counters of the loop's cycles, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<CountersRead>,
    /// Counts of its real-time core, after its warm-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_a_core: Option<CoreCounts>,
    /// Why the thread ended.
    pub ended: Option<ThreadEnd>,
}

/// Missing parts found by the recovery.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Recovered {
    /// Whether the log has the run's end.
    pub end_recorded: bool,
    /// Bytes of the log that can't be read.
    pub damage: Damage,
    /// Segments without an end: their last samples might be missing, their lost count is unknown.
    pub segments_without_end: Vec<u32>,
    /// Planned segments that never began.
    pub segments_never_started: Vec<u32>,
    /// Samples left out because the start of their segment can't be read.
    pub samples_without_segment: u64,
    /// Name of the damaged log, if it was kept.
    pub kept_log: Option<String>,
    /// Segments whose start is not in the log, for example because the disk was full.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub segments_without_start: Vec<u32>,
    /// Blocks that contradict earlier ones, and are left out.
    #[serde(default, skip_serializing_if = "Contradictions::is_none")]
    pub contradictions: Contradictions,
}

/// Blocks of a log that contradict earlier ones.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Contradictions {
    /// Their number.
    pub blocks: u64,
    /// The first, as a person reads it.
    pub first: Option<String>,
}

impl Contradictions {
    fn is_none(&self) -> bool {
        self.blocks == 0
    }
}

impl Recovered {
    /// Whether nothing is missing.
    pub(crate) fn is_nothing(&self) -> bool {
        self.end_recorded
            && Self {
                end_recorded: false,
                ..self.clone()
            } == Self::default()
    }
}

/// A file of the archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// Its name within the run directory.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
}

/// A file that is not as it was when the manifest was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileProblem {
    /// Its name within the run directory.
    pub name: String,
    /// The fault.
    pub problem: String,
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", one_line(&self.name), self.problem)
    }
}

/// Text between the manifest's content and its digest at the end of the file.
const SEAL: &str = ",\n  \"sha256\": \"";
const SEAL_END: &str = "\"\n}\n";
const SEAL_LENGTH: usize = SEAL.len() + 64 + SEAL_END.len();

impl Manifest {
    /// The manifest as stored on disk: JSON, whose last member is the SHA-256 of all bytes before
    /// the comma that precedes it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut text = self.to_json();
        text.truncate(text.strip_suffix("\n}").expect("an object ends so").len());
        let digest = sha256_of_bytes(text.as_bytes());
        text += SEAL;
        text += &digest;
        text += SEAL_END;
        text.into_bytes()
    }

    /// Without the seal.
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a manifest has string keys only")
    }

    /// Reads a manifest and checks its seal; `path` is for messages.
    ///
    /// # Errors
    /// [`ArchiveError::NewerFormat`]; [`ArchiveError::NotRecognised`] for anything but a manifest;
    /// [`ArchiveError::Altered`] if the digest does not match, as after an edit by hand.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self> {
        #[derive(Deserialize)]
        struct Version {
            format_version: u32,
        }
        let unreadable = |error: serde_json::Error| ArchiveError::NotRecognised {
            path: path.to_owned(),
            expected: "wakepath manifest",
            why: format!("cut short or altered: {error}"),
        };
        let version: Version = serde_json::from_slice(bytes).map_err(unreadable)?;
        if version.format_version > FORMAT_VERSION {
            return Err(ArchiveError::NewerFormat {
                path: path.to_owned(),
                found: version.format_version,
                supported: FORMAT_VERSION,
            });
        }
        if !seal_matches(bytes) {
            let problem = "was altered after it was written".to_owned();
            return Err(ArchiveError::Altered {
                path: path.parent().unwrap_or(path).to_owned(),
                problems: vec![FileProblem {
                    name: MANIFEST_NAME.to_owned(),
                    problem,
                }],
            });
        }
        serde_json::from_slice(bytes).map_err(unreadable)
    }

    /// Reads a run directory's manifest.
    ///
    /// # Errors
    /// [`ArchiveError::Io`], and as [`Manifest::from_bytes`].
    pub fn read(directory: &Path) -> Result<Self> {
        Self::read_in(&to_read(directory)?)
    }

    /// [`Manifest::read`] in an open directory.
    pub(crate) fn read_in(directory: &Directory) -> Result<Self> {
        let path = directory.path_of(MANIFEST_NAME);
        let read = directory.read(MANIFEST_NAME);
        let bytes = read.and_then(|bytes| bytes.ok_or_else(|| io::ErrorKind::NotFound.into()));
        let bytes = bytes.map_err(|e| ArchiveError::io("read the manifest", &path, e))?;
        Self::from_bytes(&bytes, &path)
    }

    /// Compares the files in `directory` with their digests: lists every missing, shortened, grown
    /// or altered file by name. It reads them completely.
    ///
    /// # Errors
    /// [`ArchiveError::Io`] if an existing file can't be read.
    pub fn verify(&self, directory: &Path) -> Result<Vec<FileProblem>> {
        self.verify_in(&to_read(directory)?)
    }

    /// [`Manifest::verify`] in an open directory.
    pub(crate) fn verify_in(&self, directory: &Directory) -> Result<Vec<FileProblem>> {
        let mut problems = Vec::new();
        for file in &self.files {
            if let Some(problem) = problem_of(file, directory)? {
                problems.push(FileProblem {
                    name: file.name.clone(),
                    problem,
                });
            }
        }
        Ok(problems)
    }

    /// The record of a thread in a segment.
    pub fn thread(&self, segment: u32, thread: u16) -> Option<&ThreadRecord> {
        let segment = self.segments.iter().find(|s| s.segment == segment)?;
        segment.threads.iter().find(|t| t.thread == thread)
    }

    /// Samples in the archive.
    pub fn recorded(&self) -> u64 {
        self.segments
            .iter()
            .flat_map(|s| &s.threads)
            .map(|t| t.recorded)
            .sum()
    }
}

fn seal_matches(bytes: &[u8]) -> bool {
    let Some(at) = bytes.len().checked_sub(SEAL_LENGTH) else {
        return false;
    };
    let (content, seal) = bytes.split_at(at);
    seal == format!("{SEAL}{}{SEAL_END}", sha256_of_bytes(content)).as_bytes()
}

fn problem_of(file: &FileRecord, directory: &Directory) -> Result<Option<String>> {
    // A manifest from elsewhere must not make us read outside the run directory.
    if file.name.contains('/') || file.name == ".." || file.name == "." {
        return Ok(Some("is not a plain file name".to_owned()));
    }
    let path = directory.path_of(&file.name);
    let Some(opened) = open(directory, &file.name, "open")? else {
        return Ok(Some("is missing".to_owned()));
    };
    let found = opened
        .metadata()
        .map_err(|e| ArchiveError::io("look at", &path, e))?
        .len();
    if found != file.bytes {
        let how = if found < file.bytes {
            "is cut short"
        } else {
            "has grown"
        };
        return Ok(Some(format!(
            "{how}: {found} bytes instead of {}",
            file.bytes
        )));
    }
    let altered = sha256_of_open(opened, &path)? != file.sha256;
    Ok(altered.then(|| "was altered: its SHA-256 does not match".to_owned()))
}
