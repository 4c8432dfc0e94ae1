//! Position of each CPU: package, cluster, core, and the CPUs that share its core.

use serde::{Deserialize, Serialize};

use crate::{Reading, Root};
use wakepath_timeline::CpuSet;

/// One CPU's place. An offline CPU has none: the kernel removes it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CpuPlace {
    /// The CPU.
    pub cpu: u16,
    /// The core's number; −1 if the firmware does not report it.
    pub core: Reading<i32>,
    /// The package's number; −1 if the firmware does not report it.
    pub package: Reading<i32>,
    /// The cluster's number (Linux 5.16 and later); −1 or 65535 if there is none.
    pub cluster: Reading<i32>,
    /// This CPU and those that share its core (SMT).
    pub siblings: Reading<CpuSet>,
    /// Relative speed, 1024 the fastest (boards with fast and slow cores).
    pub capacity: Reading<u32>,
}

pub(super) fn read(root: &Root, cpus: &[u16]) -> Vec<CpuPlace> {
    cpus.iter()
        .map(|&cpu| {
            let folder = format!("/sys/devices/system/cpu/cpu{cpu}");
            let list = |file: &str| root.cpus(&format!("{folder}/topology/{file}"));
            CpuPlace {
                cpu,
                core: root.number(&format!("{folder}/topology/core_id")),
                package: root.number(&format!("{folder}/topology/physical_package_id")),
                cluster: root.number(&format!("{folder}/topology/cluster_id")),
                siblings: list("thread_siblings_list").or_else(|| list("core_cpus_list")),
                capacity: root.number(&format!("{folder}/cpu_capacity")),
            }
        })
        .collect()
}
