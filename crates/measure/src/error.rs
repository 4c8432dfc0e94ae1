//! Why a run could not be carried out or not to its end, each with what would help.

use std::io;
use std::path::PathBuf;
use wakepath_archive::command_about;

/// Why measuring can't continue.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// wakepath can't stay off the loop's CPUs.
    #[error("wakepath can't be kept off the loop's CPUs: {0}")]
    Affinity(#[source] io::Error),
    /// No shared memory.
    #[error(transparent)]
    SharedMemory(#[from] wakepath_rt::shared::SharedMemoryError),
    /// A program's output can't be kept.
    #[error("the program's output can't be saved: {0}")]
    Program(#[source] io::Error),
    /// A process that takes part can't be started.
    #[error("the {which} process can't be started: {source}")]
    Start {
        /// Which one.
        which: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// The recorder reported that it can't record.
    #[error("{0}")]
    Recording(String),
    /// The recorder ended silently.
    #[error(
        "the recorder died ({how}); recover what it had written with: {}",
        command_about("recover", &directory.display().to_string(), "")
    )]
    RecorderDied {
        /// Exit status or silence.
        how: String,
        /// The run directory.
        directory: PathBuf,
    },
    /// The directory for the loads' files can't be made.
    #[error("{}: the loads' scratch directory can't be made: {source}", path.display())]
    Scratch {
        /// The directory.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The latency request was refused.
    #[error(
        "/dev/cpu_dma_latency can't be held ({0}); run as root, or take cpu-dma-latency out of \
         the scenario"
    )]
    CpuDmaLatency(#[source] io::Error),
    /// The machine's facts can't be written down.
    #[error("the machine's facts can't be written as JSON: {0}")]
    Facts(#[source] serde_json::Error),
}

/// Why nothing is traced, with the fix if there is one. A measurement continues without a trace.
#[derive(Debug, thiserror::Error)]
pub enum NotTraced {
    /// The probe's process can't be started.
    #[error("the probe's process can't be started: {0}")]
    NotStarted(#[source] io::Error),
    /// The kernel gives no events, or not to this user.
    #[error("{0}")]
    Unavailable(String),
    /// The probe ended.
    #[error("the probe's process died: {0}")]
    Died(String),
    /// The probe was silent for this many seconds, and was killed.
    #[error("no message from the probe for {0} s")]
    Silent(u64),
    /// The probe answered something else.
    #[error("the probe sent an unexpected answer")]
    Misunderstood,
    /// The trace was not written.
    #[error("{0}")]
    NotWritten(String),
}
