//! A signal to the calling thread after a time, which ends its wait on the core.
//!
//! Its handler does nothing.

#![allow(unsafe_code)] // A timer of Linux that signals one thread, and the signal's handler.

use std::io;

/// The signal, once, while it lives.
pub(super) struct Alarm(libc::timer_t);

extern "C" fn nothing(_: libc::c_int) {}

impl Alarm {
    /// Expires in `ns` nanoseconds. Installs a handler of SIGALRM for the process.
    pub(super) fn in_ns(ns: u64) -> io::Result<Self> {
        let thread = rustix::thread::gettid().as_raw_nonzero().get();
        let once = libc::itimerspec {
            it_interval: libc::timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value: libc::timespec {
                tv_sec: (ns / 1_000_000_000) as _,
                tv_nsec: (ns % 1_000_000_000) as _,
            },
        };
        // SAFETY: zeroed structures are valid values; the kernel reads them and writes the timer's
        // name to the given address; the handler touches nothing.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
            if libc::sigaction(libc::SIGALRM, &raw const action, std::ptr::null_mut()) != 0 {
                return Err(io::Error::last_os_error());
            }
            let mut event: libc::sigevent = std::mem::zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = libc::SIGALRM;
            event.sigev_notify_thread_id = thread;
            let mut timer: libc::timer_t = std::mem::zeroed();
            let clock = libc::CLOCK_MONOTONIC;
            if libc::timer_create(clock, &raw mut event, &raw mut timer) != 0 {
                return Err(io::Error::last_os_error());
            }
            let alarm = Self(timer);
            match libc::timer_settime(timer, 0, &raw const once, std::ptr::null_mut()) {
                0 => Ok(alarm),
                _ => Err(io::Error::last_os_error()),
            }
        }
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        // SAFETY: the timer was created with it, and is deleted once.
        unsafe { libc::timer_delete(self.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn a_sleep_ends_by_the_signal_and_the_thread_goes_on() {
        std::thread::spawn(|| {
            let _alarm = Alarm::in_ns(10_000_000).unwrap();
            let begun = Instant::now();
            let long = rustix::time::Timespec {
                tv_sec: 60,
                tv_nsec: 0,
            };
            let slept = rustix::thread::nanosleep(&long);
            assert!(matches!(
                slept,
                rustix::thread::NanosleepRelativeResult::Interrupted(_)
            ));
            assert!(begun.elapsed() < Duration::from_secs(30));
        })
        .join()
        .unwrap();
    }
}
