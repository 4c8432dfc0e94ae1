//! Files of the trees, by short names, with possible contents.

/// A file that is not there although the base has it.
pub const GONE: &str = "\u{0}gone";

pub type Files = &'static [(&'static str, &'static str)];

/// A check's id, and files that make it good, bad, and unknown.
pub type Case = (&'static str, Files, Files, Files);

pub const BASE: Files = &[
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

pub const CONFIG: &str = "boot/config-6.12.1";
pub const CMDLINE: &str = "proc/cmdline";
pub const LOG: &str = "dev/kmsg.recorded";
pub const BOOTED: &str = "5,0,0,-;Linux version 6.12.1\n";
pub const QOS: &str = "sys/devices/system/cpu/cpu1/power/pm_qos_resume_latency_us";
pub const DEEP: Files = &[
    ("sys/devices/system/cpu/cpu1/cpuidle/state0/name", "C6"),
    ("sys/devices/system/cpu/cpu1/cpuidle/state0/latency", "170"),
    ("sys/devices/system/cpu/cpu1/cpuidle/state0/disable", "0"),
    (QOS, "0"),
];
pub const IRQ: &str = "           CPU0       CPU1\n 36:      5     9 PCI-MSIX 1-edge eth0\n";
pub const RP1: &str = "           CPU0       CPU1\n 36:      5     9 rp1_irq_chip 1-edge spi0\n";
pub const SPI: &str = "           CPU0       CPU1\n 36:      5     9 GIC 1-edge spidev0.0\n";
pub const REQUESTED: &str = "proc/irq/36/smp_affinity_list";
pub const EFFECTIVE: &str = "proc/irq/36/effective_affinity_list";
pub const INTERRUPTS: &str = "proc/interrupts";

/// A kernel thread that may be moved, one that may not, and a program.
pub const KTHREAD: &str = "9 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 0 0 0 0 0 0 \
                       0 0 0 0 0 0 0 17 0 0 0 0 0 0";
pub const OFFLOAD: &str = "9 (rcuop/1) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 0 0 0 0 0 0 \
                       0 0 0 0 0 0 0 17 0 0 0 0 0 0";
pub const HANDLER: &str = "9 (irq/36-eth0) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 0 0 0 0 0 \
                       0 0 0 0 0 0 0 0 17 0 90 1 0 0 0";
pub const HANDLER_BELOW: &str = "9 (irq/36-eth0) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 0 0 \
                             0 0 0 0 0 0 0 0 0 0 0 17 0 50 1 0 0 0";
pub const BALANCER: &str = "9 (irqbalance) S 1 0 0 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 0 0 0 0 \
                        0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0";
pub const TUNED: &str = "9 (tuned) S 1 0 0 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 0 0 0 0 0 0 0 0 0 \
                     0 0 0 0 17 0 0 0 0 0 0";
pub const STALLD: &str = "9 (stalld) S 1 0 0 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 0 0 0 0 0 0 0 0 0 \
                      0 0 0 0 17 0 0 0 0 0 0";
pub const SNAPD: &str = "9 (snapd) S 1 0 0 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 0 0 0 0 0 0 0 0 0 \
                     0 0 0 0 17 0 0 0 0 0 0";
pub const FLYER: &str = "9 (flyer) S 1 0 0 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 0 0 0 0 0 0 0 0 0 \
                     0 0 0 0 17 0 0 0 0 0 0";
pub const STAT: &str = "proc/9/stat";
pub const STATUS: &str = "proc/9/status";
pub const CPU0_ALONE: &str = "Cpus_allowed_list:\t0\n";
pub const BOTH_CPUS: &str = "Cpus_allowed_list:\t0-1\n";
pub const POLICY: &str = "sys/devices/system/cpu/cpufreq/policy0/related_cpus";
pub const GOVERNOR: &str = "sys/devices/system/cpu/cpufreq/policy0/scaling_governor";
pub const LOWEST: &str = "sys/devices/system/cpu/cpufreq/policy0/scaling_min_freq";
pub const HIGHEST: &str = "sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq";
pub const MODEL: &str = "proc/device-tree/model";
pub const SIBLINGS: &str = "sys/devices/system/cpu/cpu1/topology/thread_siblings_list";
pub const FLYER_NICE: &str = "9 (flyer) S 1 0 0 0 -1 4194304 0 0 0 0 0 0 0 0 15 -5 1 0 1 0 0 0 0 0 0 0 0 0 0 0 \
                          0 0 0 0 17 1 0 0 0 0 0";
/// Three threads under FIFO, the first two last on CPU 1, the third on CPU 0.
pub const FLYER_FIFO: &str = "9 (flyer) S 1 0 0 0 -1 4194304 0 0 0 0 0 0 0 0 -81 0 1 0 1 0 0 0 0 0 0 0 0 0 0 0 \
                          0 0 0 0 17 1 80 1 0 0 0";
pub const CAMERA_FIFO: &str = "10 (camera) S 1 0 0 0 -1 4194304 0 0 0 0 0 0 0 0 -51 0 1 0 1 0 0 0 0 0 0 0 0 0 0 0 \
                           0 0 0 0 17 1 50 1 0 0 0";
pub const CAMERA_FIFO_ELSEWHERE: &str = "10 (camera) S 1 0 0 0 -1 4194304 0 0 0 0 0 0 0 0 -51 0 1 0 1 0 0 0 0 0 0 0 0 0 0 \
                                     0 0 0 0 0 17 0 50 1 0 0 0";
pub const CHRONYD: &str = "9 (chronyd) S 1 0 0 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 0 0 0 0 0 0 0 0 0 \
                       0 0 0 0 17 0 0 0 0 0 0";
pub const CHRONY: &str = "etc/chrony/chrony.conf";
pub const LATENCY_TIMER: &str = "sys/bus/usb-serial/devices/ttyUSB0/latency_timer";
pub const ASPM: &str = "sys/module/pcie_aspm/parameters/policy";
pub const ISOLATED: &str = "sys/devices/system/cpu/isolated";
pub const AUTOGROUP: &str = "proc/sys/kernel/sched_autogroup_enabled";
pub const LIMITS: &str = "proc/9/limits";
pub const RTPRIO: &str = "Limit                     Soft Limit           Hard Limit           Units\n\
                      Max locked memory         65536                65536                bytes\n\
                      Max nice priority         0                    0\n\
                      Max realtime priority     0                    0\n\
                      Max realtime timeout      unlimited            unlimited            us\n";
pub const RTPRIO_99: &str = "Limit                     Soft Limit           Hard Limit           Units\n\
                         Max locked memory         65536                65536                bytes\n\
                         Max nice priority         0                    0\n\
                         Max realtime priority     99                   99\n\
                         Max realtime timeout      unlimited            unlimited            us\n";
pub const FAIR: &str = "sys/kernel/debug/sched/fair_server/cpu1/runtime";
pub const FAIR_PERIOD: (&str, &str) = (
    "sys/kernel/debug/sched/fair_server/cpu1/period",
    "1000000000",
);
pub const V2: &str = "29 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
pub const V1_CPU: &str = "29 23 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n";

pub const STATE_NAME: &str = "sys/devices/system/cpu/cpu1/cpuidle/state0/name";
pub const STATE_LATENCY: &str = "sys/devices/system/cpu/cpu1/cpuidle/state0/latency";
pub const STATE_DISABLE: &str = "sys/devices/system/cpu/cpu1/cpuidle/state0/disable";
pub const CACHE_LEVEL: &str = "sys/devices/system/cpu/cpu1/cache/index3/level";
pub const CACHE_TYPE: &str = "sys/devices/system/cpu/cpu1/cache/index3/type";
pub const CACHE_SHARED: &str = "sys/devices/system/cpu/cpu1/cache/index3/shared_cpu_list";
pub const CLOCK: &str = "sys/devices/system/clocksource/clocksource0/current_clocksource";
