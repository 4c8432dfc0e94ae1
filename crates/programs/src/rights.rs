//! Gives up capabilities before foreign code runs.
//!
//! Capabilities belong to a thread: a thread that gives them up starts programs without them, while
//! the others keep theirs. That does not protect a thread from code in its own process; for that, a
//! process has to give them up.
//!
//! Root keeps them: a user who runs a program as root wants it to be root's.

use rustix::io;
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

/// Gives up all capabilities of the calling thread for good: effective, permitted, inheritable,
/// and with them those that every program would get (ambient).
///
/// # Errors
/// The kernel's.
pub fn give_up() -> io::Result<()> {
    keep_only(CapabilitySet::empty())
}

/// Gives up all capabilities of the calling thread but `kept`, which no program inherits.
///
/// # Errors
/// The kernel's.
pub fn keep_only(kept: CapabilitySet) -> io::Result<()> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let held = capabilities(None)?;
    // The ambient set is never larger than the inheritable one: the kernel empties it as well.
    set_capabilities(
        None,
        CapabilitySets {
            effective: held.effective & kept,
            permitted: held.permitted & kept,
            inheritable: CapabilitySet::empty(),
        },
    )
}

/// Whether the calling thread has capabilities that it would give up.
pub fn any() -> bool {
    !rustix::process::geteuid().is_root()
        && capabilities(None).is_ok_and(|held| !held.permitted.is_empty())
}

/// The result of `start`, run on a thread that has given up all capabilities: a program that it
/// starts has none. The caller keeps its own.
///
/// # Errors
/// If the thread can't be created or the capabilities can't be given up.
pub fn without<T: Send>(start: impl FnOnce() -> T + Send) -> std::io::Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, || {
            give_up()?;
            Ok(start())
        })?;
        thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
