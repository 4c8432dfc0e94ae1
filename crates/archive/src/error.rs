//! Errors of run directories, each with the path and the expected state.
//!
//! A fault in an archive that can still be read is a finding, not an error.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use wakepath_directory::DirectoryError;

use crate::command_about;
use crate::manifest::FileProblem;
use wakepath_timeline::count::counted;
use wakepath_timeline::one_line;

/// Result of an operation on a run directory.
pub type Result<T, E = ArchiveError> = std::result::Result<T, E>;

/// The command that recovers a run.
fn recover(run: &Path) -> String {
    command_about("recover", &run.display().to_string(), "")
}

/// Why a run directory could not be written, read, finished or recovered.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The operating system refused.
    #[error("{path}: cannot {action}: {source}", path = path.display())]
    Io {
        /// The action that failed, as a verb with its object: "read the log".
        action: &'static str,
        /// File or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The directory can't be trusted or opened.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// No space is left. Everything appended before is still there and the log is still valid.
    #[error(
        "{path}: {room}: recording stopped; earlier samples are kept, {} still in memory not written",
        counted(*unwritten, "sample", "samples"),
        path = path.display()
    )]
    DiskFull {
        /// The file that could not grow.
        path: PathBuf,
        /// The exhausted resource.
        room: NoRoom,
        /// Samples passed to the writer that are not in the log.
        unwritten: u64,
    },
    /// An earlier write or sync failed; nothing that follows could be trusted to reach the disk.
    #[error("{path}: an earlier write failed ({why}); nothing more is appended", path = path.display())]
    WriterFailed {
        /// The log.
        path: PathBuf,
        /// The earlier failure.
        why: String,
    },
    /// A new run needs an empty directory.
    #[error("{path}: already contains files; a new run needs an empty or new directory", path = path.display())]
    DirectoryNotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// Neither a log nor a manifest is there.
    #[error("{path}: not a run directory: neither manifest.json nor samples.log is there", path = path.display())]
    NotARun {
        /// The directory.
        path: PathBuf,
    },
    /// The run was stopped before its first event: nothing is known about it, and it has no sample.
    #[error("{}: the run was stopped before anything was in its log; `{}` recovers a watch's events, or removes what is left", path.display(), recover(path))]
    NothingRecorded {
        /// The directory.
        path: PathBuf,
    },
    /// A process holds the log's lock: the run is being recorded, or finished, right now.
    #[error("{path}: in use by {holder}; wait for it to end", path = path.display())]
    InUse {
        /// The log.
        path: PathBuf,
        /// The process, as far as `/proc/locks` shows it.
        holder: String,
    },
    /// Another kind of file, or its first bytes are damaged.
    #[error("{path}: not a {expected}: {why}", path = path.display(), why = one_line(why))]
    NotRecognised {
        /// The file.
        path: PathBuf,
        /// The expected kind of file or directory.
        expected: &'static str,
        /// The reason.
        why: String,
    },
    /// Written by a later version of the format.
    #[error(
        "{path}: written in format {found}; this version reads formats up to {supported}: use a newer wakepath",
        path = path.display()
    )]
    NewerFormat {
        /// The file.
        path: PathBuf,
        /// Version found in the file.
        found: u32,
        /// Newest version this library reads.
        supported: u32,
    },
    /// The log ends without saying that the run ended.
    #[error("{}: the run did not end normally ({why}); `{}` makes it readable", path.display(), recover(path))]
    NotEnded {
        /// The directory.
        path: PathBuf,
        /// The missing part.
        why: String,
    },
    /// The log contradicts itself.
    #[error("{path}: inconsistent: {why}", path = path.display(), why = one_line(why))]
    Inconsistent {
        /// The file.
        path: PathBuf,
        /// The contradiction.
        why: String,
    },
    /// Files were changed, cut short or taken away after the run was finished.
    #[error("{path}: the archive was changed after it was written: {}", list(problems), path = path.display())]
    Altered {
        /// The directory.
        path: PathBuf,
        /// Each file and its fault.
        problems: Vec<FileProblem>,
    },
    /// The run is not as it was sealed.
    #[error(
        "{path}: its seal is broken: {}; restore the sealed files, or remove seal.dsse.json to read the run as \
         unsealed",
        first(findings),
        path = path.display()
    )]
    SealBroken {
        /// The directory.
        path: PathBuf,
        /// The faults, one line each.
        findings: Vec<String>,
    },
    /// A sealed run can't get additional files.
    #[error("{path}: is sealed, and a new file would break its seal; write it elsewhere", path = path.display())]
    Sealed {
        /// The directory.
        path: PathBuf,
    },
    /// The Parquet file can't be written or read.
    #[error("{path}: Parquet: {source}", path = path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// The Parquet library's error.
        source: parquet::errors::ParquetError,
    },
    /// No such segment or thread in this run.
    #[error("{path}: the run has no segment {segment} with a thread {thread}", path = path.display())]
    NoSuchThread {
        /// The directory.
        path: PathBuf,
        /// The requested segment.
        segment: u32,
        /// The requested thread.
        thread: u16,
    },
}

/// Most findings to list; the others are counted.
const NAMED: usize = 3;

fn first(findings: &[String]) -> String {
    let named: Vec<String> = findings.iter().take(NAMED).map(|of| one_line(of)).collect();
    match findings.len().saturating_sub(NAMED) {
        0 => named.join("; "),
        more => format!("{}; and {more} more", named.join("; ")),
    }
}

fn list(problems: &[FileProblem]) -> String {
    problems
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("; ")
}

impl ArchiveError {
    /// An I/O error with its path; a full disk or quota becomes [`ArchiveError::DiskFull`].
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        if let Some(room) = NoRoom::new(&source) {
            return Self::DiskFull {
                path: path.to_owned(),
                room,
                unwritten: 0,
            };
        }
        Self::Io {
            action,
            path: path.to_owned(),
            source,
        }
    }
}

/// Turns a failure of the Parquet library into ours; it wraps I/O errors, a full disk among them.
pub(crate) fn parquet_error(path: &Path, source: parquet::errors::ParquetError) -> ArchiveError {
    if let parquet::errors::ParquetError::External(inner) = &source
        && let Some(room) = inner.downcast_ref::<io::Error>().and_then(NoRoom::new)
    {
        return ArchiveError::DiskFull {
            path: path.to_owned(),
            room,
            unwritten: 0,
        };
    }
    ArchiveError::Parquet {
        path: path.to_owned(),
        source,
    }
}

/// Reasons why a file can't grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoRoom {
    /// The file system is full.
    Disk,
    /// The user's quota on it is used up.
    Quota,
    /// The file size limit of the process or of the file system.
    FileSize,
}

impl NoRoom {
    /// The resource that an I/O error reports as exhausted, if any.
    pub(crate) fn new(error: &io::Error) -> Option<Self> {
        match error.kind() {
            io::ErrorKind::StorageFull => Some(Self::Disk),
            io::ErrorKind::QuotaExceeded => Some(Self::Quota),
            io::ErrorKind::FileTooLarge => Some(Self::FileSize),
            _ => None,
        }
    }
}

impl fmt::Display for NoRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Disk => "the disk is full",
            Self::Quota => "the disk quota is used up",
            Self::FileSize => "the limit of a file's size is reached (see ulimit -f)",
        })
    }
}
