//! How willingly the probe's process gives its CPU away: behind everything ordinary while a segment
//! runs, or like everything ordinary if a viewer waits for an event, and before it while no segment runs. A refusal
//! leaves the priority as it is, which is no reason not to trace.

use rustix::process::{Pid, setpriority_process};

/// Behind everything but idle work.
const POLITE: i32 = 10;
/// Like everything ordinary. After a dozen compilers, a viewer would see an event only a second later.
const USUAL: i32 = 0;
/// Nothing is measured between segments, but the phase's loads run on. After them, on a CPU that they
/// share, setting up and writing a trace take a hundred times as long.
const HURRIED: i32 = -20;

/// Has the probe's process of this number run like everything ordinary until it has followed new threads. After a
/// dozen compilers it would only hear of them half a second later, and their calls until then would be lost.
pub fn hurry(process: u32) {
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    if process.is_some() {
        let _ = setpriority_process(process, USUAL);
    }
}

/// Lets every ordinary thread run first; or takes turns with them, if a viewer waits for an event.
pub(crate) fn be_polite(is_awaited: bool) {
    let priority = if is_awaited { USUAL } else { POLITE };
    let _ = setpriority_process(None, priority);
}

/// Does work during which no loop runs, and is as polite as before from then on.
pub(crate) fn in_a_hurry<T>(is_awaited: bool, work: impl FnOnce() -> T) -> T {
    let _ = setpriority_process(None, HURRIED);
    let done = work();
    be_polite(is_awaited);
    done
}
