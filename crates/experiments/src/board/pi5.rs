//! arXiv 2604.19275 on a board: eight policies on a standard and a real-time kernel.

use super::{REAL_TIME, STANDARD, booted, cell};
use crate::{Claim, Drawing, Experiment, Figure, OVER_POLICIES, Setting, Test, published};

const ORDINARY: &str = "standard";
const RT: &str = "PREEMPT_RT";
const STRESS: &str = "stress";
const FIFO: &str = "FIFO 99";

const fn stretched(guest: &'static str) -> Test {
    Test::Lower {
        low: cell(guest, "idle", FIFO),
        high: cell(guest, STRESS, FIFO),
        figure: Figure::MeanExecution,
        times: 1.0,
    }
}

pub const EXPERIMENT: Experiment = Experiment {
    setting: Setting::Board,
    name: "pi5-250hz",
    title: "Eight policies at 250 Hz (arXiv 2604.19275)",
    source: "A Raspberry Pi 5 with a standard and a PREEMPT_RT kernel: a quadrotor's control loop at \
             250 Hz under eight policies, 10 000 iterations of each, idle and under heavy stress.",
    scenario: "pi5-250hz",
    cpus: 0,
    guests: &[
        booted(ORDINARY, "a kernel without PREEMPT_RT", STANDARD, None),
        booted(RT, "a kernel with PREEMPT_RT", REAL_TIME, None),
    ],
    given: &[],
    drawing: Drawing::Boxes,
    table: published::PI5,
    claims: &[
        Claim {
            claim: "under stress the real-time kernel's worst case is lower",
            published: "nearly 88 % lower",
            test: Test::Lower {
                low: cell(RT, STRESS, OVER_POLICIES),
                high: cell(ORDINARY, STRESS, OVER_POLICIES),
                figure: Figure::Max,
                times: 1.0 / (1.0 - 0.88),
            },
        },
        Claim {
            claim: "under stress the real-time kernel's worst case is a fortieth of the standard kernel's",
            published: "below 225 µs, above 9 ms",
            test: Test::Lower {
                low: cell(RT, STRESS, OVER_POLICIES),
                high: cell(ORDINARY, STRESS, OVER_POLICIES),
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
                cell: cell(ORDINARY, STRESS, FIFO),
                way: "deferred",
            },
        },
        Claim {
            claim: "the controller takes longer under stress, on the standard kernel",
            published: "",
            test: stretched(ORDINARY),
        },
        Claim {
            claim: "the controller takes longer under stress, on the real-time kernel",
            published: "",
            test: stretched(RT),
        },
        Claim {
            claim: "the remaining jitter comes from memory contention",
            published: "",
            test: Test::NotVisible(
                "this stress contends for memory, for the CPU and for its frequency at once; `wakepath run \
                 contention` varies the memory alone, and tells its share",
            ),
        },
    ],
    differs: &[
        "The paper reports one worst case for all policies; it is compared with ours over all policies.",
        "The stress's arguments, warm-up, control law and vehicle are ours: the paper does not state them.",
        "The execution time is that of the whole cycle, from reading the state to writing the command.",
        "How the loop is woken is known where `--trace` records the kernel's events, in passes of their own.",
    ],
};
