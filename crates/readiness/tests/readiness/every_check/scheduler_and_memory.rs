//! Trees for the checks whose ids begin with S, M.

use super::files::*;

pub const CASES: &[Case] = &[
    (
        "S1",
        &[("proc/sys/kernel/sched_rt_runtime_us", "-1")],
        &[
            ("proc/sys/kernel/sched_rt_runtime_us", "950000"),
            (CONFIG, "CONFIG_RT_GROUP_SCHED=y\n"),
        ],
        &[],
    ),
    (
        "S2",
        &[(FAIR, "0"), FAIR_PERIOD],
        &[(FAIR, "50000000"), FAIR_PERIOD],
        &[],
    ),
    (
        "S3",
        &[],
        &[
            (CONFIG, "CONFIG_RT_GROUP_SCHED=y\n"),
            ("proc/self/mountinfo", V1_CPU),
            ("proc/9/cgroup", "1:cpu:/robot\n"),
            ("sys/fs/cgroup/cpu/robot/cpu.rt_runtime_us", "0"),
            ("sys/fs/cgroup/cpu/robot/cpu.rt_period_us", "1000000"),
        ],
        &[(CONFIG, GONE), ("proc/self/mountinfo", V2)],
    ),
    ("S4", &[(STATUS, BOTH_CPUS)], &[(STATUS, CPU0_ALONE)], &[]),
    (
        "S5",
        &[("proc/sys/kernel/watchdog_cpumask", "0")],
        &[("proc/sys/kernel/watchdog_cpumask", "0-1")],
        &[("proc/sys/kernel/watchdog_cpumask", "?")],
    ),
    (
        "S6",
        &[("proc/sys/kernel/timer_migration", "0")],
        &[("proc/sys/kernel/timer_migration", "1")],
        &[],
    ),
    (
        "S7",
        &[
            ("dev/evl/control", ""),
            ("sys/devices/virtual/evl/control/abi", "32"),
            ("sys/devices/virtual/evl/control/state", "running"),
        ],
        &[
            ("dev/evl/control", ""),
            ("sys/devices/virtual/evl/control/abi", "33"),
        ],
        &[("dev/evl/control", "")],
    ),
    (
        "S8",
        &[
            ("proc/self/mountinfo", V2),
            ("proc/9/cgroup", "0::/robot\n"),
            ("sys/fs/cgroup/robot/cpu.max", "max 100000"),
        ],
        &[
            ("proc/self/mountinfo", V2),
            ("proc/9/cgroup", "0::/robot/job\n"),
            ("sys/fs/cgroup/robot/cpu.max", "20000 100000"),
        ],
        &[],
    ),
    (
        "S9",
        &[(STAT, FLYER_NICE), (AUTOGROUP, "0")],
        &[(STAT, FLYER_NICE), (AUTOGROUP, "1")],
        &[(STAT, FLYER_NICE), (AUTOGROUP, "?")],
    ),
    (
        "M1",
        &[
            (STAT, FLYER),
            (STATUS, "VmLck:\t 900 kB\nVmRSS:\t 800 kB\n"),
        ],
        &[(STAT, FLYER), (STATUS, "VmLck:\t 0 kB\nVmRSS:\t 800 kB\n")],
        &[(STAT, FLYER)],
    ),
    ("M2", &[], &[], &[(STAT, FLYER)]),
    (
        "M3",
        &[("proc/sys/vm/compact_unevictable_allowed", "0")],
        &[("proc/sys/vm/compact_unevictable_allowed", "1")],
        &[],
    ),
    (
        "M4",
        &[(
            "sys/kernel/mm/transparent_hugepage/enabled",
            "always [madvise] never",
        )],
        &[(
            "sys/kernel/mm/transparent_hugepage/enabled",
            "[always] madvise never",
        )],
        &[],
    ),
    (
        "M5",
        &[("sys/kernel/mm/ksm/run", "0")],
        &[("sys/kernel/mm/ksm/run", "1")],
        &[("sys/kernel/mm/ksm/run", "")],
    ),
    (
        "M6",
        &[("proc/sys/kernel/numa_balancing", "0")],
        &[("proc/sys/kernel/numa_balancing", "1")],
        &[("proc/sys/kernel/numa_balancing", "?")],
    ),
    (
        "M7",
        &[("proc/meminfo", "SwapTotal: 0 kB\nSwapFree: 0 kB\n")],
        &[("proc/meminfo", "SwapTotal: 100 kB\nSwapFree: 40 kB\n")],
        &[],
    ),
];
