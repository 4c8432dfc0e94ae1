//! Values and keys that several loads have.

use super::{LoadKind, LoadSpec};
use crate::document::Node;
use crate::error::Finding;
use crate::keys::{ARGUMENTS, Form, Keys, RateWithin, Shape, cpus, per_cpu, size, time};
use crate::units::{Complaint, format_size, parse_size};
use crate::{EthercatBus, Word};
use serde::Serialize;
use toml::Value;
use wakepath_timeline::CpuSet;

/// Work of a GPU load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GpuWork {
    /// Multiplies matrices in the device's memory.
    Compute,
    /// Copies between the host's memory and the device's.
    Transfer,
}

impl Word for GpuWork {
    const WORDS: &'static [(&'static str, Self)] =
        &[("compute", Self::Compute), ("transfer", Self::Transfer)];
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

impl Word for GpuInterface {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("cuda", Self::Cuda),
        ("vulkan", Self::Vulkan),
        ("opencl", Self::Opencl),
    ];
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

impl Word for MemoryAccess {
    const WORDS: &'static [(&'static str, Self)] =
        &[("stream", Self::Stream), ("chase", Self::Chase)];
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

impl WorkingSet {
    const LEVELS: [(&'static str, Self); 4] = [
        ("l1", Self::L1),
        ("l2", Self::L2),
        ("l3", Self::L3),
        ("dram", Self::Dram),
    ];
    /// Largest working set of one worker, in bytes: 64 GiB.
    const MOST_BYTES: u64 = 64 << 30;

    pub(super) fn parse(text: &str) -> Result<Self, Complaint> {
        if let Some((_, level)) = Self::LEVELS.iter().find(|(name, _)| *name == text) {
            return Ok(*level);
        }
        let remedy = "give l1, l2, l3, dram or a size such as \"4 MiB\"";
        if !text.starts_with(|first: char| first.is_ascii_digit()) {
            return Err(Complaint::new("names an unknown working set", remedy));
        }
        let bytes =
            parse_size(text).map_err(|complaint| Complaint::new(complaint.problem, remedy))?;
        if !(1..=Self::MOST_BYTES).contains(&bytes) {
            let remedy = "give from \"1 B\" to \"64 GiB\"";
            return Err(Complaint::new("is not a size for a working set", remedy));
        }
        Ok(Self::Bytes(bytes))
    }
}

/// A level of the caches, or a size.
pub(super) struct WorkingSetForm;

impl Form for WorkingSetForm {
    type Value = WorkingSet;
    fn shape(&self) -> Shape {
        let levels = WorkingSet::LEVELS.iter().map(|(name, _)| *name).collect();
        let size = size(1, WorkingSet::MOST_BYTES).shape();
        Shape::Either(vec![Shape::Choice(levels), size])
    }
    fn remedy(&self) -> String {
        "give \"l1\", \"l2\", \"l3\", \"dram\" or a size".into()
    }
    fn read(&self, node: &Node<'_>) -> Result<WorkingSet, Finding> {
        node.quantity(&self.remedy(), WorkingSet::parse)
    }
    fn write(&self, value: &WorkingSet) -> Value {
        let level = WorkingSet::LEVELS.iter().find(|(_, level)| level == value);
        match (level, value) {
            (_, WorkingSet::Bytes(bytes)) => format_size(*bytes).into(),
            (level, _) => level.map_or("", |(name, _)| name).into(),
        }
    }
}

/// The workers and their CPUs.
pub(super) fn workers(keys: &mut Keys<'_>, load: &mut LoadSpec) {
    keys.or(
        "workers",
        per_cpu(1024),
        0,
        "Number of workers; \"per-cpu\" is one for each CPU that the load can use.",
        &mut load.workers,
    );
    placement(keys, &mut load.cpus);
}

pub(super) fn placement(keys: &mut Keys<'_>, field: &mut Option<CpuSet>) {
    cpus::declare(keys, "all CPUs, including the loop's", field);
}

/// A program's arguments, its workers and their CPUs.
pub(super) fn arguments(keys: &mut Keys<'_>, load: &mut LoadSpec) {
    if let LoadKind::StressNg { arguments }
    | LoadKind::Fio { arguments }
    | LoadKind::Hackbench { arguments }
    | LoadKind::Bonnie { arguments }
    | LoadKind::Iperf3 { arguments }
    | LoadKind::Glmark2 { arguments } = &mut load.kind
    {
        keys.preset(
            "arguments",
            ARGUMENTS,
            "only those that wakepath needs",
            "Arguments as on its command line, one string each; they are not passed through a shell.",
            arguments,
        );
    }
    workers(keys, load);
}

/// From one exchange of process data to the next.
const EXCHANGE_PERIOD_NS: (u64, u64) = (100_000, 1_000_000_000);

pub(super) fn exchange_period(keys: &mut Keys<'_>, period_ns: &mut u64) {
    let (shortest, longest) = EXCHANGE_PERIOD_NS;
    let (mut rate, mut period) = (None, Some(*period_ns));
    keys.optional(
        "rate",
        RateWithin(shortest, longest),
        "\"1 kHz\"",
        "Exchanges in a second, up to 10 kHz.",
        &mut rate,
    );
    keys.optional(
        "period",
        time("1 ms").within(shortest, longest),
        "that of `rate`",
        "From one exchange to the next. Not with `rate`.",
        &mut period,
    );
    keys.not_both(&[("rate", "period")]);
    if keys.given("rate").is_some() && keys.given("period").is_some() {
        keys.refuse_value("period", "conflicts with `rate`", "give one of the two");
    }
    if let Some(ns) = rate.map(|rate| rate.period_ns).or(period) {
        *period_ns = ns;
    }
}

/// 1 kHz.
const ETHERCAT_PERIOD_NS: u64 = 1_000_000;

/// One worker for each CPU, on all of them.
pub(super) fn everywhere(kind: LoadKind) -> LoadSpec {
    LoadSpec {
        kind,
        workers: 0,
        cpus: None,
    }
}

pub(super) fn memory(working_set: WorkingSet, access: MemoryAccess) -> LoadSpec {
    everywhere(LoadKind::Memory {
        working_set,
        access,
    })
}

pub(super) fn exchange() -> LoadSpec {
    everywhere(LoadKind::Ethercat {
        period_ns: ETHERCAT_PERIOD_NS,
        bus: EthercatBus::default(),
    })
}

pub(super) fn fio(arguments: Vec<String>) -> LoadSpec {
    everywhere(LoadKind::Fio { arguments })
}

pub(super) fn gpu(work: GpuWork) -> LoadSpec {
    everywhere(LoadKind::Gpu {
        work,
        interface: None,
        device: 0,
    })
}
