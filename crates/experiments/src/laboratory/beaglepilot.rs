//! BeaglePilot's four kernels: three are packaged, the user gives the fourth.

use super::cell;
use crate::{Claim, Drawing, Experiment, Figure, Given, Guest, Setting, Test, published};

const POLICY: &str = "FIFO 99";
const ALL_LOADS: &str = "all loads";
const XENOMAI: &str = "Xenomai";
const ON_COBALT: &str = "COBALT FIFO 99";

pub const EXPERIMENT: Experiment = Experiment {
    setting: Setting::Laboratory,
    name: "beaglepilot",
    title: "Four kernels (BeaglePilot)",
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
    given: &[Given {
        key: "xenomai",
        name: XENOMAI,
        instead_of: "policies = [\"FIFO 99\"]",
        policies: "core-latency = \"none\"\n\
                   policies = [\"COBALT FIFO 99\"]",
    }],
    drawing: Drawing::Overlay,
    table: published::BEAGLEPILOT,
    claims: &[
        Claim {
            claim: "PREEMPT's largest latency is below vanilla's",
            published: "68 against 193 µs",
            test: Test::Lower {
                low: cell("PREEMPT", ALL_LOADS, POLICY),
                high: cell("vanilla", ALL_LOADS, POLICY),
                figure: Figure::Max,
                times: 1.0,
            },
        },
        Claim {
            claim: "RT_PREEMPT's largest latency is below vanilla's",
            published: "91 against 193 µs",
            test: Test::Lower {
                low: cell("RT_PREEMPT", ALL_LOADS, POLICY),
                high: cell("vanilla", ALL_LOADS, POLICY),
                figure: Figure::Max,
                times: 1.0,
            },
        },
        Claim {
            claim: "PREEMPT's largest latency is below RT_PREEMPT's",
            published: "68 against 91 µs",
            test: Test::Lower {
                low: cell("PREEMPT", ALL_LOADS, POLICY),
                high: cell("RT_PREEMPT", ALL_LOADS, POLICY),
                figure: Figure::Max,
                times: 1.0,
            },
        },
        Claim {
            claim: "vanilla's smallest latency is below RT_PREEMPT's",
            published: "14 against 20 µs",
            test: Test::Lower {
                low: cell("vanilla", "stress", POLICY),
                high: cell("RT_PREEMPT", "stress", POLICY),
                figure: Figure::Min,
                times: 1.0,
            },
        },
        Claim {
            claim: "vanilla's average is below RT_PREEMPT's",
            published: "19 against 27 µs",
            test: Test::Lower {
                low: cell("vanilla", "stress", POLICY),
                high: cell("RT_PREEMPT", "stress", POLICY),
                figure: Figure::Mean,
                times: 1.0,
            },
        },
        Claim {
            claim: "Xenomai's average is below RT_PREEMPT's",
            published: "23 against 27 µs",
            test: Test::Lower {
                low: cell(XENOMAI, "stress", ON_COBALT),
                high: cell("RT_PREEMPT", "stress", POLICY),
                figure: Figure::Mean,
                times: 1.0,
            },
        },
        Claim {
            claim: "vanilla's average is below Xenomai's",
            published: "19 against 23 µs",
            test: Test::Lower {
                low: cell("vanilla", "stress", POLICY),
                high: cell(XENOMAI, "stress", ON_COBALT),
                figure: Figure::Mean,
                times: 1.0,
            },
        },
        Claim {
            claim: "vanilla's largest latency is below Xenomai's",
            published: "193 against 630 µs",
            test: Test::Lower {
                low: cell("vanilla", ALL_LOADS, POLICY),
                high: cell(XENOMAI, ALL_LOADS, ON_COBALT),
                figure: Figure::Max,
                times: 1.0,
            },
        },
    ],
    differs: &[
        "Debian's Linux 6.1 on one emulated x86-64 CPU instead of Linux 3.8.13 on a BeagleBone; 10 000 \
         due times instead of 100 000.",
        "Vanilla and PREEMPT are one kernel, Debian's stock build, booted with `preempt=none` and \
         `preempt=full`.",
        "Debian has no Xenomai package: pass a kernel with `--kernel xenomai=BZIMAGE` to include it. Cobalt's \
         timers expire early by its gravity, so its latencies are smaller by that.",
        "The largest latencies are compared under `all loads`: arithmetic alone (`stress`) uses no kernel code, \
         and without caches it delays nothing.",
    ],
};
