//! Trees for the checks whose ids begin with F, T.

use super::files::*;

pub const CASES: &[Case] = &[
    (
        "F1",
        &[(POLICY, "0 1"), (GOVERNOR, "performance")],
        &[(POLICY, "0 1"), (GOVERNOR, "ondemand")],
        &[(POLICY, "0 1")],
    ),
    (
        "F2",
        &[(POLICY, "0 1"), (LOWEST, "1000"), (HIGHEST, "1000")],
        &[(POLICY, "0 1"), (LOWEST, "600"), (HIGHEST, "1000")],
        &[(POLICY, "0 1"), (LOWEST, "600")],
    ),
    (
        "F3",
        &[
            (STATE_NAME, "C1"),
            (STATE_LATENCY, "2"),
            (STATE_DISABLE, "0"),
            (QOS, "0"),
        ],
        DEEP,
        &[
            (STATE_NAME, "C6"),
            (STATE_LATENCY, "x"),
            (STATE_DISABLE, "0"),
        ],
    ),
    (
        "F4",
        &[
            (STATE_NAME, "C6"),
            (STATE_LATENCY, "170"),
            (STATE_DISABLE, "0"),
            (QOS, "n/a"),
        ],
        DEEP,
        &[(QOS, "zero")],
    ),
    (
        "F5",
        &[("dev/cpu_dma_latency", "\u{7f}\u{7f}\u{7f}\u{7f}")],
        &[("dev/cpu_dma_latency", "\u{0}\u{0}\u{0}\u{0}")],
        &[],
    ),
    (
        "F6",
        &[
            (MODEL, "Raspberry Pi 5 Model B"),
            ("sys/class/hwmon/hwmon0/name", "rpi_volt"),
            ("sys/class/hwmon/hwmon0/in0_lcrit_alarm", "0"),
        ],
        &[
            (MODEL, "Raspberry Pi 5 Model B"),
            ("sys/class/hwmon/hwmon0/name", "rpi_volt"),
            ("sys/class/hwmon/hwmon0/in0_lcrit_alarm", "1"),
        ],
        &[(MODEL, "Raspberry Pi 5 Model B")],
    ),
    (
        "F7",
        &[
            (MODEL, "NVIDIA Jetson Orin Nano"),
            ("var/lib/nvpmodel/status", "pmode:0000"),
        ],
        &[
            (MODEL, "NVIDIA Jetson Orin Nano"),
            ("var/lib/nvpmodel/status", "pmode:0001"),
            ("sys/devices/system/cpu/present", "0-5"),
        ],
        &[(MODEL, "NVIDIA Jetson Orin Nano")],
    ),
    (
        "F8",
        &[
            ("sys/class/thermal/cooling_device0/type", "cpufreq-cpu0"),
            ("sys/class/thermal/cooling_device0/cur_state", "0"),
        ],
        &[
            ("sys/class/thermal/cooling_device0/type", "cpufreq-cpu0"),
            ("sys/class/thermal/cooling_device0/cur_state", "3"),
        ],
        &[
            ("sys/class/thermal/cooling_device0/type", "cpufreq-cpu0"),
            ("sys/class/thermal/cooling_device0/cur_state", "x"),
        ],
    ),
    (
        "F9",
        &[(ASPM, "default [performance] powersave powersupersave")],
        &[(ASPM, "default performance [powersave] powersupersave")],
        &[
            (ASPM, "[default] performance powersave powersupersave"),
            ("sys/bus/pci/devices/0000:00:00.0/vendor", "0x8086"),
        ],
    ),
    (
        "T1",
        &[],
        &[("sys/devices/system/cpu/online", "0")],
        &[("sys/devices/system/cpu/online", "0-")],
    ),
    (
        "T2",
        &[("sys/devices/system/cpu/smt/active", "0")],
        &[
            ("sys/devices/system/cpu/smt/active", "1"),
            (SIBLINGS, "0-1"),
        ],
        &[("sys/devices/system/cpu/smt/active", "1"), (SIBLINGS, "?")],
    ),
    (
        "T3",
        &[],
        &[
            ("sys/devices/system/cpu/online", "1"),
            ("sys/devices/system/cpu/online", "0,2"),
        ],
        &[("sys/devices/system/cpu/online", GONE)],
    ),
    (
        "T4",
        &[
            (CACHE_LEVEL, "3"),
            (CACHE_TYPE, "Unified"),
            (CACHE_SHARED, "1"),
        ],
        &[
            (CACHE_LEVEL, "3"),
            (CACHE_TYPE, "Unified"),
            (CACHE_SHARED, "0-1"),
        ],
        &[],
    ),
    (
        "T5",
        &[
            (ISOLATED, "0-1"),
            (STAT, FLYER_FIFO),
            (STATUS, BOTH_CPUS),
            ("proc/10/stat", CAMERA_FIFO_ELSEWHERE),
            ("proc/10/status", BOTH_CPUS),
        ],
        &[
            (ISOLATED, "0-1"),
            (STAT, FLYER_FIFO),
            (STATUS, BOTH_CPUS),
            ("proc/10/stat", CAMERA_FIFO),
            ("proc/10/status", BOTH_CPUS),
        ],
        &[(ISOLATED, "1")],
    ),
];
