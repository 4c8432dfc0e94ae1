//! BeaglePilot on a board: its kernels one after the other, a boot each.

use super::{REAL_TIME, booted};
use crate::{Drawing, Experiment, Setting, published};
use wakepath_machine::PreemptionModel::{Full, Lazy, None as NoPreemption, Voluntary};

pub const EXPERIMENT: Experiment = Experiment {
    setting: Setting::Board,
    name: "beaglepilot",
    title: "Three kernels (BeaglePilot)",
    source: "A BeagleBone with Linux 3.8.13 as vanilla, PREEMPT, RT_PREEMPT and Xenomai kernel, under \
             `stress`: `cyclictest -l100000 -m -n -a0 -t1 -p99 -i400 -h1000 -q`.",
    scenario: "beaglepilot",
    cpus: 0,
    disk: None,
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
    claims: include_str!("../../claims/board/beaglepilot.toml"),
    host_seconds: 0.0,
    differs: &[
        "The kernels are those that this board boots; a kernel with dynamic preemption is vanilla under \
         `preempt=none` or `voluntary` and PREEMPT under `full`.",
        "Xenomai's row (15 / 23 / 630 µs published) needs a Cobalt kernel and is left out.",
        "The built-in CPU load, one worker per CPU, replaces `stress`, whose arguments are not stated.",
    ],
};
