//! AuraUAS: a loop of 100 Hz next to a log that another process writes.

use crate::{Drawing, Experiment, Guest, Setting, published};

pub const EXPERIMENT: Experiment = Experiment {
    setting: Setting::Laboratory,
    name: "aura-100hz",
    title: "A log written by another process (AuraUAS)",
    source: "A BeagleBone, one core of 1 GHz and a slow SD card: an autopilot at 100 Hz. Written in its own loop, the \
             log stalled it for 200 to 400 ms under the default scheduler and 600 to 700 ms under SCHED_FIFO 99; \
             sent to a separate process, it kept exactly 100.0 frames/s, the worst of them 9.79 ms.",
    scenario: include_str!("../../scenarios/aura-100hz.toml"),
    cpus: 1,
    disk: None,
    guests: &[Guest {
        name: "vanilla",
        kernel: "debian:stock preempt=none",
        boot: None,
    }],
    given: &[],
    drawing: Drawing::Boxes,
    table: published::NONE,
    claims: include_str!("../../claims/laboratory/aura-100hz.toml"),
    host_seconds: 19.0,
    differs: &[
        "Debian's Linux 6.1 on one emulated x86-64 CPU; 100 due times of each condition.",
        "A computation of 5 ms replaces the autopilot, a load that writes files its log, and a load that starts \
         processes the scripts next to it. A guest's files are in its memory: nothing is slow.",
    ],
};
