//! Why there is no tracing, each with what would help; and what can fail while tracing. The
//! measurement runs on without explanations in every case.

use crate::stream::FormatError;
use std::io;
use std::path::{Path, PathBuf};

/// Result of an operation of the probe.
pub type Result<T, E = ProbeError> = std::result::Result<T, E>;

/// Why tracing is unavailable, or failed.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The kernel was built without it.
    #[error(
        "this kernel has no tracefs: a kernel with CONFIG_FTRACE and CONFIG_EVENT_TRACING is needed"
    )]
    NoTracefs,
    /// It is not mounted, and this user may not mount it.
    #[error(
        "tracefs is not mounted and can't be mounted by this user ({source}): run as root, or let root do: mount -t tracefs tracefs /sys/kernel/tracing"
    )]
    NotMounted {
        /// The kernel's error.
        source: io::Error,
    },
    /// It is there, and closed to this user.
    #[error(
        "{path}: this user may not trace ({source}): run as root",
        path = path.display()
    )]
    Forbidden {
        /// The file or directory.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// Root is refused: lockdown.
    #[error(
        "{path}: the kernel is locked down and refuses tracing ({source}): Secure Boot or lockdown= on the kernel's command line decides this",
        path = path.display()
    )]
    LockedDown {
        /// The file or directory.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// None was asked for: whatever was to be traced has ended.
    #[error("no CPU to trace: the threads to be watched have ended")]
    NoCpus,
    /// Events without which nothing can be explained.
    #[error("this kernel does not offer {events}: without it no wake-up can be explained")]
    NoEvents {
        /// Which.
        events: String,
    },
    /// Marks are unavailable.
    #[error(
        "this kernel has no uprobe_events: to record a program's own probes, one with CONFIG_UPROBE_EVENTS is needed"
    )]
    NoUprobes,
    /// A mark is refused.
    #[error("the kernel refuses the uprobe `{line}`: {source}")]
    UprobeRefused {
        /// As it was asked for.
        line: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// perf refuses.
    #[error(
        "perf events of a whole CPU are not available ({source}; perf_event_paranoid is {paranoid}): run as root, give the program CAP_PERFMON, or let root write -1 into /proc/sys/kernel/perf_event_paranoid"
    )]
    Perf {
        /// The kernel's setting: 2 by default, −1 for no restriction, `unknown` without perf.
        paranoid: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// Neither a tracefs instance nor perf.
    #[error("{instance}; nor in its place: {perf}")]
    Neither {
        /// Why there is no instance.
        instance: Box<ProbeError>,
        /// Why there is no perf.
        perf: Box<ProbeError>,
    },
    /// There is not enough memory for a useful buffer.
    #[error(
        "{available} MiB of memory are available; a buffer of {least} KiB for each of {cpus} CPUs would take more than an eighth of it"
    )]
    LittleMemory {
        /// Available memory in MiB.
        available: u64,
        /// Smallest useful buffer of a CPU in KiB.
        least: u64,
        /// CPUs to be traced.
        cpus: usize,
    },
    /// The operating system refused.
    #[error("{path}: cannot {action}: {source}", path = path.display())]
    Io {
        /// The failed action.
        action: &'static str,
        /// File or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The trace can't be written.
    #[error(transparent)]
    Archive(#[from] wakepath_archive::ArchiveError),
}

/// Why the kernel's own figures are unavailable.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KernelMeasureError {
    /// It was built without the tracer.
    #[error("this kernel has no {0} tracer (CONFIG_{upper}_TRACER)", upper = .0.to_uppercase())]
    NoTracer(&'static str),
    /// The tracer wrote no line that counts.
    #[error("the {0} tracer measured nothing")]
    Nothing(&'static str),
    /// It was built without events or tracer of sections.
    #[error(
        "this kernel has no {0} (CONFIG_PREEMPTIRQ_TRACEPOINTS, by CONFIG_PREEMPT_TRACER and CONFIG_IRQSOFF_TRACER) and no preemptirqsoff tracer"
    )]
    NoSections(String),
    /// Addresses are hidden, and where the scheduler is.
    #[error(
        "this kernel hides its addresses: let root write 0 into /proc/sys/kernel/kptr_restrict"
    )]
    NoAddresses,
    /// The thread that is measured next to the events can't run on its CPU or at its priority.
    #[error(
        "the thread that is measured next to the events can't run on CPU {cpu} under FIFO 95: {source}"
    )]
    NoThreadBeside {
        /// Its CPU.
        cpu: u16,
        /// The kernel's error.
        source: io::Error,
    },
    /// The tracer's own thread can't be found.
    #[error("the thread {0} of the osnoise tracer is not there")]
    NoThread(String),
    /// The tracer's own thread can't be given its priority.
    #[error("{thread}: {source}")]
    NoPriority {
        /// Its name.
        thread: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// The tracer can't be used.
    #[error(transparent)]
    Probe(#[from] ProbeError),
}

/// Why an event can't be recorded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UnusableEvent {
    /// The kernel has none of this name.
    #[error("this kernel does not have it")]
    Unknown,
    /// Its file can't be read or written, or perf refuses it.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Its format is not one that can be read.
    #[error(transparent)]
    Format(#[from] FormatError),
}

impl ProbeError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            action,
            path: path.to_owned(),
            source,
        }
    }

    pub(crate) fn perf(source: io::Error) -> Self {
        let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
        Self::Perf {
            paranoid: paranoid.map_or_else(|_| "unknown".into(), |text| text.trim().to_owned()),
            source,
        }
    }

    /// A refusal within tracefs: by its rights, or by lockdown.
    pub(crate) fn refused(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::PermissionDenied if is_locked_down() => {
                Self::LockedDown { path, source }
            }
            io::ErrorKind::PermissionDenied => Self::Forbidden { path, source },
            _ => Self::Io {
                action: "use",
                path,
                source,
            },
        }
    }
}

/// `/sys/kernel/security/lockdown` reads `none [integrity] confidentiality`; confidentiality
/// closes tracefs.
fn is_locked_down() -> bool {
    std::fs::read_to_string("/sys/kernel/security/lockdown")
        .is_ok_and(|modes| modes.contains("[confidentiality]"))
}
