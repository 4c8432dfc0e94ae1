//! arXiv 2604.19275: eight policies on a standard and a real-time kernel.

use crate::{Drawing, Experiment, Guest, Setting, published};

const STANDARD: &str = "standard";
const RT: &str = "PREEMPT_RT";

pub const EXPERIMENT: Experiment = Experiment {
    setting: Setting::Laboratory,
    name: "pi5-250hz",
    title: "Eight policies at 250 Hz (arXiv 2604.19275)",
    source: "A Raspberry Pi 5 with a standard and a PREEMPT_RT kernel: a quadrotor's control loop at \
             250 Hz under eight policies, 10 000 iterations of each, idle and under heavy stress.",
    scenario: include_str!("../../scenarios/pi5-250hz.toml"),
    cpus: 1,
    disk: None,
    guests: &[
        Guest {
            name: STANDARD,
            kernel: "debian:stock",
            boot: None,
        },
        Guest {
            name: RT,
            kernel: "debian:rt",
            boot: None,
        },
    ],
    given: &[],
    drawing: Drawing::Boxes,
    table: published::PI5,
    claims: include_str!("../../claims/laboratory/pi5-250hz.toml"),
    host_seconds: 320.0,
    differs: &[
        "Debian's Linux 6.1 on one emulated x86-64 CPU instead of a Raspberry Pi 5 with four; 250 due \
         times of each condition instead of 10 000.",
        "Every ten seconds a stock kernel merges small pages into large ones (khugepaged) in non-preemptible \
         code. A cycle due at that time is late by up to 2.13 ms, idle or not (docs/concepts/virtual-time.md). \
         Debian's PREEMPT_RT kernel has no large pages.",
        "The paper reports one worst case for all policies on four CPUs. Ours on one CPU is OTHER's, which shares it \
         with eight loads in time slices of milliseconds; the policies are compared one by one instead.",
        "The arguments of the stress are not published; built-in loads replace it, including storms of timers, \
         of sockets closed with full queues, and forks of a large process. `memory` and `messages` are left out: \
         the first delays nothing here, and both take CPU time that the storms need to prove their work.",
    ],
};
