//! Ctrl-C and the other polite requests to end. It only notes them; the measurement ends in order.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Requests within this time are one: `timeout` signals its program and then its group, a service manager may add
/// SIGHUP to SIGTERM.
const TOGETHER: Duration = Duration::from_millis(100);

/// Whether the run shall end.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<Flags>);

#[derive(Debug, Default)]
struct Flags {
    requested: Arc<AtomicBool>,
    /// The request was seen.
    seen: AtomicBool,
    /// Another one ends the process at once.
    ends: Arc<AtomicBool>,
}

impl Interrupt {
    /// Listens for SIGINT, SIGTERM and SIGHUP from now on. One that comes later than the first ends the
    /// process at once; recorded data is still there for `wakepath recover`.
    ///
    /// # Errors
    /// When the kernel refuses the handlers.
    pub fn listen() -> std::io::Result<Self> {
        let new = Self::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let Flags {
                requested, ends, ..
            } = &*new.0;
            signal_hook::flag::register_conditional_shutdown(signal, 1, Arc::clone(ends))?;
            signal_hook::flag::register(signal, Arc::clone(requested))?;
        }
        Ok(new)
    }

    /// Asks for the end as Ctrl-C does: the run ends in order.
    pub fn request(&self) {
        self.0.requested.store(true, Ordering::Relaxed);
    }

    /// Whether someone has asked for the end.
    pub fn requested(&self) -> bool {
        let is_requested = self.0.requested.load(Ordering::Relaxed);
        if is_requested && !self.0.seen.swap(true, Ordering::Relaxed) {
            let ends = Arc::clone(&self.0.ends);
            std::thread::spawn(move || {
                std::thread::sleep(TOGETHER);
                ends.store(true, Ordering::Relaxed);
            });
        }
        is_requested
    }
}
