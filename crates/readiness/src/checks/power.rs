//! Frequency, idle states, supply, power modes, heat: the checks; how each is judged is below.

mod board;
mod frequency;
mod idle;
mod link_power;

use crate::{Check, Confidence, Group, Severity};

pub const CHECKS: &[Check] = &[
    Check {
        id: "F1",
        group: Group::Power,
        title: "frequency governor",
        reads: "/sys/devices/system/cpu/cpufreq/policy*/{related_cpus,scaling_governor}",
        why: "A governor that follows the load starts each cycle of a mostly idle loop at a low \
              clock; the change itself takes time (BeagleBone: 300 µs).",
        now: "echo performance > /sys/devices/system/cpu/cpufreq/policyN/scaling_governor",
        boot: "cpufreq.default_governor=performance",
        weight: Severity::Notable,
        confidence: Confidence::Source,
        judge: frequency::governor,
    },
    Check {
        id: "F2",
        group: Group::Power,
        title: "frequency range",
        reads: "/sys/devices/system/cpu/cpufreq/policy*/scaling_{min,max}_freq, \
                energy_performance_preference, boost, no_turbo",
        why: "The work's execution time varies with the clock, in the ratio of the two bounds.",
        now: "write scaling_max_freq's value into scaling_min_freq; \
              energy_performance_preference: performance",
        boot: "",
        weight: Severity::Minor,
        confidence: Confidence::WellKnown,
        judge: frequency::range,
    },
    Check {
        id: "F3",
        group: Group::Power,
        title: "idle states",
        reads: "/sys/devices/system/cpu/cpu*/cpuidle/state*/{latency,disable}, \
                power/pm_qos_resume_latency_us",
        why: "A sleeping CPU must wake up first. Published: 40 + 90 µs on a BeagleBone, 170 µs for \
              C6 on Ice Lake.",
        now: "write a bound in µs to /sys/devices/system/cpu/cpuN/power/pm_qos_resume_latency_us, \
              or 1 to the state's `disable`",
        boot: "x86: processor.max_cstate=1 intel_idle.max_cstate=1",
        weight: Severity::Notable,
        confidence: Confidence::Source,
        judge: idle::idle_states,
    },
    Check {
        id: "F4",
        group: Group::Power,
        title: "per-CPU latency bound",
        reads: "/sys/devices/system/cpu/cpuN/power/pm_qos_resume_latency_us",
        why: "Often misread: 0 means no bound, n/a means no latency at all.",
        now: "write n/a for no idle state, or a bound in µs, to \
              /sys/devices/system/cpu/cpuN/power/pm_qos_resume_latency_us",
        boot: "",
        weight: Severity::Minor,
        confidence: Confidence::Source,
        judge: idle::latency_bound,
    },
    Check {
        id: super::LATENCY_REQUEST,
        group: Group::Power,
        title: "holders of /dev/cpu_dma_latency",
        reads: "/dev/cpu_dma_latency, /proc/*/fd",
        why: "A measuring tool that holds it hides the idle latency that the loop sees once the tool has ended.",
        now: "end its holder before measuring, or hold it in production too",
        boot: "",
        weight: Severity::Notable,
        confidence: Confidence::Source,
        judge: idle::request_holder,
    },
    Check {
        id: "F6",
        group: Group::Power,
        title: "Raspberry Pi supply and throttling",
        reads: "/sys/class/hwmon/hwmon*/in0_lcrit_alarm, \
                /sys/devices/platform/soc/soc:firmware/get_throttled",
        why: "Under-voltage caps the clock, typically when motors start.",
        now: "a stronger supply, a shorter cable",
        boot: "",
        weight: Severity::Notable,
        confidence: Confidence::Source,
        judge: board::pi_supply,
    },
    Check {
        id: "F7",
        group: Group::Power,
        title: "Jetson power mode",
        reads: "/var/lib/nvpmodel/status, /sys/devices/system/cpu/{present,online}",
        why: "A power mode can take cores away or cap clocks.",
        now: "nvpmodel -m 0, then jetson_clocks",
        boot: "nvpmodel keeps its mode across reboots",
        weight: Severity::Notable,
        confidence: Confidence::WellKnown,
        judge: board::jetson_mode,
    },
    Check {
        id: "F8",
        group: Group::Power,
        title: "heat",
        reads: "/sys/class/thermal/cooling_device*/{type,cur_state}",
        why: "Thermal throttling lowers the clock and lengthens the work until the machine has cooled down.",
        now: "better cooling, or less power used elsewhere",
        boot: "",
        weight: Severity::Notable,
        confidence: Confidence::WellKnown,
        judge: board::heat,
    },
    Check {
        id: "F9",
        group: Group::Power,
        title: "power saving of PCI Express links",
        reads: "/sys/module/pcie_aspm/parameters/policy, /sys/bus/pci/devices/*/link/*_aspm",
        why: "A sleeping link takes up to 64 µs to wake up, before each interrupt and each read of a network card, \
              disk or GPU.",
        now: "echo performance > /sys/module/pcie_aspm/parameters/policy",
        boot: "pcie_aspm.policy=performance",
        weight: Severity::Minor,
        confidence: Confidence::WellKnown,
        judge: link_power::aspm,
    },
];
