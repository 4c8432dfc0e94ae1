//! A guard against a real-time loop that never sleeps.
//!
//! The kernel itself counts the CPU time that a FIFO or RR thread takes without sleeping
//! (`RLIMIT_RTTIME`), so the guard works on a machine with one CPU and needs no thread that the
//! loop could starve.
//!
//! At the soft limit the kernel sends SIGXCPU; the handler gives every guarded thread back to
//! SCHED_OTHER and reports it. At the hard limit the kernel kills the process. A SCHED_DEADLINE
//! thread needs no guard: its reservation throttles it. A task of LITMUS^RT, which that limit does
//! not count, has its own timer (`litmus/watchdog.rs`) that sends the same signal.

#![allow(unsafe_code)] // Installing a signal handler, and what may be called inside one.

use crate::litmus;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, Ordering};

/// Threads that can be guarded in one process.
pub const MOST_THREADS: usize = 1024;

static THREADS: [AtomicI32; MOST_THREADS] = [const { AtomicI32::new(0) }; MOST_THREADS];
static GUARDED: AtomicU32 = AtomicU32::new(0);
static TRIPPED: AtomicBool = AtomicBool::new(false);
static ALSO_TELL: AtomicPtr<AtomicU32> = AtomicPtr::new(std::ptr::null_mut());

/// Why the guard could not be set.
#[derive(Debug, thiserror::Error)]
pub enum GuardError {
    /// A lower hard limit is in force: it stops the loop too, but before the guard would.
    #[error(
        "RLIMIT_RTTIME is already {hard_us} µs, below the {wanted_us} µs that the guard needs; \
         raise LimitRTTIME= of the unit or session"
    )]
    LowerLimit {
        /// Hard limit in force, in microseconds.
        hard_us: u64,
        /// The guard's limit, in microseconds.
        wanted_us: u64,
    },
    /// The kernel refused.
    #[error("the guard against a spinning loop can't be set: {0}")]
    Refused(#[source] std::io::Error),
}

/// Sets the guard for this process: a FIFO or RR thread that uses `soft_us` microseconds of CPU
/// time without sleeping is given back to SCHED_OTHER; at `2 · soft_us` the process is killed.
/// `also_tell` is set to 1 when that happens, for another process to see.
///
/// # Errors
/// If a lower limit is in force or the kernel refuses.
pub fn set(soft_us: u64, also_tell: Option<&'static AtomicU32>) -> Result<(), GuardError> {
    let wanted = Rlimit {
        current: Some(soft_us),
        maximum: Some(2 * soft_us),
    };
    if let Some(hard_us) = getrlimit(Resource::Rttime).maximum
        && hard_us < 2 * soft_us
    {
        return Err(GuardError::LowerLimit {
            hard_us,
            wanted_us: 2 * soft_us,
        });
    }
    if let Some(flag) = also_tell {
        ALSO_TELL.store(std::ptr::from_ref(flag).cast_mut(), Ordering::Release);
    }
    // SAFETY: the handler is async-signal-safe (atomics and one system call); sigaction's
    // structure is zeroed plain data, for which zero is a value.
    let installed = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_limit as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART | libc::SA_SIGINFO;
        libc::sigaction(libc::SIGXCPU, &action, std::ptr::null_mut())
    };
    if installed != 0 {
        return Err(GuardError::Refused(std::io::Error::last_os_error()));
    }
    setrlimit(Resource::Rttime, wanted).map_err(|error| GuardError::Refused(error.into()))
}

/// Puts the calling thread under the guard. Threads beyond [`MOST_THREADS`] are only guarded by the
/// hard limit.
///
/// # Errors
/// If a task of LITMUS^RT can't be watched.
pub fn watch_this_thread() -> Result<(), GuardError> {
    let slot = GUARDED.fetch_add(1, Ordering::AcqRel) as usize;
    if let Some(thread) = THREADS.get(slot) {
        thread.store(
            rustix::thread::gettid().as_raw_nonzero().get(),
            Ordering::Release,
        );
    }
    match getrlimit(Resource::Rttime).current {
        None => Ok(()),
        Some(limit_us) => litmus::watch(limit_us).map_err(GuardError::Refused),
    }
}

/// Whether the guard has stopped a spinning loop.
#[inline]
pub fn has_tripped() -> bool {
    TRIPPED.load(Ordering::Relaxed)
}

/// Runs in whichever thread the kernel picks for the process's signal.
extern "C" fn on_limit(
    _signal: libc::c_int,
    told: *const libc::siginfo_t,
    _context: *const libc::c_void,
) {
    // SAFETY: the kernel passes a valid siginfo to a handler with SA_SIGINFO.
    let by_timer = unsafe { told.as_ref() }.is_some_and(|told| told.si_code == libc::SI_TIMER);
    if by_timer && litmus::spins() != Some(true) {
        return;
    }
    // SAFETY: errno belongs to the interrupted code and is restored; sched_setscheduler is a plain
    // system call with a valid parameter; for an ended thread it returns ESRCH.
    unsafe {
        let errno = libc::__errno_location();
        let saved = *errno;
        let other: libc::sched_param = std::mem::zeroed();
        for thread in &THREADS {
            match thread.load(Ordering::Acquire) {
                0 => break,
                tid => libc::syscall(
                    libc::SYS_sched_setscheduler,
                    tid,
                    libc::SCHED_OTHER,
                    &raw const other,
                ),
            };
        }
        TRIPPED.store(true, Ordering::Release);
        if let Some(flag) = ALSO_TELL.load(Ordering::Acquire).as_ref() {
            flag.store(1, Ordering::Release);
        }
        *errno = saved;
    }
}
