//! AuraUAS: a loop of 100 Hz next to a log that is written with fsync.

use super::{ANY, booted};
use crate::{Drawing, Experiment, Setting, published};

pub const EXPERIMENT: Experiment = Experiment {
    setting: Setting::Board,
    name: "aura-100hz",
    title: "A log written by another process (AuraUAS)",
    source: "A BeagleBone, one core of 1 GHz and a slow SD card: an autopilot at 100 Hz. Written in its own loop, the \
             log stalled it for 200 to 400 ms under the default scheduler and 600 to 700 ms under SCHED_FIFO 99; \
             sent to a separate process, it kept exactly 100.0 frames/s, the worst of them 9.79 ms.",
    scenario: "aura-100hz",
    cpus: 0,
    disk: None,
    guests: &[booted("this kernel", "any kernel", ANY, None)],
    given: &[],
    drawing: Drawing::Boxes,
    table: published::NONE,
    claims: include_str!("../../claims/board/aura-100hz.toml"),
    host_seconds: 0.0,
    differs: &[
        "A quadrotor's controller replaces the autopilot, and a load that writes and calls fsync replaces its \
         log.",
        "Duration and criterion are ours; the publication doesn't state them.",
    ],
};
