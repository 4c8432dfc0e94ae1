//! Loops and their cycles: create, wait, begin by an external clock, finish, give up.

use crate::text::{say, text_of};
use std::cell::Cell;
use std::ffi::c_char;
use std::time::Duration;
use wakepath_rt::{Activation, Due, Loop, LoopError, Overrun};

/// `WAKEPATH_ESTIMATED` of the header.
const ESTIMATED: u64 = 0;

/// `wakepath_cycle` of the header.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Cycle {
    cycle: u64,
    due_ns: u64,
    wake_ns: u64,
}

/// `wakepath_loop` of the header.
pub struct CLoop {
    pub(crate) cycles: Loop,
    under_way: Option<Activation>,
}

thread_local! {
    /// The loop whose cycle is under way on this thread: for code that is handed none.
    static UNDER_WAY: Cell<*mut CLoop> = const { Cell::new(std::ptr::null_mut()) };
}

/// A loop with this name and period; null if it can't be created, with the reason in `error`.
///
/// # Safety
/// `name` ends with a NUL; `error` has room for `error_bytes`, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wakepath_loop_create(
    name: *const c_char,
    period_ns: u64,
    error: *mut c_char,
    error_bytes: usize,
) -> *mut CLoop {
    // SAFETY: the caller's promise.
    unsafe { created(Loop::new, name, period_ns, error, error_bytes) }
}

/// As `wakepath_loop_create`, with one of the header's `WAKEPATH_OVERRUN_…`.
///
/// # Safety
/// As `wakepath_loop_create`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wakepath_loop_create_with(
    name: *const c_char,
    period_ns: u64,
    overrun: u32,
    error: *mut c_char,
    error_bytes: usize,
) -> *mut CLoop {
    let overrun = match overrun {
        0 => Overrun::Skip,
        1 => Overrun::CatchUp,
        2 => Overrun::Stop,
        other => {
            let why = format!(
                "an overrun is one of WAKEPATH_OVERRUN_SKIP, _CATCH_UP and _STOP, not {other}"
            );
            // SAFETY: the caller's promise.
            unsafe { say(error, error_bytes, &why) };
            return std::ptr::null_mut();
        }
    };
    let make = |name: &str, period| Loop::with_overrun(name, period, overrun);
    // SAFETY: the caller's promise.
    unsafe { created(make, name, period_ns, error, error_bytes) }
}

/// A loop with this name that an external clock drives; null if it can't be created, with the
/// reason in `error`.
///
/// # Safety
/// As `wakepath_loop_create`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wakepath_loop_create_driven(
    name: *const c_char,
    period_ns: u64,
    error: *mut c_char,
    error_bytes: usize,
) -> *mut CLoop {
    // SAFETY: the caller's promise.
    unsafe { created(Loop::driven, name, period_ns, error, error_bytes) }
}

/// Waits for the next due time; false if the recording is over. Finishes an unfinished cycle first.
///
/// # Safety
/// `of` comes from `wakepath_loop_create` and is used by one thread; `cycle` is writable, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wakepath_loop_wait(of: *mut CLoop, cycle: *mut Cycle) -> bool {
    // SAFETY: the caller's promise.
    unsafe { next(of, cycle, Loop::wait) }
}

/// Begins a cycle of a driven loop; false when the recording is over. A cycle that was not finished is finished
/// first.
///
/// # Safety
/// As `wakepath_loop_wait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wakepath_loop_begin(
    of: *mut CLoop,
    due_ns: u64,
    cycle: *mut Cycle,
) -> bool {
    let due = match due_ns {
        ESTIMATED => Due::Estimated,
        due_ns => Due::At(due_ns),
    };
    // SAFETY: the caller's promise.
    unsafe { next(of, cycle, |cycles| cycles.begin_cycle(due)) }
}

/// Ends the cycle under way.
///
/// # Safety
/// As `wakepath_loop_wait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wakepath_loop_finish(of: *mut CLoop) {
    // SAFETY: the caller's promise.
    if let Some(of) = unsafe { of.as_mut() }
        && let Some(activation) = of.under_way.take()
    {
        of.cycles.finish(activation);
        UNDER_WAY.set(std::ptr::null_mut());
    }
}

/// The loop whose cycle is under way on this thread; null without one.
#[unsafe(no_mangle)]
pub extern "C" fn wakepath_loop_under_way() -> *mut CLoop {
    UNDER_WAY.get()
}

/// Due times at which no cycle ran.
///
/// # Safety
/// As `wakepath_loop_wait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wakepath_loop_skipped(of: *const CLoop) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { of.as_ref() }.map_or(0, |of| of.cycles.skipped())
}

/// Whether a recorder has the loop's samples.
///
/// # Safety
/// As `wakepath_loop_wait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wakepath_loop_is_recorded(of: *const CLoop) -> bool {
    // SAFETY: the caller's promise.
    unsafe { of.as_ref() }.is_some_and(|of| of.cycles.is_recorded())
}

/// Destroys the loop.
///
/// # Safety
/// `of` comes from `wakepath_loop_create` and is not used again; null does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wakepath_loop_destroy(of: *mut CLoop) {
    if !of.is_null() {
        if UNDER_WAY.get() == of {
            UNDER_WAY.set(std::ptr::null_mut());
        }
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(of) });
    }
}

/// # Safety
/// As `wakepath_loop_create`.
unsafe fn created(
    make: impl FnOnce(&str, Duration) -> Result<Loop, LoopError>,
    name: *const c_char,
    period_ns: u64,
    error: *mut c_char,
    error_bytes: usize,
) -> *mut CLoop {
    // SAFETY: the caller's promise.
    let name = match unsafe { text_of(name) } {
        Some(name) => name,
        None => {
            // SAFETY: the caller's promise.
            unsafe { say(error, error_bytes, "the name is missing or not UTF-8") };
            return std::ptr::null_mut();
        }
    };
    match make(name, Duration::from_nanos(period_ns)) {
        Ok(cycles) => Box::into_raw(Box::new(CLoop {
            cycles,
            under_way: None,
        })),
        Err(why) => {
            // SAFETY: the caller's promise.
            unsafe { say(error, error_bytes, &why.to_string()) };
            std::ptr::null_mut()
        }
    }
}

/// # Safety
/// As `wakepath_loop_wait`.
#[inline]
unsafe fn next(
    of: *mut CLoop,
    cycle: *mut Cycle,
    begin: impl FnOnce(&mut Loop) -> Option<Activation>,
) -> bool {
    // SAFETY: the caller's promise.
    let Some(this) = (unsafe { of.as_mut() }) else {
        return false;
    };
    if let Some(activation) = this.under_way.take() {
        this.cycles.finish(activation);
        UNDER_WAY.set(std::ptr::null_mut());
    }
    let Some(activation) = begin(&mut this.cycles) else {
        return false;
    };
    // SAFETY: the caller's promise.
    if let Some(place) = unsafe { cycle.as_mut() } {
        *place = Cycle {
            cycle: activation.cycle,
            due_ns: activation.due_ns,
            wake_ns: activation.wake_ns,
        };
    }
    this.under_way = Some(activation);
    UNDER_WAY.set(of);
    true
}
