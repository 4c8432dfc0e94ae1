//! Ctrl-C and the other polite requests to end. It only notes them; the measurement ends in order.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the run shall end.
#[derive(Debug, Clone)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens for SIGINT, SIGTERM and SIGHUP from now on. A second request ends the process at once;
    /// recorded data is still there for `wakepath recover`.
    ///
    /// # Errors
    /// When the kernel refuses the handlers.
    pub fn listen() -> std::io::Result<Self> {
        let requested = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // In this order: the first request finds the flag unset and passes; the second ends.
            signal_hook::flag::register_conditional_shutdown(signal, 1, Arc::clone(&requested))?;
            signal_hook::flag::register(signal, Arc::clone(&requested))?;
        }
        Ok(Self(requested))
    }

    /// Asks for the end as Ctrl-C does: the run ends in order.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether someone has asked for the end.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
