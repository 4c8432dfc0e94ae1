//! Trees for the checks whose ids begin with C, L, V, X, D, U.

use super::files::*;

pub const CASES: &[Case] = &[
    ("C1", &[(CLOCK, "tsc")], &[(CLOCK, "hpet")], &[]),
    ("C2", &[], &[], &[]),
    (
        "C3",
        &[(STAT, CHRONYD), (CHRONY, "pool x iburst\nmakestep 1.0 3\n")],
        &[(STAT, CHRONYD), (CHRONY, "makestep 1.0 -1\n")],
        &[(STAT, CHRONYD)],
    ),
    (
        "L1",
        &[(LIMITS, RTPRIO_99), (STATUS, "CapEff:\t0000000000000000\n")],
        &[(LIMITS, RTPRIO), (STATUS, "CapEff:\t0000000000000000\n")],
        &[],
    ),
    ("L2", &[(STAT, FLYER_FIFO)], &[(STAT, FLYER)], &[]),
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
        &[
            (STAT, FLYER),
            ("proc/9/fd/3", "/tmp/redirected"),
            ("proc/9/fdinfo/3", "pos:\t0\nflags:\t0100001\n"),
        ],
        &[
            (STAT, FLYER),
            ("proc/9/fd/3", "/var/log/flight.csv"),
            ("proc/9/fdinfo/3", "pos:\t4096\nflags:\t0100001\n"),
        ],
        &[(STAT, FLYER), ("proc/9/fd/3", "/var/log/flight.csv")],
    ),
    (
        "U1",
        &[(LATENCY_TIMER, "1")],
        &[(LATENCY_TIMER, "16")],
        &[(LATENCY_TIMER, "?")],
    ),
];
