//! Everything that is read of a machine, in two halves: what only a reboot can change, and what
//! may change while a loop runs. It holds what was found and no opinion about it.

mod caches;
mod capabilities;
mod cgroup;
mod clock_source;
mod command_line;
mod cooling;
mod cores;
mod cpu_model;
mod cpu_time;
mod debug_files;
mod frequency;
mod idle;
mod interrupts;
mod kernel;
mod kernel_config;
mod latency_request;
mod limits;
mod memory;
mod memory_limit;
mod platform;
mod preemption;
mod process;
mod processors;
mod real_time;
mod topology;
mod virtualisation;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use caches::{Cache, CacheSizes};
pub use capabilities::Capabilities;
pub use cgroup::{Cgroup, CgroupLayout, CpuThrottling, GroupBudget, GroupQuota, GroupThrottling};
pub use clock_source::ClockSource;
pub use command_line::CommandLine;
pub use cooling::{Cooling, CoolingDevice, HeatThrottling, ThermalZone, UnderVoltage};
pub use cores::{CobaltCore, EvlCore, LitmusCore, RealTimeCores, TimerGravity};
pub use cpu_model::CpuModel;
pub use cpu_time::{CpuTicks, CpuTime, TICK_NS};
pub use debug_files::DebugFiles;
pub use frequency::{Frequency, FrequencyPolicy};
pub use idle::{Idle, IdleGroup, IdleState, ResumeLatency};
pub use interrupts::CpuInterrupts;
pub use kernel::{Kernel, Release};
pub use kernel_config::KernelConfig;
pub use latency_request::{LatencyHolders, LatencyRequest, NO_LATENCY_REQUEST_US};
pub use limits::{Limit, Limits};
pub use memory::{Memory, MemoryActivity};
pub use memory_limit::MemoryLimitHits;
pub use platform::Platform;
pub use preemption::{Preemption, PreemptionModel, Standing};
pub use process::Process;
pub use processors::Processors;
pub use real_time::{FairServer, RealTime};
pub use topology::CpuPlace;
pub use virtualisation::{Virtualisation, VirtualisedBy};

use crate::{Change, ClockReadings, Privileges, Root};

/// A machine as it was found at one moment.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// What only a reboot can change.
    pub fixed: Fixed,
    /// What may change while a loop runs.
    pub varying: Varying,
}

/// Facts that can't change without a reboot.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Fixed {
    /// Release, version and the identity of this boot.
    pub kernel: Kernel,
    /// The options the kernel was built with, as far as this tool asks for them.
    pub config: KernelConfig,
    /// The kernel's command line.
    pub command_line: CommandLine,
    /// The board or computer.
    pub platform: Platform,
    /// CPU models, places and caches.
    pub cpus: Processors,
    /// Whether a hypervisor or a container lies beneath.
    pub virtualisation: Virtualisation,
}

/// What may change while a loop runs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Varying {
    /// The clocks when the facts were taken; none for a recorded tree.
    pub clocks: Option<ClockReadings>,
    /// Whether the kernel's debug files can be read.
    pub debug_files: DebugFiles,
    /// The preemption model in effect.
    pub preemption: Preemption,
    /// Throttling, the fair server and deadline limits.
    pub real_time: RealTime,
    /// Real-time cores running alongside Linux's own scheduler.
    pub cores: RealTimeCores,
    /// Governors and frequencies.
    pub frequency: Frequency,
    /// Idle states and what limits them.
    pub idle: Idle,
    /// The bound on wake-up latency asked for through `/dev/cpu_dma_latency`.
    pub latency_request: LatencyRequest,
    /// Clock source.
    pub clock_source: ClockSource,
    /// CPUs online and isolated, time spent and stolen per CPU, context switches.
    pub cpu_time: CpuTime,
    /// Interrupts taken, per CPU, since boot.
    pub interrupts: crate::Reading<Vec<CpuInterrupts>>,
    /// Temperatures, cooling and throttle counters.
    pub cooling: Cooling,
    /// Memory, swap, and what may move pages.
    pub memory: Memory,
    /// The process's control group: the reading one's, unless another was asked for.
    pub cgroup: Cgroup,
    /// The process: affinity, policy, limits, capabilities, timer slack.
    pub process: Process,
}

/// The directory of the reading process.
const OWN: &str = "/proc/self";

impl Facts {
    /// Facts as a run's manifest holds them. Compiled here once, rather than again by each crate
    /// that reads runs.
    ///
    /// # Errors
    /// If this version can't read them.
    pub fn of_json(json: &Value) -> serde_json::Result<Self> {
        Self::deserialize(json)
    }

    /// For a run's manifest.
    ///
    /// # Errors
    /// What JSON can't hold.
    pub fn to_json(&self) -> serde_json::Result<Value> {
        serde_json::to_value(self)
    }

    /// Reads everything. On the host, the clocks are read too. Takes some tens of milliseconds
    /// at most, changes nothing and wakes no CPU on purpose.
    pub fn read(root: &Root) -> Self {
        Self::read_at(root, root.is_host().then(ClockReadings::now))
    }

    /// As [`Facts::read`], with the control group and the rights of another process: one that loops.
    pub fn read_for(root: &Root, pid: u32) -> Self {
        let mut facts = Self::read(root);
        let process = format!("/proc/{pid}");
        facts.varying.cgroup = Cgroup::read(root, &process);
        facts.varying.process = Process::read(root, &process);
        facts
    }

    /// As [`Facts::read`], with the clock readings given.
    pub fn read_at(root: &Root, clocks: Option<ClockReadings>) -> Self {
        let kernel = Kernel::read(root);
        let release = kernel.release_numbers();
        let config = KernelConfig::read(root, kernel.release.known().map(String::as_str));
        let command_line = CommandLine::read(root);
        let debug_files = DebugFiles::read(root);
        let cpus = Processors::read(root);
        let x86 = cpus.is_x86();
        let preemption = Preemption::read(root, &kernel, &config, &command_line, debug_files, x86);
        let clock_source = ClockSource::read(root);
        Self {
            varying: Varying {
                clocks,
                debug_files,
                preemption,
                real_time: RealTime::read(root),
                cores: RealTimeCores::read(root),
                frequency: Frequency::read(root, release, x86),
                idle: Idle::read(root),
                latency_request: LatencyRequest::read(root),
                cpu_time: CpuTime::read(root),
                interrupts: interrupts::read(root),
                cooling: Cooling::read(root),
                memory: Memory::read(root),
                cgroup: Cgroup::read(root, OWN),
                process: Process::read(root, OWN),
                clock_source,
            },
            fixed: Fixed {
                virtualisation: Virtualisation::read(root, &cpus),
                platform: Platform::read(root),
                kernel,
                config,
                command_line,
                cpus,
            },
        }
    }

    /// The sizes of the caches one CPU sees, in bytes.
    pub fn caches(&self) -> CacheSizes {
        self.fixed.cpus.caches()
    }

    /// What changed on this machine since `earlier`, as far as it can matter to a loop.
    pub fn changes_since(&self, earlier: &Self) -> Vec<Change> {
        crate::changes::between(earlier, self)
    }

    /// Differences between this machine or boot and `other`, for comparing runs. A change leads
    /// from this to the other.
    pub fn apart_from(&self, other: &Self) -> crate::Differences {
        crate::changes::apart(self, other)
    }

    /// Differences of the machine's settings from `earlier`, possibly before a reboot: a check
    /// before a mission. Counters are not compared.
    pub fn drift_since(&self, earlier: &Self) -> Vec<Change> {
        crate::changes::drift(earlier, self)
    }

    /// Permissions of the reading process, and how to get the others.
    pub fn privileges(&self) -> Privileges {
        Privileges::new(self)
    }

    /// About a dozen labelled lines for a person.
    pub fn summary(&self) -> Vec<crate::SummaryLine> {
        crate::summary::lines(self)
    }
}
