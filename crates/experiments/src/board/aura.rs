//! AuraUAS: a loop of 100 Hz next to a log that is written with fsync.

use super::{ANY, booted, cell};
use crate::{Claim, Drawing, Experiment, Figure, Setting, Test, published};

const KERNEL: &str = "this kernel";
const WRITING: &str = "log-writes";
/// One period of 100 Hz.
const PERIOD_NS: f64 = 10_000_000.0;

pub const EXPERIMENT: Experiment = Experiment {
    setting: Setting::Board,
    name: "aura-100hz",
    title: "A log written by another process (AuraUAS)",
    source: "A BeagleBone, one core of 1 GHz and a slow SD card: an autopilot at 100 Hz. Written in its own loop, the \
             log stalled it for 200 to 400 ms under the default scheduler and 600 to 700 ms under SCHED_FIFO 99; \
             sent to a separate process, it kept exactly 100.0 frames/s, the worst of them 9.79 ms.",
    scenario: "aura-100hz",
    cpus: 0,
    guests: &[booted(KERNEL, "any kernel", ANY, None)],
    given: &[],
    drawing: Drawing::Boxes,
    table: published::NONE,
    claims: &[
        Claim {
            claim: "under SCHED_FIFO 99, with the log in another process, each frame ends within its 10 ms",
            published: "",
            test: Test::Below {
                cell: cell(KERNEL, WRITING, "FIFO 99"),
                figure: Figure::MaxResponse,
                ns: PERIOD_NS,
            },
        },
        Claim {
            claim: "the default scheduler lets the loop wait for the log's writer longer than SCHED_FIFO 99 does",
            published: "our own claim",
            test: Test::Lower {
                low: cell(KERNEL, WRITING, "FIFO 99"),
                high: cell(KERNEL, WRITING, "OTHER nice 0"),
                figure: Figure::Max,
                times: 1.0,
            },
        },
        Claim {
            claim: "written in the loop itself, the log stalls it",
            published: "200 ms and more",
            test: Test::NotVisible(
                "another process writes in this repetition; `sh examples/logging/run.sh` compares a log written in the loop, by a \
                 thread and by another process",
            ),
        },
    ],
    differs: &[
        "A quadrotor's controller replaces the autopilot, and a load that writes and calls fsync replaces its \
         log.",
        "Duration and criterion are ours; the publication doesn't state them.",
    ],
};
