//! OSPERT 2013: loads of three kinds, one measuring thread on each CPU.

use crate::{Drawing, Experiment, Given, Guest, Setting, published};

const PLAIN: &str = "plain Linux";
const RT: &str = "PREEMPT_RT";
pub const EXPERIMENT: Experiment = Experiment {
    setting: Setting::Laboratory,
    name: "litmus-16core",
    title: "Background loads of three kinds (OSPERT 2013)",
    source: "A 16-core Xeon with LITMUS^RT (Linux 3.0), PREEMPT_RT and plain Linux 3.8.13: one measuring \
             thread on each CPU with periods of 1000, 1500, 2000 … µs for 20 min, without load, with endless \
              loops over memory, and with I/O (hackbench, bonnie++, wget).",
    scenario: include_str!("../../scenarios/litmus-16core.toml"),
    cpus: 2,
    disk: None,
    guests: &[
        Guest {
            name: PLAIN,
            kernel: "debian:stock",
            boot: None,
        },
        Guest {
            name: RT,
            kernel: "debian:rt",
            boot: None,
        },
    ],
    given: &[Given {
        key: "litmus",
        name: "LITMUS^RT",
        instead_of: "policies = [\"FIFO 99\"]",
        policies: "litmus-plugin = \"switch\"\n\
                   policies = [\"LITMUS P-FP 1\", \"LITMUS PSN-EDF\", \"LITMUS GSN-EDF\", \"FIFO 99\"]",
    }],
    drawing: Drawing::Averages,
    table: published::LITMUS,
    claims: include_str!("../../claims/laboratory/litmus-16core.toml"),
    host_seconds: 60.0,
    differs: &[
        "Debian's Linux 6.1 on two emulated CPUs, with threads of 1000 and 1500 µs, instead of sixteen \
         CPUs; 400 due times of the shorter one instead of 20 min. The CPUs take turns of 2 µs: figures \
         are right to some microseconds.",
        "Debian has no LITMUS^RT package: pass a kernel with `--kernel litmus=BZIMAGE` to include it, with one \
         job of each plugin per due time. No published figures of its plugins are compared with ours.",
        "Built-in loads replace the programs: memory, messages, files, network. Virtual time has no cache \
         contention.",
    ],
};
