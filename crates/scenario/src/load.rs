//! The disturbances of a phase.
//!
//! The room `load` runs them and proves their work.

mod parts;
mod storage;

use crate::keys::{Row, Short, Variants, Words, command, ethercat, whole};
use crate::units::Complaint;
use crate::{EthercatBus, Word};
pub use parts::{GpuInterface, GpuWork, MemoryAccess, WorkingSet};
use parts::{everywhere, exchange, fio, gpu, memory};
use serde::Serialize;
use std::mem::discriminant;
use wakepath_timeline::CpuSet;

/// One disturbance of a phase.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoadSpec {
    /// Kind of disturbance.
    pub kind: LoadKind,
    /// Number of workers; 0 means one for each CPU of the load.
    pub workers: u32,
    /// The load's CPUs; `None`: all of them, the loop's own included.
    pub cpus: Option<CpuSet>,
}

/// The kinds of disturbance.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LoadKind {
    /// Arithmetic without memory traffic.
    Cpu,
    /// Reads and writes a working set of `bytes` bytes in each worker.
    Memory {
        /// Working set of one worker in bytes. Resolved from "l1", "l2", "l3" (half the cache of
        /// that level) or "dram" (four times the last-level cache) by the machine's topology when
        /// the load starts.
        working_set: WorkingSet,
        /// Its access pattern.
        access: MemoryAccess,
    },
    /// Groups of processes that pass messages through sockets, in the way of hackbench.
    Messages,
    /// fork, exec, mmap and exit, over and over.
    Processes,
    /// Writes files and calls fsync.
    Files,
    /// UDP and TCP over loopback.
    Network,
    /// Short timers and signals.
    Timers,
    /// Thousands of timers that expire at the same time.
    TimerStorm,
    /// Thousands of files closed at once, which the kernel frees later.
    RcuStorm,
    /// Forks of a large process.
    AddressSpaces,
    /// Process data exchanged with an EtherCAT bus.
    Ethercat {
        /// From one exchange to the next, in nanoseconds.
        period_ns: u64,
        /// The devices.
        bus: EthercatBus,
    },
    /// stress-ng with these arguments.
    StressNg {
        /// Arguments, as on its command line.
        arguments: Vec<String>,
    },
    /// fio with these arguments.
    Fio {
        /// Arguments, as on its command line.
        arguments: Vec<String>,
    },
    /// hackbench from rt-tests.
    Hackbench {
        /// Arguments, as on its command line.
        arguments: Vec<String>,
    },
    /// bonnie++.
    Bonnie {
        /// Arguments, as on its command line.
        arguments: Vec<String>,
    },
    /// iperf3 against a server that wakepath starts on loopback.
    Iperf3 {
        /// Arguments of the client, as on its command line.
        arguments: Vec<String>,
    },
    /// wget against a local HTTP server that wakepath starts.
    Wget,
    /// A GPU kept at work by the program `wakepath-gpu`.
    Gpu {
        /// The device's work.
        work: GpuWork,
        /// The GPU's interface; `None`: the first that has a device.
        interface: Option<GpuInterface>,
        /// Its number there.
        device: u32,
    },
    /// glmark2, started again when it ends.
    Glmark2 {
        /// Arguments, as on its command line.
        arguments: Vec<String>,
    },
    /// Any command, started again when it ends.
    Command {
        /// Program and arguments.
        command: Vec<String>,
    },
}

impl LoadKind {
    /// Its name in scenario files and tables.
    pub fn name(&self) -> &'static str {
        let row = |row: &&Row<LoadSpec>| discriminant(&(row.blank)().kind) == discriminant(self);
        LOAD.rows.iter().find(row).map_or("", |row| row.name)
    }
}

/// A kind of disturbance for the list of loads.
#[derive(Debug, Clone)]
pub struct OfferedLoad {
    /// As scenario files call it.
    pub name: &'static str,
    /// Description, one sentence.
    pub about: &'static str,
    /// The kind that its name alone selects; `None` if it needs arguments.
    pub kind: Option<LoadKind>,
}

impl LoadKind {
    /// All kinds, in the order of the reference page.
    pub fn offered() -> impl Iterator<Item = OfferedLoad> {
        LOAD.rows.iter().map(|row| OfferedLoad {
            name: row.name,
            about: row.about,
            kind: (!matches!(row.short, Short::No)).then(|| (row.blank)().kind),
        })
    }
}

pub(crate) static LOAD: Variants<LoadSpec> = Variants {
    title: "load",
    one: "a known load",
    about: "One disturbance. A load without further keys can be written as its kind alone: \
            `\"cpu\"`, `\"files\"`; a memory load also as `\"memory l2\"`, `\"memory 4 MiB\"` or `\"memory dram \
            chase\"`, a GPU load as `\"gpu transfer\"`, a storage load as `\"fio direct\"`.",
    tag: "kind",
    short: "the kind alone, such as `\"cpu\"`",
    rows: &[
        plain("cpu", "Arithmetic without memory traffic.", || {
            everywhere(LoadKind::Cpu)
        }),
        Row {
            name: "memory",
            about: "Each worker reads or writes a working set.",
            blank: || memory(WorkingSet::Dram, MemoryAccess::Stream),
            keys: |keys, load| {
                if let LoadKind::Memory {
                    working_set,
                    access,
                } = &mut load.kind
                {
                    keys.or(
                        "working-set",
                        parts::WorkingSetForm,
                        WorkingSet::Dram,
                        "Half of the cache of that level, four times the last-level cache (\"dram\"), \
                         or a size, for each worker.",
                        working_set,
                    );
                    keys.or(
                        "access",
                        Words(MemoryAccess::WORDS),
                        MemoryAccess::Stream,
                        "`stream`: reads, changes and writes back from end to end, at full memory bandwidth. \
                         `chase`: reads cache lines in random order, each address from the line before; its \
                         accesses per second show the latency of one.",
                        access,
                    );
                }
                parts::workers(keys, load);
            },
            short: Short::With("( (l1|l2|l3|dram|[0-9].*)( chase)?)?", |text| {
                let (size, access) = match text.strip_suffix(" chase") {
                    Some(size) => (size, MemoryAccess::Chase),
                    None => (text, MemoryAccess::Stream),
                };
                Ok(memory(WorkingSet::parse(size)?, access))
            }),
        },
        plain(
            "messages",
            "Groups of processes that pass messages through sockets.",
            || everywhere(LoadKind::Messages),
        ),
        plain(
            "processes",
            "fork, exec, mmap and exit, over and over.",
            || everywhere(LoadKind::Processes),
        ),
        plain("files", "Writes files and calls fsync.", || {
            everywhere(LoadKind::Files)
        }),
        plain("network", "UDP and TCP over loopback.", || {
            everywhere(LoadKind::Network)
        }),
        plain("timers", "Short timers and signals.", || {
            everywhere(LoadKind::Timers)
        }),
        plain(
            "timer-storm",
            "Thousands of timers that expire at the same time, ten times a second.",
            || everywhere(LoadKind::TimerStorm),
        ),
        plain(
            "rcu-storm",
            "Sockets with full queues closed at once, which the kernel frees later (RCU).",
            || everywhere(LoadKind::RcuStorm),
        ),
        plain(
            "address-spaces",
            "Forks of a large process: its page tables are copied, written through and taken down.",
            || everywhere(LoadKind::AddressSpaces),
        ),
        Row {
            name: "ethercat",
            about: "Process data exchanged with an EtherCAT bus at its own rate. Only frames that all devices \
                    processed count.",
            blank: exchange,
            keys: |keys, load| {
                if let LoadKind::Ethercat { period_ns, bus } = &mut load.kind {
                    parts::exchange_period(keys, period_ns);
                    ethercat::declare(keys, bus);
                }
                parts::placement(keys, &mut load.cpus);
            },
            short: Short::Alone,
        },
        program("stress-ng", "stress-ng from its package.", || {
            everywhere(LoadKind::StressNg {
                arguments: Vec::new(),
            })
        }),
        Row {
            name: "fio",
            about: "fio from its package, with a job from a profile or your own arguments. Without either it has no \
                    job.",
            blank: || fio(Vec::new()),
            keys: |keys, load| {
                let mut profile = None;
                keys.optional(
                    "profile",
                    Words(storage::PROFILES),
                    "none: only `arguments`",
                    "`direct`: four processes read and write 4 KiB anywhere in 256 MiB each, past the page cache. \
                     `buffered`: two write 256 MiB each in a row into the page cache, and have it written to the disk \
                     at the end. The run records the resulting arguments; `arguments` are added after them.",
                    &mut profile,
                );
                parts::arguments(keys, load);
                if let (Some(profile), LoadKind::Fio { arguments }) = (profile, &mut load.kind) {
                    let own = std::mem::take(arguments);
                    *arguments = storage::job(profile).into_iter().chain(own).collect();
                }
            },
            short: Short::With("( (direct|buffered))?", |text| {
                let named = storage::PROFILES.iter().find(|(name, _)| *name == text);
                let refused =
                    || Complaint::new("names no profile of fio", "give direct or buffered");
                let (_, profile) = named.ok_or_else(refused)?;
                Ok(fio(storage::job(profile)))
            }),
        },
        program("hackbench", "hackbench from rt-tests.", || {
            everywhere(LoadKind::Hackbench {
                arguments: Vec::new(),
            })
        }),
        program("bonnie", "bonnie++ from its package.", || {
            everywhere(LoadKind::Bonnie {
                arguments: Vec::new(),
            })
        }),
        program(
            "iperf3",
            "iperf3 against a server that wakepath starts on loopback.",
            || {
                everywhere(LoadKind::Iperf3 {
                    arguments: Vec::new(),
                })
            },
        ),
        plain(
            "wget",
            "wget against a local HTTP server that wakepath starts.",
            || everywhere(LoadKind::Wget),
        ),
        Row {
            name: "gpu",
            about: "A GPU kept busy by the program wakepath-gpu, through CUDA, Vulkan or OpenCL. \
                    If none of them has a device: glmark2 off screen.",
            blank: || gpu(GpuWork::Compute),
            keys: |keys, load| {
                if let LoadKind::Gpu {
                    work,
                    interface,
                    device,
                } = &mut load.kind
                {
                    keys.or(
                        "work",
                        Words(GpuWork::WORDS),
                        GpuWork::Compute,
                        "Multiply matrices in the device's memory, or copy between the host's memory and the device's.",
                        work,
                    );
                    keys.optional(
                        "interface",
                        Words(GpuInterface::WORDS),
                        "the first of them that has a device; hardware before software renderers",
                        "Interface to the device. If given, no other is tried.",
                        interface,
                    );
                    keys.or(
                        "device",
                        whole(0, 255),
                        0,
                        "Number of the device, as `wakepath-gpu list` shows it.",
                        device,
                    );
                }
                parts::placement(keys, &mut load.cpus);
            },
            short: Short::With("( (compute|transfer))?", |text| {
                let named = GpuWork::WORDS.iter().find(|(word, _)| *word == text);
                let refused =
                    || Complaint::new("names no work of a GPU", "give compute or transfer");
                Ok(gpu(named.ok_or_else(refused)?.1))
            }),
        },
        program("glmark2", "glmark2, started again when it ends.", || {
            everywhere(LoadKind::Glmark2 {
                arguments: Vec::new(),
            })
        }),
        Row {
            name: "command",
            about: "Any command, started again when it ends.",
            blank: || {
                everywhere(LoadKind::Command {
                    command: Vec::new(),
                })
            },
            keys: |keys, load| {
                if let LoadKind::Command { command: program } = &mut load.kind {
                    keys.required(
                        "command",
                        command("give a list such as [\"program\", \"argument\"]"),
                        "Program and arguments, one string each; they are not passed through a shell.",
                        program,
                    );
                }
                parts::workers(keys, load);
            },
            short: Short::No,
        },
    ],
};

/// A kind that needs nothing.
const fn plain(name: &'static str, about: &'static str, blank: fn() -> LoadSpec) -> Row<LoadSpec> {
    Row {
        name,
        about,
        blank,
        keys: parts::workers,
        short: Short::Alone,
    }
}

/// A program of a package, with its arguments.
const fn program(
    name: &'static str,
    about: &'static str,
    blank: fn() -> LoadSpec,
) -> Row<LoadSpec> {
    Row {
        keys: parts::arguments,
        ..plain(name, about, blank)
    }
}
