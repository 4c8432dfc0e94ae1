//! OSPERT 2013 on a board: a thread on each CPU beside three backgrounds.

use super::{REAL_TIME, STANDARD, booted, cell};
use crate::{Cell, Claim, Drawing, Experiment, Figure, Published, Setting, Test};

const PLAIN: &str = "plain Linux";
const RT: &str = "PREEMPT_RT";

/// The thread of 1000 µs, on the first CPU: each is judged by itself.
const fn at(guest: &'static str, phase: &'static str) -> Cell<'static> {
    cell(guest, phase, "FIFO 99, cpu0")
}

const fn published(cell: Cell<'static>, mean: f64, max: f64) -> Published {
    Published {
        cell,
        min: None,
        mean: Some(mean),
        max: Some(max),
    }
}

pub const EXPERIMENT: Experiment = Experiment {
    setting: Setting::Board,
    name: "litmus-16core",
    title: "Background loads of three kinds (OSPERT 2013)",
    source: "A 16-core Xeon with LITMUS^RT (Linux 3.0), PREEMPT_RT and plain Linux 3.8.13: one measuring \
             thread on each CPU with periods of 1000, 1500, 2000 … µs for 20 min, beside no load, \
             endless loops over memory, and I/O (hackbench, bonnie++, wget).",
    scenario: "litmus-16core",
    cpus: 0,
    guests: &[
        booted(PLAIN, "a kernel without PREEMPT_RT", STANDARD, None),
        booted(RT, "a kernel with PREEMPT_RT", REAL_TIME, None),
    ],
    drawing: Drawing::Averages,
    published: &[
        published(at(PLAIN, "none"), 2.89, 19.73),
        published(at(RT, "none"), 2.74, 11.20),
    ],
    claims: &[
        Claim {
            published: "without load PREEMPT_RT's largest latency is lower (11.20 against 19.73 µs)",
            test: Test::Lower {
                low: at(RT, "none"),
                high: at(PLAIN, "none"),
                figure: Figure::Max,
                times: 1.0,
            },
        },
        Claim {
            published: "without load the averages are much the same (2.74 and 2.89 µs)",
            test: Test::Alike {
                one: at(RT, "none"),
                other: at(PLAIN, "none"),
                figure: Figure::Mean,
                within: 1.25,
            },
        },
        Claim {
            published: "beside CPU-bound loads PREEMPT_RT's latency is significantly lower",
            test: Test::Lower {
                low: at(RT, "cpu-bound"),
                high: at(PLAIN, "cpu-bound"),
                figure: Figure::Mean,
                times: 1.25,
            },
        },
        Claim {
            published: "I/O has a huge effect on plain Linux",
            test: Test::Lower {
                low: at(PLAIN, "none"),
                high: at(PLAIN, "io-bound"),
                figure: Figure::Max,
                times: 10.0,
            },
        },
        Claim {
            published: "I/O has none on PREEMPT_RT",
            test: Test::Alike {
                one: at(RT, "none"),
                other: at(RT, "io-bound"),
                figure: Figure::Max,
                within: 2.0,
            },
        },
    ],
    differs: &[
        "As many threads as this board has CPUs, each judged by itself; the published figures are over sixteen, and \
         claims are held against the thread of 1000 µs.",
        "LITMUS^RT's kernels are left out.",
        "Priority 99 and the loads' arguments are ours: they are not stated.",
    ],
};
