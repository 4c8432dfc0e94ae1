//! Reasons why a run can't be repeated or its windows can't be found.

use crate::architecture::Architecture;
use crate::window::SymbolsError;
use crate::{Divergence, LabError};
use std::path::PathBuf;

/// Error while repeating a run.
#[derive(Debug, thiserror::Error)]
pub enum AgainError {
    /// In the laboratory.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// A run of a real machine.
    #[error(
        "{}: no run of the laboratory: only an emulated machine does the same again \
         (`wakepath lab run`); `wakepath explain` tells causes of a traced run", run.display()
    )]
    NoLaboratory {
        /// The run.
        run: PathBuf,
    },
    /// With several CPUs instructions are no measure of time.
    #[error(
        "{}: {cpus} CPUs: CPUs that count instructions take turns, so the instructions of one are not \
         the time that passed", run.display()
    )]
    Cpus {
        /// The run.
        run: PathBuf,
        /// Number of CPUs.
        cpus: u16,
    },
    /// Its calls and returns can't be decoded.
    #[error("{}: an {architecture} guest: only x86-64 guests have windows", run.display())]
    Architecture {
        /// The run.
        run: PathBuf,
        /// The guest's architecture.
        architecture: Architecture,
    },
    /// Another wakepath's guest.
    #[error(
        "{}: {what} is none that this wakepath makes: use the wakepath that made the run",
        run.display()
    )]
    Unlike {
        /// The run.
        run: PathBuf,
        /// The part that differs.
        what: &'static str,
    },
    /// The name now means another kernel.
    #[error(
        "{}: the run's kernel is another one than {kernel} now is.{} Give the same with --kernel \
         (package:NAME=VERSION, or a path)",
        run.display(),
        package.as_ref().map(|package| format!(" It was {package}.")).unwrap_or_default()
    )]
    Kernel {
        /// The run.
        run: PathBuf,
        /// Its kernel's name.
        kernel: String,
        /// The package of the original kernel.
        package: Option<String>,
    },
    /// Another emulator.
    #[error("{}: made with {was}, here is {is}: give that one with --emulator", run.display())]
    Emulator {
        /// The run.
        run: PathBuf,
        /// The emulator then.
        was: String,
        /// The emulator now.
        is: String,
    },
    /// Other programs in the guest.
    #[error(
        "{}: what runs in the guest is not the same as then: give the wakepath that made the run with \
         --program; programs that loads start must be the same, too", run.display()
    )]
    Initramfs {
        /// The run.
        run: PathBuf,
    },
    /// Nothing to look into.
    #[error("{}: no cycle was late at all", run.display())]
    NoneLate {
        /// The run.
        run: PathBuf,
    },
    /// A cycle's name can't be parsed.
    #[error("--cycle {name}: give it as SEGMENT:CYCLE, such as 3:217")]
    CycleName {
        /// The name.
        name: String,
    },
    /// A cycle without a latency.
    #[error("--cycle {name}: it was not late at all")]
    NotLate {
        /// The cycle's name.
        name: String,
    },
    /// A cycle that the run has not.
    #[error(
        "--cycle {name}: the run has no such cycle; its segments are 0 to {last_segment}, and a skipped \
         cycle has no wake-up"
    )]
    NoCycle {
        /// The cycle's name.
        name: String,
        /// The run's last segment.
        last_segment: u32,
    },
    /// The emulator has no plugins.
    #[error(
        "{said}: a window needs an emulator built with plugins, as Debian's, Ubuntu's and Fedora's are; \
         here is {version}"
    )]
    NoPlugins {
        /// The emulator's error.
        said: LabError,
        /// The emulator.
        version: String,
    },
    /// A thread of this program is gone.
    #[error("the emulator was not attended to")]
    Unattended,
    /// The line to the emulator failed.
    #[error("the line to the emulator: {0}")]
    Line(#[from] std::io::Error),
    /// The run is another one.
    #[error("{}: made once more, it is another run, so no window of it is shown: {found}", run.display())]
    AnotherRun {
        /// The run.
        run: PathBuf,
        /// First difference.
        found: Divergence,
    },
    /// No list of the kernel's functions is available.
    #[error("the kernel's functions are not known")]
    NoSymbols,
    /// The count of reasons not to preempt is not in the kernel's list.
    #[error(
        "the kernel's list of its symbols has neither __preempt_count nor pcpu_hot: it was built without \
         CONFIG_KALLSYMS_ALL, so the beginnings of its sections are unknown"
    )]
    NoCount,
    /// The kernel's list of functions is unusable.
    #[error("the kernel's list of its functions: {0}")]
    Symbols(#[from] SymbolsError),
    /// No blocks for a cycle.
    #[error("segment {segment}, cycle {cycle}: {why}")]
    Blocks {
        /// The segment.
        segment: u32,
        /// The cycle.
        cycle: u64,
        /// Why.
        why: NoBlocks,
    },
}

/// Reasons why a cycle has no blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoBlocks {
    /// No trail of readings fits the samples.
    #[error("the loop can't be distinguished among the guest's readings of the clock")]
    NoTrail,
    /// They were not requested.
    #[error("its blocks were not kept")]
    NotKept,
    /// More than one trail fits.
    #[error("several readings of the clock fit the loop's samples")]
    Several,
    /// The plugin kept too few blocks.
    #[error("the emulator's blocks end before the cycle does")]
    Short,
}

impl From<wakepath_archive::ArchiveError> for AgainError {
    fn from(error: wakepath_archive::ArchiveError) -> Self {
        Self::Lab(error.into())
    }
}
