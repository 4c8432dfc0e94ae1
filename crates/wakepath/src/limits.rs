//! Limits that the kernel enforces by ending a process, made into errors that can be said and dealt
//! with. It raises none of them.

use signal_hook::consts::SIGXFSZ;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Has a file that reaches the limit of its size (`ulimit -f`) end a write with an error, as a full
/// disk does, instead of ending the process without a word. A handler and not "ignore": a program
/// that this process starts or becomes begins with the default.
pub fn report_instead_of_dying() {
    // Where it can't be had, the limit does what it did before.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}
