//! BeaglePilot's four kernels: three are packaged, the user gives the fourth.

use crate::{Drawing, Experiment, Given, Guest, Setting, published};

pub const EXPERIMENT: Experiment = Experiment {
    setting: Setting::Laboratory,
    name: "beaglepilot",
    title: "Four kernels (BeaglePilot)",
    source: "A BeagleBone with Linux 3.8.13 as vanilla, PREEMPT, RT_PREEMPT and Xenomai kernel, under \
             `stress`: `cyclictest -l100000 -m -n -a0 -t1 -p99 -i400 -h1000 -q`.",
    scenario: include_str!("../../scenarios/beaglepilot.toml"),
    cpus: 1,
    disk: None,
    guests: &[
        Guest {
            name: "vanilla",
            kernel: "debian:stock preempt=none",
            boot: None,
        },
        Guest {
            name: "PREEMPT",
            kernel: "debian:stock preempt=full",
            boot: None,
        },
        Guest {
            name: "RT_PREEMPT",
            kernel: "debian:rt",
            boot: None,
        },
    ],
    given: &[Given {
        key: "xenomai",
        name: "Xenomai",
        instead_of: "policies = [\"FIFO 99\"]",
        policies: "core-latency = \"none\"\n\
                   policies = [\"COBALT FIFO 99\"]",
    }],
    drawing: Drawing::Overlay,
    table: published::BEAGLEPILOT,
    claims: include_str!("../../claims/laboratory/beaglepilot.toml"),
    host_seconds: 60.0,
    differs: &[
        "Debian's Linux 6.1 on one emulated x86-64 CPU instead of Linux 3.8.13 on a BeagleBone; 2500 due times \
         instead of 100 000.",
        "Vanilla and PREEMPT are one kernel, Debian's stock build, booted with `preempt=none` and \
         `preempt=full`. Their smallest latencies and averages can't differ by how a kernel is built, as the published ones do.",
        "Debian has no Xenomai package: pass a kernel with `--kernel xenomai=BZIMAGE` to include it. Cobalt's \
         timers expire early by its gravity, so its latencies are smaller by that.",
        "Arithmetic alone (`stress`) uses no kernel code, and without caches it delays nothing: `all loads`, our own, adds \
         files, processes and a network.",
    ],
};
