//! Errors of a guest that ended otherwise than by the end of its work.

use crate::fault::Unfinished;
use std::path::PathBuf;

/// Error of a guest under way.
#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    /// The guest never reached its own program.
    #[error("the guest never started its program ({why}); its console: {}", console.display())]
    NeverStarted {
        /// The last of its console.
        why: String,
        /// The whole.
        console: PathBuf,
    },
    /// The guest's kernel panicked.
    #[error("the guest's kernel panicked: {line}; its console: {}", console.display())]
    Panic {
        /// The kernel's line.
        line: String,
        /// The whole.
        console: PathBuf,
    },
    /// The guest did not end in time.
    #[error(
        "the guest hung or is too slow: no end after {seconds} s and {cpu_seconds} s of CPU time on \
         this host (`--timeout` allows more); its last line: {last}; its console: {}", console.display()
    )]
    Hung {
        /// How long it took.
        seconds: u64,
        /// Limit of its CPU time.
        cpu_seconds: u64,
        /// The last of its console.
        last: String,
        /// The whole.
        console: PathBuf,
    },
    /// The guest's program failed with an error.
    #[error("in the guest: {why}; its console: {}", console.display())]
    Failed {
        /// The message.
        why: String,
        /// The whole console.
        console: PathBuf,
    },
    /// The guest's data is incomplete or damaged.
    #[error("the guest's data is incomplete: {why}; its console: {}", console.display())]
    Incomplete {
        /// The reason.
        why: Unfinished,
        /// The whole console.
        console: PathBuf,
    },
    /// The emulator itself ended with an error.
    #[error("{program} failed: {said}")]
    Emulator {
        /// The program.
        program: String,
        /// Its last words.
        said: String,
    },
    /// A guest that parts from its first run while it is still under way.
    #[error(
        "it does not repeat: after segment {segment} its canary is {now}, and was {before} in {}; it was stopped there. \
         The emulator did not keep its promise: please report it with both consoles",
        first.display()
    )]
    Parted {
        /// Number of the segment, from 1.
        segment: usize,
        /// The canary of the first run.
        before: String,
        /// Its own.
        now: String,
        /// The console of the first run.
        first: PathBuf,
    },
    /// The thread that should have run it is gone.
    #[error("it never began")]
    NeverBegan,
}
