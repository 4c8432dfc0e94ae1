//! BeaglePilot's four kernels, of which three can be had as packages.

use super::cell;
use crate::{Claim, Drawing, Experiment, Figure, Guest, Published, Setting, Test};

const POLICY: &str = "FIFO 99";
const ALL_LOADS: &str = "all loads";

const fn published(guest: &'static str, min: f64, mean: f64, max: f64) -> Published {
    Published {
        cell: cell(guest, "stress", POLICY),
        min: Some(min),
        mean: Some(mean),
        max: Some(max),
    }
}

/// What was published, on a board as in the laboratory.
pub(crate) const PUBLISHED: &[Published] = &[
    published("vanilla", 14.0, 19.0, 193.0),
    published("PREEMPT", 16.0, 21.0, 68.0),
    published("RT_PREEMPT", 20.0, 27.0, 91.0),
];

pub const EXPERIMENT: Experiment = Experiment {
    setting: Setting::Laboratory,
    name: "beaglepilot",
    title: "Three kernels (BeaglePilot)",
    source: "A BeagleBone with Linux 3.8.13 as vanilla, PREEMPT, RT_PREEMPT and Xenomai kernel, under \
             `stress`: `cyclictest -l100000 -m -n -a0 -t1 -p99 -i400 -h1000 -q`.",
    scenario: include_str!("../../scenarios/beaglepilot.toml"),
    cpus: 1,
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
    drawing: Drawing::Overlay,
    published: PUBLISHED,
    claims: &[
        Claim {
            published: "PREEMPT's largest latency lies below vanilla's (68 against 193 µs)",
            test: Test::Lower {
                low: cell("PREEMPT", ALL_LOADS, POLICY),
                high: cell("vanilla", ALL_LOADS, POLICY),
                figure: Figure::Max,
                times: 1.0,
            },
        },
        Claim {
            published: "RT_PREEMPT's largest latency lies below vanilla's (91 against 193 µs)",
            test: Test::Lower {
                low: cell("RT_PREEMPT", ALL_LOADS, POLICY),
                high: cell("vanilla", ALL_LOADS, POLICY),
                figure: Figure::Max,
                times: 1.0,
            },
        },
        Claim {
            published: "PREEMPT's largest latency lies below RT_PREEMPT's (68 against 91 µs)",
            test: Test::Lower {
                low: cell("PREEMPT", ALL_LOADS, POLICY),
                high: cell("RT_PREEMPT", ALL_LOADS, POLICY),
                figure: Figure::Max,
                times: 1.0,
            },
        },
        Claim {
            published: "vanilla's smallest latency lies below RT_PREEMPT's (14 against 20 µs)",
            test: Test::Lower {
                low: cell("vanilla", "stress", POLICY),
                high: cell("RT_PREEMPT", "stress", POLICY),
                figure: Figure::Min,
                times: 1.0,
            },
        },
        Claim {
            published: "vanilla's average lies below RT_PREEMPT's (19 against 27 µs)",
            test: Test::Lower {
                low: cell("vanilla", "stress", POLICY),
                high: cell("RT_PREEMPT", "stress", POLICY),
                figure: Figure::Mean,
                times: 1.0,
            },
        },
    ],
    differs: &[
        "Debian's Linux 6.1 on one emulated x86-64 CPU instead of Linux 3.8.13 on a BeagleBone; 10 000 \
         due times instead of 100 000.",
        "Vanilla and PREEMPT are one kernel, Debian's stock build, booted with `preempt=none` and \
         `preempt=full`.",
        "Xenomai's core is no package of Debian's and is left out.",
        "The largest latencies are compared under `all loads`: arithmetic alone (`stress`) keeps no \
         section of a kernel busy, and without caches it delays nothing.",
    ],
};
