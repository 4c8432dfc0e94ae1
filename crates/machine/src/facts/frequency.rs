//! The CPUs' clock rates: governor, bounds and present values.

use serde::{Deserialize, Serialize};

use super::Release;
use crate::{Misread, Reading, Root};
use wakepath_timeline::CpuSet;

const FOLDER: &str = "/sys/devices/system/cpu/cpufreq";

/// Frequency control. No policies: the kernel does not control frequencies here (usual in a
/// virtual machine).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Frequency {
    /// One per group of CPUs that share a clock.
    pub policies: Vec<FrequencyPolicy>,
    /// Whether frequencies above the nominal one are allowed: 1 if so.
    pub boost: Reading<u32>,
    /// Intel's opposite of `boost`: 1 if turbo is forbidden.
    pub no_turbo: Reading<u32>,
}

/// A group of CPUs that share a clock.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FrequencyPolicy {
    /// The number in `policyN`.
    pub policy: u32,
    /// The CPUs of the group, offline ones too.
    pub cpus: Reading<CpuSet>,
    /// `performance`, `schedutil`, …
    pub governor: Reading<String>,
    /// The driver: `acpi-cpufreq`, `intel_pstate`, `cpufreq-dt`, …
    pub driver: Reading<String>,
    /// The processor's own energy preference.
    pub energy_preference: Reading<String>,
    /// The lowest rate the policy allows, kHz.
    pub minimum_khz: Reading<u64>,
    /// The highest rate the policy allows, kHz.
    pub maximum_khz: Reading<u64>,
    /// The lowest rate of the hardware, kHz.
    pub hardware_minimum_khz: Reading<u64>,
    /// The highest rate of the hardware, kHz.
    pub hardware_maximum_khz: Reading<u64>,
    /// The present rate, kHz, which fluctuates between readings.
    pub current_khz: Reading<u64>,
    /// Duration of a change of rate, ns; 4294967295 if the driver does not know it.
    pub transition_latency_ns: Reading<u64>,
}

impl Frequency {
    pub(super) fn read(root: &Root, release: Option<Release>, x86: bool) -> Self {
        // Before Linux 5.18 an x86 kernel can interrupt the CPU and sleep 10 ms to answer.
        let dear = x86
            && release.is_none_or(|now| {
                now < Release {
                    major: 5,
                    minor: 18,
                }
            });
        let policies = root
            .numbered(FOLDER, "policy")
            .into_iter()
            .map(|policy| {
                let file = |name: &str| format!("{FOLDER}/policy{policy}/{name}");
                FrequencyPolicy {
                    policy,
                    cpus: root.parsed(&file("related_cpus"), related),
                    governor: root.text(&file("scaling_governor")),
                    driver: root.text(&file("scaling_driver")),
                    energy_preference: root.text(&file("energy_performance_preference")),
                    minimum_khz: root.number(&file("scaling_min_freq")),
                    maximum_khz: root.number(&file("scaling_max_freq")),
                    hardware_minimum_khz: root.number(&file("cpuinfo_min_freq")),
                    hardware_maximum_khz: root.number(&file("cpuinfo_max_freq")),
                    current_khz: if dear {
                        Reading::Skipped {
                            path: file("scaling_cur_freq"),
                            why: "before Linux 5.18 reading it interrupts the CPU".to_owned(),
                        }
                    } else {
                        root.number(&file("scaling_cur_freq"))
                    },
                    transition_latency_ns: root.number(&file("cpuinfo_transition_latency")),
                }
            })
            .collect();
        Self {
            policies,
            boost: root.number(&format!("{FOLDER}/boost")),
            no_turbo: root.number("/sys/devices/system/cpu/intel_pstate/no_turbo"),
        }
    }
}

/// `related_cpus` is separated by spaces, unlike the kernel's other lists.
fn related(text: &str) -> Result<CpuSet, Misread> {
    let listed = text.split_whitespace().collect::<Vec<_>>().join(",");
    Ok(listed.parse()?)
}
