//! Trees for the checks whose ids begin with K, B.

use super::files::*;

pub const CASES: &[Case] = &[
    (
        "K1",
        &[],
        &[
            ("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC"),
            ("sys/kernel/debug/sched/preempt", "none voluntary (full)"),
        ],
        &[("proc/sys/kernel/version", GONE)],
    ),
    (
        "K2",
        &[
            ("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC"),
            ("sys/kernel/debug/sched/preempt", "none voluntary (full)"),
        ],
        &[
            ("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC"),
            ("sys/kernel/debug/sched/preempt", "none (voluntary) full"),
        ],
        &[("proc/sys/kernel/version", GONE)],
    ),
    (
        "K3",
        &[(
            "proc/timer_list",
            "cpu: 0\n  .hres_active    : 1\ncpu: 1\n  .hres_active    : 1\n",
        )],
        &[(
            "proc/timer_list",
            "cpu: 0\n  .hres_active    : 1\ncpu: 1\n  .hres_active    : 0\n",
        )],
        &[
            ("proc/timer_list", "nonsense"),
            (CONFIG, "CONFIG_HIGH_RES_TIMERS=y\n"),
        ],
    ),
    (
        "K4",
        &[],
        &[(CONFIG, "# CONFIG_CPUSETS is not set\n")],
        &[(CONFIG, GONE)],
    ),
    (
        "K5",
        &[(CMDLINE, "nohz_full=1"), (CONFIG, "CONFIG_NO_HZ_FULL=y\n")],
        &[
            (CMDLINE, "nohz_full=1"),
            (CONFIG, "# CONFIG_NO_HZ_FULL is not set\n"),
        ],
        &[(CMDLINE, "nohz_full=1"), (CONFIG, GONE)],
    ),
    (
        "K6",
        &[],
        &[(CONFIG, "CONFIG_PROVE_LOCKING=y\n")],
        &[(CONFIG, GONE)],
    ),
    (
        "K7",
        &[(
            CONFIG,
            "CONFIG_OSNOISE_TRACER=y\nCONFIG_TIMERLAT_TRACER=y\nCONFIG_HWLAT_TRACER=y\n",
        )],
        &[(CONFIG, "CONFIG_OSNOISE_TRACER=y\n")],
        &[(CONFIG, GONE)],
    ),
    (
        "B1",
        &[(CMDLINE, "isolcpus=1"), (LOG, BOOTED)],
        &[
            (CMDLINE, "isolcpus=wrong,1"),
            (LOG, "4,1,0,-;isolcpus: Invalid flag wrong\n"),
        ],
        // The log has turned over: no complaint in it proves nothing.
        &[
            (CMDLINE, "isolcpus=1"),
            (LOG, "4,9000,0,-;usb 1-1: new device\n"),
        ],
    ),
    (
        "B2",
        &[
            (CMDLINE, "isolcpus=1"),
            ("sys/devices/system/cpu/isolated", "1"),
        ],
        &[
            (CMDLINE, "isolcpus=1"),
            ("sys/devices/system/cpu/isolated", ""),
        ],
        &[
            (CMDLINE, "isolcpus=1"),
            ("sys/devices/system/cpu/isolated", GONE),
        ],
    ),
    (
        "B3",
        &[],
        &[(CMDLINE, "kthread_cpus=0")],
        &[(CMDLINE, GONE)],
    ),
    (
        "B4",
        &[("sys/devices/system/cpu/nohz_full", "")],
        &[("sys/devices/system/cpu/nohz_full", "1")],
        &[("sys/devices/system/cpu/nohz_full", "one")],
    ),
    (
        "B5",
        &[],
        &[
            (CMDLINE, "isolcpus=1"),
            ("sys/devices/system/cpu/isolated", "1"),
        ],
        &[("sys/devices/system/cpu/isolated", GONE)],
    ),
    (
        "B6",
        &[(
            "sys/devices/system/cpu/vulnerabilities/meltdown",
            "Not affected",
        )],
        &[(
            "sys/devices/system/cpu/vulnerabilities/meltdown",
            "Mitigation: PTI",
        )],
        &[],
    ),
];
