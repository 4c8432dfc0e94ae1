//! How willingly the probe's process gives its CPU away: behind everything ordinary while a segment
//! runs, before it while none does. A refusal leaves the priority as it is, which is no
//! reason not to trace.

use rustix::process::setpriority_process;

/// Behind everything but idle work.
const POLITE: i32 = 10;
/// Nothing is measured between segments, but the phase's loads run on. Behind them, on a CPU that they
/// share, setting up and writing a trace take a hundred times as long.
const HURRIED: i32 = -20;

/// Gives way to everything ordinary.
fn be_polite() {
    let _ = setpriority_process(None, POLITE);
}

/// Does what no loop runs beside, and gives way to everything ordinary from then on.
pub fn in_a_hurry<T>(work: impl FnOnce() -> T) -> T {
    let _ = setpriority_process(None, HURRIED);
    let done = work();
    be_polite();
    done
}
