//! Stops a task of LITMUS^RT that never waits.
//!
//! The kernel's limit on real-time CPU time only counts FIFO and RR, and the core runs its tasks
//! before everything else. A timer on the thread's own CPU time checks, once in the guard's time,
//! whether the thread has waited since.

#![allow(unsafe_code)] // A timer on a thread's clock, and what its signal's handler may do.

use super::waits_here;
use std::cell::RefCell;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

/// A timer of the calling thread, and its last finding.
struct Watchdog {
    timer: libc::timer_t,
    waits_seen: AtomicU32,
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        // SAFETY: this thread has created the timer, and deletes it once.
        unsafe { libc::timer_delete(self.timer) };
    }
}

thread_local! {
    static WATCHDOG: RefCell<Option<Watchdog>> = const { RefCell::new(None) };
}

/// Watches the calling thread, if it is on the core: every `limit_us` microseconds of its CPU time
/// it gets SIGXCPU, whose handler calls [`spins`].
pub(crate) fn watch(limit_us: u64) -> io::Result<()> {
    if waits_here().is_none() {
        return Ok(());
    }
    let thread = rustix::thread::gettid().as_raw_nonzero().get();
    let every = libc::timespec {
        tv_sec: (limit_us / 1_000_000) as _,
        tv_nsec: (limit_us % 1_000_000 * 1_000) as _,
    };
    // SAFETY: zeroed structures are valid values; the kernel reads them, and writes the timer's
    // name to the given address.
    let timer = unsafe {
        let mut event: libc::sigevent = std::mem::zeroed();
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = libc::SIGXCPU;
        event.sigev_notify_thread_id = thread;
        let mut timer: libc::timer_t = std::mem::zeroed();
        let clock = libc::CLOCK_THREAD_CPUTIME_ID;
        if libc::timer_create(clock, &raw mut event, &raw mut timer) != 0 {
            return Err(io::Error::last_os_error());
        }
        timer
    };
    let watchdog = Watchdog {
        timer,
        waits_seen: AtomicU32::new(0),
    };
    let setting = libc::itimerspec {
        it_interval: every,
        it_value: every,
    };
    // SAFETY: the timer was created above, and the kernel only reads the setting.
    if unsafe { libc::timer_settime(timer, 0, &raw const setting, std::ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    WATCHDOG.set(Some(watchdog));
    Ok(())
}

/// Ends the calling thread's watchdog.
pub(super) fn end() {
    // If the thread is ending, it might be gone already.
    let _ = WATCHDOG.try_with(|watchdog| watchdog.take());
}

/// Whether the calling thread has not waited since the last call; `None` if it isn't watched.
/// Async-signal-safe: it only reads the thread's memory.
pub(crate) fn spins() -> Option<bool> {
    let waits = waits_here()?;
    let spins = WATCHDOG.try_with(|watchdog| {
        let watchdog = watchdog.try_borrow().ok()?;
        let seen = watchdog.as_ref()?.waits_seen.swap(waits, Ordering::Relaxed);
        Some(seen == waits)
    });
    spins.ok().flatten()
}
