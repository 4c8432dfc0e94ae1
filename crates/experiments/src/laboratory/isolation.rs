//! Effect of isolation on a loop, after the qualification of a Jetson Orin.

use crate::{Drawing, Experiment, Guest, Setting, published};

pub const EXPERIMENT: Experiment = Experiment {
    setting: Setting::Laboratory,
    name: "isolation",
    title: "An isolated CPU (qualification of a Jetson Orin)",
    source: "A Jetson Orin AGX with twelve CPUs and a PREEMPT_RT kernel: `cyclictest -p 80 -i 1000` on \
             CPUs 8–11 for 10 min under each load, before and after \
             `isolcpus=managed_irq,domain,8-11 irqaffinity=0-7 kthread_cpus=0-7`. Published largest \
             latencies, before and after: GPU 159 and 15 µs, EtherCAT 113 and 6 µs, storage 145 and \
             7 µs, system 47 and 15 µs, idle 22 and 8 µs.",
    scenario: include_str!("../../scenarios/isolation.toml"),
    cpus: 2,
    disk: None,
    guests: &[
        Guest {
            name: "stock",
            kernel: "debian:stock",
            boot: None,
        },
        Guest {
            name: "stock, isolated",
            kernel: "debian:stock isolcpus=managed_irq,domain,1 nohz_full=1 rcu_nocbs=1 irqaffinity=0",
            boot: None,
        },
        Guest {
            name: "RT",
            kernel: "debian:rt",
            boot: None,
        },
        Guest {
            name: "RT, isolated",
            kernel: "debian:rt isolcpus=managed_irq,domain,1 nohz_full=1 rcu_nocbs=1 irqaffinity=0",
            boot: None,
        },
    ],
    given: &[],
    drawing: Drawing::Overlay,
    table: published::NONE,
    claims: include_str!("../../claims/laboratory/isolation.toml"),
    host_seconds: 170.0,
    differs: &[
        "Two emulated x86-64 CPUs that take turns of 2 µs: figures are right to some microseconds, and \
         a path takes twice as long while the other CPU is busy.",
        "With `nohz_full` the loop's timer sometimes expires on the housekeeping CPU, which wakes the loop with \
         an interrupt. It belongs to the wake-up and is not counted as interference.",
        "200 due times instead of 600 000. Storage is the load `files`, system arithmetic, messages and processes; combined \
         adds memory, files and a network.",
        "The guests have no disk: `files` works in memory, without a device's interrupts and threads, which isolation \
         keeps away on the Orin.",
    ],
};
