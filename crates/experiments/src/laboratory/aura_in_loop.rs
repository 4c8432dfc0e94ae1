//! AuraUAS: a loop of 100 Hz that writes its log itself, on a slow disk; the guest is that of `aura`.

use super::aura;
use crate::Experiment;

pub const EXPERIMENT: Experiment = Experiment {
    name: "aura-in-loop",
    title: "A log written in the loop (AuraUAS)",
    source: "A BeagleBone, one core of 1 GHz and a slow SD card: an autopilot at 100 Hz. Written in its own loop, the \
             log stalled it for 200 to 400 ms under the default scheduler and 600 to 700 ms under SCHED_FIFO 99.",
    scenario: include_str!("../../scenarios/aura-in-loop.toml"),
    // The longest that a write may keep an SDHC card busy (SD Physical Layer Simplified Specification, 4.6.2.2).
    disk: Some("latency=250ms,rate=4MiB/s"),
    claims: include_str!("../../claims/laboratory/aura-in-loop.toml"),
    host_seconds: 65.0,
    differs: &[
        "Debian's Linux 6.1 on one emulated x86-64 CPU; 1200 due times of each condition: in 12 s \
         the journal is committed twice, and the log itself, which Linux writes back after 30 s, is not yet.",
        "A computation of 5 ms replaces the autopilot. Its log is 256 bytes in each cycle, appended with write() and \
         never synced, to a file on ext4; the publication states neither.",
        "Before the registration, a trial with requests of 8 ms ran once for 50 s of each policy: under the default \
         scheduler an append waited for one request at each commit, every 5 s, and under FIFO 99 for none.",
        "The kernel's `null_blk` replaces the SD card: each request takes 250 ms, as long as the SD specification \
         allows a write to keep a card busy, and carries at most 1 MiB. A real card takes that long only at times.",
    ],
    ..aura::EXPERIMENT
};
