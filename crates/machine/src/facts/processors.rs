//! The machine's CPUs: their kinds, positions and shared resources.
//!
//! The set of online CPUs isn't fixed and is read with its time.

use serde::{Deserialize, Serialize};

use super::{Cache, CacheSizes, CpuModel, CpuPlace, caches, cpu_model, topology};
use crate::{Reading, Root};
use wakepath_timeline::CpuSet;

/// The CPUs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Processors {
    /// CPUs the kernel has found, online or not.
    pub present: Reading<CpuSet>,
    /// The kinds of CPU.
    pub models: Reading<Vec<CpuModel>>,
    /// Each CPU's place.
    pub places: Vec<CpuPlace>,
    /// The caches, each once.
    pub caches: Reading<Vec<Cache>>,
    /// NUMA nodes with memory or CPUs.
    pub numa_nodes: Reading<CpuSet>,
}

impl Processors {
    pub(super) fn read(root: &Root) -> Self {
        let numbers = root.numbered("/sys/devices/system/cpu", "cpu");
        Self {
            present: root.cpus("/sys/devices/system/cpu/present"),
            models: root.parsed("/proc/cpuinfo", cpu_model::parse),
            places: topology::read(root, &numbers),
            caches: caches::read(root, &numbers),
            numa_nodes: root.cpus("/sys/devices/system/node/online"),
        }
    }

    /// The sizes of the caches one CPU sees, in bytes.
    pub fn caches(&self) -> CacheSizes {
        CacheSizes::new(self.caches.known().map_or(&[], Vec::as_slice))
    }

    /// The sets of CPUs that share a last-level cache, in the order of their first CPU.
    pub fn last_level_groups(&self) -> Vec<CpuSet> {
        let caches = self.caches.known().map_or(&[][..], Vec::as_slice);
        let last = caches.iter().map(|cache| cache.level).max();
        let mut groups: Vec<CpuSet> = caches
            .iter()
            .filter(|cache| Some(cache.level) == last && cache.kind != "Instruction")
            .map(|cache| cache.cpus.clone())
            .collect();
        groups.sort_by(|a, b| a.numbers().cmp(b.numbers()));
        groups.dedup();
        groups
    }

    /// Whether two CPUs share a core anywhere.
    pub fn has_shared_cores(&self) -> bool {
        self.places
            .iter()
            .any(|place| place.siblings.known().is_some_and(|list| list.len() > 1))
    }

    /// Whether these are x86 CPUs: only those report a family and a stepping with a vendor's name.
    pub(super) fn is_x86(&self) -> bool {
        let vendor = self
            .models
            .known()
            .and_then(|kinds| kinds.first()?.vendor.as_deref());
        vendor.is_some_and(|name| !name.starts_with("0x"))
    }
}
