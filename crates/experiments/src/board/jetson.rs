//! A Jetson Orin AGX qualified for a 1 kHz loop, before and after its CPUs are isolated.

use super::{REAL_TIME, STANDARD, booted};
use crate::{Drawing, Experiment, Setting, published};

const RT: &str = "RT";
const RT_ISOLATED: &str = "RT, isolated";
const STOCK: &str = "stock";

pub const EXPERIMENT: Experiment = Experiment {
    setting: Setting::Board,
    name: "jetson-1khz",
    title: "A 1 kHz loop before and after isolation (qualification of a Jetson Orin)",
    source: "A Jetson Orin AGX with twelve CPUs and a PREEMPT_RT kernel: `cyclictest -p 80 -i 1000 -l 600000 -m \
             -a 8-11` for 10 min under each load, before and after \
             `isolcpus=managed_irq,domain,8-11 irqaffinity=0-7 kthread_cpus=0-7`; passed below 100 µs.",
    scenario: "jetson-1khz",
    cpus: 0,
    disk: None,
    guests: &[
        booted(
            STOCK,
            "a kernel without PREEMPT_RT, nothing isolated",
            STANDARD,
            Some(false),
        ),
        booted(
            "stock, isolated",
            "a kernel without PREEMPT_RT, the loop's CPU isolated",
            STANDARD,
            Some(true),
        ),
        booted(
            RT,
            "a kernel with PREEMPT_RT, nothing isolated",
            REAL_TIME,
            Some(false),
        ),
        booted(
            RT_ISOLATED,
            "a kernel with PREEMPT_RT, the loop's CPU isolated",
            REAL_TIME,
            Some(true),
        ),
    ],
    given: &[],
    drawing: Drawing::Overlay,
    table: published::JETSON,
    claims: include_str!("../../claims/board/jetson-1khz.toml"),
    host_seconds: 0.0,
    differs: &[
        "The EtherCAT devices are simulated, on a virtual link; for real devices, copy the scenario and set its \
         load's `interface`.",
        "Isolate the loop's CPU with `wakepath tune apply`, or at boot with `wakepath tune boot`, and resume \
         with `--resume`: those rounds are kept separate.",
        "The published 318 and 56 µs come from one minute under CPU, I/O and memory load together.",
        "The arguments of the loads are ours; the publication doesn't state them.",
    ],
};
