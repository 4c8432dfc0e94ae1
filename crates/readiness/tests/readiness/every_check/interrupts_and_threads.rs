//! Trees for the checks whose ids begin with Q, W.

use super::files::*;

pub const CASES: &[Case] = &[
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
];
