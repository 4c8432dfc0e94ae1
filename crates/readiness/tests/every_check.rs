//! Every check on a tree where it is good, one where it is bad, one where it can't be told. The
//! trees hold a few files each, beside the same base: two CPUs, the loop on CPU 1.

use std::time::Duration;
use wakepath_machine::Root;
use wakepath_readiness::{Inspection, LoopAtHand, Program, State, all, named};

/// A file that is not there although the base has it.
const GONE: &str = "\u{0}gone";

type Files = &'static [(&'static str, &'static str)];

const BASE: Files = &[
    ("sys/devices/system/cpu/online", "0-1"),
    ("sys/devices/system/cpu/present", "0-1"),
    ("sys/devices/system/cpu/isolated", ""),
    ("proc/sys/kernel/osrelease", "6.12.1"),
    ("proc/sys/kernel/version", "#1 SMP PREEMPT_RT"),
    ("proc/sys/kernel/arch", "x86_64"),
    ("proc/cmdline", "quiet"),
    ("proc/sys/kernel/sched_rt_period_us", "1000000"),
    (CONFIG, "CONFIG_HZ=250\nCONFIG_CPUSETS=y\n"),
    (
        "proc/cpuinfo",
        "processor\t: 0\nmodel name\t: X\nflags\t\t: fpu\n",
    ),
];

const CONFIG: &str = "boot/config-6.12.1";
const CMDLINE: &str = "proc/cmdline";
const LOG: &str = "dev/kmsg.recorded";
const BOOTED: &str = "5,0,0,-;Linux version 6.12.1\n";
const QOS: &str = "sys/devices/system/cpu/cpu1/power/pm_qos_resume_latency_us";
const DEEP: Files = &[
    ("sys/devices/system/cpu/cpu1/cpuidle/state0/name", "C6"),
    ("sys/devices/system/cpu/cpu1/cpuidle/state0/latency", "170"),
    ("sys/devices/system/cpu/cpu1/cpuidle/state0/disable", "0"),
    (QOS, "0"),
];
const IRQ: &str = "           CPU0       CPU1\n 36:      5     9 PCI-MSIX 1-edge eth0\n";
const RP1: &str = "           CPU0       CPU1\n 36:      5     9 rp1_irq_chip 1-edge spi0\n";
const SPI: &str = "           CPU0       CPU1\n 36:      5     9 GIC 1-edge spidev0.0\n";
const REQUESTED: &str = "proc/irq/36/smp_affinity_list";
const EFFECTIVE: &str = "proc/irq/36/effective_affinity_list";
const INTERRUPTS: &str = "proc/interrupts";

/// A kernel thread that may be moved, one that may not, and a program.
const KTHREAD: &str = "9 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 0 0 0 0 0 0 \
                       0 0 0 0 0 0 0 17 0 0 0 0 0 0";
const OFFLOAD: &str = "9 (rcuop/1) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 0 0 0 0 0 0 \
                       0 0 0 0 0 0 0 17 0 0 0 0 0 0";
const HANDLER: &str = "9 (irq/36-eth0) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 0 0 0 0 0 \
                       0 0 0 0 0 0 0 0 17 0 90 1 0 0 0";
const HANDLER_BELOW: &str = "9 (irq/36-eth0) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 0 0 \
                             0 0 0 0 0 0 0 0 0 0 0 17 0 50 1 0 0 0";
const BALANCER: &str = "9 (irqbalance) S 1 0 0 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 0 0 0 0 \
                        0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0";
const TUNED: &str = "9 (tuned) S 1 0 0 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 0 0 0 0 0 0 0 0 0 \
                     0 0 0 0 17 0 0 0 0 0 0";
const STALLD: &str = "9 (stalld) S 1 0 0 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 0 0 0 0 0 0 0 0 0 \
                      0 0 0 0 17 0 0 0 0 0 0";
const SNAPD: &str = "9 (snapd) S 1 0 0 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 0 0 0 0 0 0 0 0 0 \
                     0 0 0 0 17 0 0 0 0 0 0";
const FLYER: &str = "9 (flyer) S 1 0 0 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 0 0 0 0 0 0 0 0 0 \
                     0 0 0 0 17 0 0 0 0 0 0";
const STAT: &str = "proc/9/stat";
const STATUS: &str = "proc/9/status";
const CPU0_ALONE: &str = "Cpus_allowed_list:\t0\n";
const BOTH_CPUS: &str = "Cpus_allowed_list:\t0-1\n";
const POLICY: &str = "sys/devices/system/cpu/cpufreq/policy0/related_cpus";
const GOVERNOR: &str = "sys/devices/system/cpu/cpufreq/policy0/scaling_governor";
const LOWEST: &str = "sys/devices/system/cpu/cpufreq/policy0/scaling_min_freq";
const HIGHEST: &str = "sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq";
const MODEL: &str = "proc/device-tree/model";
const SIBLINGS: &str = "sys/devices/system/cpu/cpu1/topology/thread_siblings_list";
const LIMITS: &str = "proc/self/limits";
const RTPRIO: &str = "Limit                     Soft Limit           Hard Limit           Units\n\
                      Max locked memory         65536                65536                bytes\n\
                      Max nice priority         0                    0\n\
                      Max realtime priority     0                    0\n\
                      Max realtime timeout      unlimited            unlimited            us\n";
const RTPRIO_99: &str = "Limit                     Soft Limit           Hard Limit           Units\n\
                         Max locked memory         65536                65536                bytes\n\
                         Max nice priority         0                    0\n\
                         Max realtime priority     99                   99\n\
                         Max realtime timeout      unlimited            unlimited            us\n";
const FAIR: &str = "sys/kernel/debug/sched/fair_server/cpu1/runtime";
const FAIR_PERIOD: (&str, &str) = (
    "sys/kernel/debug/sched/fair_server/cpu1/period",
    "1000000000",
);
const V2: &str = "29 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
const V1_CPU: &str = "29 23 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n";

/// What each check is shown: good, bad, unknown.
const CASES: &[(&str, Files, Files, Files)] = &[
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
        "Q1",
        &[(INTERRUPTS, IRQ), (REQUESTED, "0"), (EFFECTIVE, "0")],
        // Requested elsewhere, still here: requested is not effective.
        &[(INTERRUPTS, IRQ), (REQUESTED, "0"), (EFFECTIVE, "1")],
        &[(INTERRUPTS, IRQ), (REQUESTED, "0")],
    ),
    (
        "Q2",
        &[("proc/irq/default_smp_affinity", "1")],
        &[("proc/irq/default_smp_affinity", "3")],
        &[("proc/irq/default_smp_affinity", "all")],
    ),
    (
        "Q3",
        &[(
            "sys/kernel/debug/irq/irqs/36",
            "effectiv: 0\ndstate: IRQD_AFFINITY_MANAGED\n",
        )],
        &[(
            "sys/kernel/debug/irq/irqs/36",
            "effectiv: 1\ndstate: IRQD_AFFINITY_MANAGED\n",
        )],
        &[],
    ),
    (
        "Q4",
        &[(INTERRUPTS, RP1), (EFFECTIVE, "0")],
        &[(INTERRUPTS, RP1), (EFFECTIVE, "")],
        &[(INTERRUPTS, RP1)],
    ),
    (
        "Q5",
        &[
            (STAT, FLYER),
            ("proc/9/fd/3", "/dev/spidev0.0"),
            (INTERRUPTS, SPI),
            (EFFECTIVE, "1"),
        ],
        &[
            (STAT, FLYER),
            ("proc/9/fd/3", "/dev/spidev0.0"),
            (INTERRUPTS, SPI),
            (EFFECTIVE, "0"),
        ],
        &[
            (STAT, FLYER),
            ("proc/9/fd/3", "/dev/null"),
            (INTERRUPTS, SPI),
            (EFFECTIVE, "0"),
        ],
    ),
    (
        "Q6",
        &[(STAT, HANDLER_BELOW), (STATUS, BOTH_CPUS)],
        &[(STAT, HANDLER), (STATUS, BOTH_CPUS)],
        &[],
    ),
    ("Q7", &[], &[], &[("sys/class/net/eth0/device/uevent", "")]),
    (
        "Q8",
        &[("sys/class/net/eth0/queues/rx-0/rps_cpus", "1")],
        &[("sys/class/net/eth0/queues/rx-0/rps_cpus", "2")],
        &[("sys/class/net/eth0/queues/rx-0/rps_cpus", "?")],
    ),
    (
        "Q9",
        &[
            (STAT, BALANCER),
            ("proc/9/environ", "A=1\u{0}IRQBALANCE_BANNED_CPULIST=1\u{0}"),
        ],
        &[(STAT, BALANCER), ("proc/9/environ", "A=1\u{0}")],
        &[(STAT, BALANCER)],
    ),
    (
        "W1",
        &[("sys/devices/virtual/workqueue/cpumask", "1")],
        &[("sys/devices/virtual/workqueue/cpumask", "3")],
        &[],
    ),
    (
        "W2",
        &[(STAT, KTHREAD), (STATUS, CPU0_ALONE)],
        &[(STAT, KTHREAD), (STATUS, BOTH_CPUS)],
        &[],
    ),
    (
        "W3",
        &[(STAT, OFFLOAD), (STATUS, CPU0_ALONE)],
        &[(STAT, OFFLOAD), (STATUS, BOTH_CPUS)],
        &[],
    ),
    (
        "W4",
        &[("sys/kernel/rcu_expedited", "0")],
        &[("sys/kernel/rcu_expedited", "1")],
        &[],
    ),
    (
        "W5",
        &[("proc/sys/vm/stat_interval", "10")],
        &[("proc/sys/vm/stat_interval", "1")],
        &[],
    ),
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
            ("proc/self/cgroup", "1:cpu:/robot\n"),
            ("sys/fs/cgroup/cpu/robot/cpu.rt_runtime_us", "0"),
            ("sys/fs/cgroup/cpu/robot/cpu.rt_period_us", "1000000"),
        ],
        &[(CONFIG, GONE), ("proc/self/mountinfo", V2)],
    ),
    (
        "S4",
        &[("proc/self/status", BOTH_CPUS)],
        &[("proc/self/status", CPU0_ALONE)],
        &[],
    ),
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
    ("C1", &[(CLOCK, "tsc")], &[(CLOCK, "hpet")], &[]),
    ("C2", &[], &[], &[]),
    (
        "L1",
        &[
            (LIMITS, RTPRIO_99),
            ("proc/self/status", "CapEff:\t0000000000000000\n"),
        ],
        &[
            (LIMITS, RTPRIO),
            ("proc/self/status", "CapEff:\t0000000000000000\n"),
        ],
        &[],
    ),
    ("V1", &[(STAT, FLYER)], &[(STAT, TUNED)], &[]),
    ("V2", &[(STAT, FLYER)], &[(STAT, STALLD)], &[]),
    ("V3", &[(STAT, FLYER)], &[(STAT, SNAPD)], &[]),
    (
        "X1",
        &[],
        &[(
            "proc/cpuinfo",
            "processor\t: 0\nmodel name\t: X\nflags\t\t: fpu hypervisor\n",
        )],
        &[("proc/cpuinfo", GONE)],
    ),
    (
        "X2",
        &[
            ("sys/kernel/tracing/current_tracer", "hwlat"),
            ("sys/kernel/tracing/tracing_max_latency", "0"),
        ],
        &[
            ("sys/kernel/tracing/current_tracer", "hwlat"),
            ("sys/kernel/tracing/tracing_max_latency", "900"),
        ],
        &[
            ("sys/kernel/tracing/current_tracer", "nop"),
            ("sys/kernel/tracing/tracing_max_latency", "0"),
        ],
    ),
    (
        "D1",
        &[("proc/consoles", "tty0  -WU (EC p  )    4:1\n")],
        &[
            ("proc/consoles", "ttyS0  -W- (EC p a)    4:64\n"),
            ("proc/sys/kernel/printk", "4 4 1 7"),
            ("proc/sys/kernel/version", "#1 SMP PREEMPT"),
        ],
        &[("proc/consoles", "ttyS0  -W- (EC p a)    4:64\n")],
    ),
    (
        "D2",
        &[(STAT, FLYER), ("proc/9/fd/3", "/dev/null")],
        &[
            (STAT, FLYER),
            ("proc/9/fd/3", "/var/log/flight.csv"),
            ("proc/9/fdinfo/3", "pos:\t0\nflags:\t0100001\n"),
        ],
        &[(STAT, FLYER), ("proc/9/fd/3", "/var/log/flight.csv")],
    ),
];

const STATE_NAME: &str = "sys/devices/system/cpu/cpu1/cpuidle/state0/name";
const STATE_LATENCY: &str = "sys/devices/system/cpu/cpu1/cpuidle/state0/latency";
const STATE_DISABLE: &str = "sys/devices/system/cpu/cpu1/cpuidle/state0/disable";
const CACHE_LEVEL: &str = "sys/devices/system/cpu/cpu1/cache/index3/level";
const CACHE_TYPE: &str = "sys/devices/system/cpu/cpu1/cache/index3/type";
const CACHE_SHARED: &str = "sys/devices/system/cpu/cpu1/cache/index3/shared_cpu_list";
const CLOCK: &str = "sys/devices/system/clocksource/clocksource0/current_clocksource";

fn subject() -> LoopAtHand {
    LoopAtHand {
        period_ns: 4_000_000,
        latency_ns: Some(400_000),
        cpus: "1".parse().unwrap(),
        priority: Some(80),
        program: Some(Program {
            name: "flyer".into(),
            pid: Some(9),
        }),
    }
}

fn tree(files: Files) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (path, content) in BASE.iter().chain(files) {
        let path = directory.path().join(path);
        if *content == GONE {
            std::fs::remove_file(path).unwrap();
            continue;
        }
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    directory
}

fn state_with(id: &str, files: Files, subject: LoopAtHand) -> (State, String) {
    let directory = tree(files);
    let seen = Inspection::read(Root::at(directory.path()), subject, Duration::ZERO);
    let finding = (named(id).unwrap().judge)(&seen);
    (finding.state, format!("{finding:?}"))
}

#[test]
fn every_check_is_good_where_it_should_be_bad_where_it_should_be_and_else_unknown() {
    let mut wrong = Vec::new();
    for (id, good, bad, unknown) in CASES {
        for (files, expected) in [
            (good, State::Good),
            (bad, State::Bad),
            (unknown, State::Unknown),
        ] {
            if SEPARATE.contains(&(*id, expected)) {
                continue;
            }
            let (state, finding) = state_with(id, files, subject());
            if state != expected {
                wrong.push(format!("{id} should be {expected:?}: {finding}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What the table can't show: these have a test of their own below, or no such state.
const SEPARATE: &[(&str, State)] = &[
    // Only ethtool could tell: always unknown where there is a card.
    ("Q7", State::Good),
    ("Q7", State::Bad),
    ("M2", State::Good),
    ("M2", State::Bad),
    ("C2", State::Good),
    ("C2", State::Bad),
    ("C2", State::Unknown),
];

#[test]
fn no_check_is_left_out_of_the_table() {
    let tested: Vec<&str> = CASES.iter().map(|(id, ..)| *id).collect();
    let all: Vec<&str> = all().map(|check| check.id).collect();
    assert_eq!(tested, all);
}

#[test]
fn a_program_that_faults_while_it_is_watched_is_bad_and_one_that_does_not_is_good() {
    let directory = tree(&[(STAT, FLYER)]);
    let mut seen = Inspection::read(Root::at(directory.path()), subject(), Duration::ZERO);
    let now = seen.processes.all[0].clone();
    let judge = named("M2").unwrap().judge;
    seen.program_before = Some(now.clone());
    assert_eq!(judge(&seen).state, State::Good);
    seen.processes.all[0].faults = (7, 0);
    assert_eq!(judge(&seen).state, State::Bad);
    // Another process under the same number is no rate.
    seen.processes.all[0].started += 1;
    assert_eq!(judge(&seen).state, State::Unknown);
}

#[test]
fn timer_slack_concerns_an_ordinary_loop_alone() {
    let ordinary = LoopAtHand {
        priority: None,
        period_ns: 1_000_000,
        latency_ns: None,
        ..subject()
    };
    let files: [Files; 3] = [
        &[("proc/9/timerslack_ns", "1")],
        &[("proc/9/timerslack_ns", "50000")],
        &[],
    ];
    let states: Vec<State> = files
        .into_iter()
        .map(|files| state_with("C2", files, ordinary.clone()).0)
        .collect();
    assert_eq!(states, [State::Good, State::Bad, State::Unknown]);
    assert_eq!(state_with("C2", files[1], subject()).0, State::DoesNotApply);
}

#[test]
fn the_same_idle_state_is_bad_for_a_fast_loop_and_good_for_a_slow_one() {
    let slow = LoopAtHand {
        period_ns: 100_000_000,
        latency_ns: None,
        ..subject()
    };
    assert_eq!(state_with("F3", DEEP, subject()).0, State::Bad);
    assert_eq!(state_with("F3", DEEP, slow).0, State::Good);
}
