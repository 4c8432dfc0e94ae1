//! arXiv 2604.19275: eight policies on a standard and a real-time kernel.

use super::cell;
use crate::{Claim, Drawing, Experiment, Figure, Guest, OVER_POLICIES, Setting, Test, published};

const STANDARD: &str = "standard";
const RT: &str = "PREEMPT_RT";
const STRESS: &str = "stress";
const FIFO: &str = "FIFO 99";

/// The worst case over all policies is here that of OTHER on either kernel.
const OVER_ALL: Test = Test::NotComparable {
    cells: [
        cell(RT, STRESS, OVER_POLICIES),
        cell(STANDARD, STRESS, OVER_POLICIES),
    ],
    figure: Figure::Max,
    reason: "the paper had four CPUs; on one, the worst case over all policies is that of OTHER, which waits for time \
             slices of eight loads on either kernel",
};

pub const EXPERIMENT: Experiment = Experiment {
    setting: Setting::Laboratory,
    name: "pi5-250hz",
    title: "Eight policies at 250 Hz (arXiv 2604.19275)",
    source: "A Raspberry Pi 5 with a standard and a PREEMPT_RT kernel: a quadrotor's control loop at \
             250 Hz under eight policies, 10 000 iterations of each, idle and under heavy stress.",
    scenario: include_str!("../../scenarios/pi5-250hz.toml"),
    cpus: 1,
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
    claims: &[
        Claim {
            claim: "under stress the real-time kernel's worst case is lower",
            published: "nearly 88 % lower",
            test: OVER_ALL,
        },
        Claim {
            claim: "under stress the real-time kernel's worst case is 88 % lower under each policy",
            published: "our own claim",
            test: Test::EachLower {
                low: RT,
                high: STANDARD,
                phase: STRESS,
                figure: Figure::Max,
                times: 1.0 / (1.0 - 0.88),
            },
        },
        Claim {
            claim: "under stress the real-time kernel's worst case is a fortieth of the standard kernel's",
            published: "below 225 µs, above 9 ms",
            test: OVER_ALL,
        },
        Claim {
            claim: "under stress the real-time kernel's worst case under FIFO 99 is a fortieth of the standard kernel's",
            published: "our own claim",
            test: Test::Lower {
                low: cell(RT, STRESS, FIFO),
                high: cell(STANDARD, STRESS, FIFO),
                figure: Figure::Max,
                times: 9_000.0 / 225.0,
            },
        },
        Claim {
            claim: "on the real-time kernel the loop is woken directly from the timer's interrupt",
            published: "",
            test: Test::Woken {
                cell: cell(RT, STRESS, FIFO),
                way: "direct",
            },
        },
        Claim {
            claim: "on the standard kernel the wake-up takes a SoftIRQ's path",
            published: "",
            test: Test::Woken {
                cell: cell(STANDARD, STRESS, FIFO),
                way: "deferred",
            },
        },
        Claim {
            claim: "the controller takes longer under stress",
            published: "about 3.8 µs without",
            test: Test::NotVisible(
                "memory contention slows a controller down; virtual time has no caches and no memory controller",
            ),
        },
        Claim {
            claim: "the remaining jitter comes from memory contention",
            published: "",
            test: Test::NotVisible("virtual time has no memory contention"),
        },
    ],
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
