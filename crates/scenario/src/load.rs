//! The disturbances of a phase.
//!
//! The room `load` runs them and proves their work.

use crate::EthercatBus;
use crate::keys;
use crate::read::simple_kind;
use serde::Serialize;
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
        match self {
            Self::Cpu => "cpu",
            Self::Memory { .. } => "memory",
            Self::Messages => "messages",
            Self::Processes => "processes",
            Self::Files => "files",
            Self::Network => "network",
            Self::Timers => "timers",
            Self::TimerStorm => "timer-storm",
            Self::RcuStorm => "rcu-storm",
            Self::AddressSpaces => "address-spaces",
            Self::Ethercat { .. } => "ethercat",
            Self::StressNg { .. } => "stress-ng",
            Self::Fio { .. } => "fio",
            Self::Hackbench { .. } => "hackbench",
            Self::Bonnie { .. } => "bonnie",
            Self::Iperf3 { .. } => "iperf3",
            Self::Wget => "wget",
            Self::Gpu { .. } => "gpu",
            Self::Glmark2 { .. } => "glmark2",
            Self::Command { .. } => "command",
        }
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
        keys::LOAD.variants.iter().map(|variant| OfferedLoad {
            name: variant.name,
            about: variant.about,
            kind: match variant.name {
                "memory" => Some(Self::Memory {
                    working_set: WorkingSet::Dram,
                    access: MemoryAccess::Stream,
                }),
                name => simple_kind(name, Vec::new()),
            },
        })
    }
}

/// Work of a GPU load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GpuWork {
    /// Multiplies matrices in the device's memory.
    Compute,
    /// Copies between the host's memory and the device's.
    Transfer,
}

impl GpuWork {
    /// As scenario files write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Transfer => "transfer",
        }
    }
}

/// Interface to a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GpuInterface {
    /// NVIDIA's driver.
    Cuda,
    /// Vulkan.
    Vulkan,
    /// OpenCL.
    Opencl,
}

impl GpuInterface {
    /// As scenario files write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Cuda => "cuda",
            Self::Vulkan => "vulkan",
            Self::Opencl => "opencl",
        }
    }
}

/// A memory load's access pattern: IsolBench's two (Valsan, Yun and Farshchi, RTAS 2016).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryAccess {
    /// Reads, changes and writes back from end to end: measures the memory's bandwidth.
    Stream,
    /// Reads one line after another in an unpredictable order, each address from the previous line:
    /// one access at a time, so it measures the memory's latency.
    Chase,
}

impl MemoryAccess {
    /// As scenario files write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stream => "stream",
            Self::Chase => "chase",
        }
    }
}

/// Size of a memory load's working set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkingSet {
    /// Half of the level-1 data cache.
    L1,
    /// Half of the level-2 cache.
    L2,
    /// Half of the last-level cache, shared out among the workers that share it.
    L3,
    /// Four times the last-level cache: memory bandwidth.
    Dram,
    /// This number of bytes.
    Bytes(u64),
}
