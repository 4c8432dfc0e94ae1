//! OSPERT 2013 on a board: a thread on each CPU under three backgrounds.

use super::{REAL_TIME, STANDARD, booted};
use crate::{Drawing, Experiment, Setting, published};

const PLAIN: &str = "plain Linux";
const RT: &str = "PREEMPT_RT";

pub const EXPERIMENT: Experiment = Experiment {
    setting: Setting::Board,
    name: "litmus-16core",
    title: "Background loads of three kinds (OSPERT 2013)",
    source: "A 16-core Xeon with LITMUS^RT (Linux 3.0), PREEMPT_RT and plain Linux 3.8.13: one measuring \
             thread on each CPU with periods of 1000, 1500, 2000 … µs for 20 min, without load, with endless \
              loops over memory, and with I/O (hackbench, bonnie++, wget).",
    scenario: "litmus-16core",
    cpus: 0,
    disk: None,
    guests: &[
        booted(PLAIN, "a kernel without PREEMPT_RT", STANDARD, None),
        booted(RT, "a kernel with PREEMPT_RT", REAL_TIME, None),
    ],
    given: &[],
    drawing: Drawing::Averages,
    table: published::LITMUS,
    claims: include_str!("../../claims/board/litmus-16core.toml"),
    host_seconds: 0.0,
    differs: &[
        "One thread per CPU of this board, each judged separately. The published figures cover sixteen; claims \
         are compared with the thread of 1000 µs.",
        "LITMUS^RT's kernels are left out.",
        "Priority 99 and the loads' arguments are ours; the publication doesn't state them.",
    ],
};
