//! BeaglePilot on a board: its kernels one after the other, a boot each.

use super::{REAL_TIME, booted, cell};
use crate::{Claim, Drawing, Experiment, Figure, Setting, Test, published};
use wakepath_machine::PreemptionModel::{Full, Lazy, None as NoPreemption, Voluntary};

const POLICY: &str = "FIFO 99";
const STRESS: &str = "stress";

const fn lower(low: &'static str, high: &'static str, figure: Figure) -> Test {
    Test::Lower {
        low: cell(low, STRESS, POLICY),
        high: cell(high, STRESS, POLICY),
        figure,
        times: 1.0,
    }
}

pub const EXPERIMENT: Experiment = Experiment {
    setting: Setting::Board,
    name: "beaglepilot",
    title: "Three kernels (BeaglePilot)",
    source: "A BeagleBone with Linux 3.8.13 as vanilla, PREEMPT, RT_PREEMPT and Xenomai kernel, under \
             `stress`: `cyclictest -l100000 -m -n -a0 -t1 -p99 -i400 -h1000 -q`.",
    scenario: "beaglepilot",
    cpus: 0,
    guests: &[
        booted(
            "vanilla",
            "a kernel with preempt=none or voluntary",
            &[NoPreemption, Voluntary],
            None,
        ),
        booted(
            "PREEMPT",
            "a kernel with preempt=full or lazy",
            &[Full, Lazy],
            None,
        ),
        booted("RT_PREEMPT", "a kernel with PREEMPT_RT", REAL_TIME, None),
    ],
    given: &[],
    drawing: Drawing::Overlay,
    table: published::BEAGLEPILOT,
    claims: &[
        Claim {
            claim: "PREEMPT's largest latency is below vanilla's",
            published: "68 against 193 µs",
            test: lower("PREEMPT", "vanilla", Figure::Max),
        },
        Claim {
            claim: "RT_PREEMPT's largest latency is below vanilla's",
            published: "91 against 193 µs",
            test: lower("RT_PREEMPT", "vanilla", Figure::Max),
        },
        Claim {
            claim: "PREEMPT's largest latency is below RT_PREEMPT's",
            published: "68 against 91 µs",
            test: lower("PREEMPT", "RT_PREEMPT", Figure::Max),
        },
        Claim {
            claim: "vanilla's smallest latency is below RT_PREEMPT's",
            published: "14 against 20 µs",
            test: lower("vanilla", "RT_PREEMPT", Figure::Min),
        },
        Claim {
            claim: "vanilla's average is below RT_PREEMPT's",
            published: "19 against 27 µs",
            test: lower("vanilla", "RT_PREEMPT", Figure::Mean),
        },
    ],
    differs: &[
        "The kernels are those that this board boots; a kernel with dynamic preemption is vanilla under \
         `preempt=none` or `voluntary` and PREEMPT under `full`.",
        "Xenomai's row (15 / 23 / 630 µs published) needs a Cobalt kernel and is left out.",
        "The built-in CPU load, one worker per CPU, replaces `stress`, whose arguments are not stated.",
    ],
};
