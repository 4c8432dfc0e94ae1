//! The loop's library for C and C++, as `include/wakepath.h` declares it: `wakepath-rt` behind functions
//! that C can call. What they promise stands in the header; nothing is decided here.

#![allow(unsafe_code)] // Pointers of C: each function says what it needs of them.

use std::ffi::{CStr, c_char};
use std::time::Duration;
use wakepath_rt::{Activation, Loop, Preparation, Section};
use wakepath_timeline::Policy;

/// `WAKEPATH_NO_SECTION` of the header.
const NO_SECTION: u32 = u32::MAX;

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
    cycles: Loop,
    under_way: Option<Activation>,
}

/// A loop of this name and period; null where it can't be had, with why in `error`.
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
    let name = match unsafe { text_of(name) } {
        Some(name) => name,
        None => {
            // SAFETY: the caller's promise.
            unsafe { say(error, error_bytes, "the name is missing or not UTF-8") };
            return std::ptr::null_mut();
        }
    };
    match Loop::new(name, Duration::from_nanos(period_ns)) {
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

/// Waits for the next due time; false when the recording is over. A cycle that was not finished is
/// finished first.
///
/// # Safety
/// `of` comes from `wakepath_loop_create` and is used by one thread; `cycle` may be written, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wakepath_loop_wait(of: *mut CLoop, cycle: *mut Cycle) -> bool {
    // SAFETY: the caller's promise.
    let Some(of) = (unsafe { of.as_mut() }) else {
        return false;
    };
    if let Some(activation) = of.under_way.take() {
        of.cycles.finish(activation);
    }
    let Some(activation) = of.cycles.wait() else {
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
    of.under_way = Some(activation);
    true
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
    }
}

/// A section of this name; `WAKEPATH_NO_SECTION` where nothing is timed.
///
/// # Safety
/// As `wakepath_loop_wait`; `name` ends with a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wakepath_loop_section(
    of: *mut CLoop,
    name: *const c_char,
    budget_ns: u64,
) -> u32 {
    // SAFETY: the caller's promise.
    let (of, name) = unsafe { (of.as_mut(), text_of(name)) };
    let (Some(of), Some(name)) = (of, name) else {
        return NO_SECTION;
    };
    let budget = (budget_ns != 0).then(|| Duration::from_nanos(budget_ns));
    let section = of.cycles.section(name, budget);
    section.number().map_or(NO_SECTION, u32::from)
}

/// A section begins.
///
/// # Safety
/// As `wakepath_loop_wait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wakepath_section_begin(of: *mut CLoop, section: u32) {
    // SAFETY: the caller's promise.
    if let (Some(of), Ok(number)) = (unsafe { of.as_mut() }, section.try_into()) {
        of.cycles.begin(Section::of(number));
    }
}

/// A section ends.
///
/// # Safety
/// As `wakepath_loop_wait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wakepath_section_end(of: *mut CLoop, section: u32) {
    // SAFETY: the caller's promise.
    if let (Some(of), Ok(number)) = (unsafe { of.as_mut() }, section.try_into()) {
        of.cycles.end(Section::of(number));
    }
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

/// Gives the loop up.
///
/// # Safety
/// `of` comes from `wakepath_loop_create` and is not used again; null does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wakepath_loop_destroy(of: *mut CLoop) {
    if !of.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(of) });
    }
}

/// Prepares the calling thread under OTHER.
///
/// # Safety
/// `cpus` has `cpu_count` numbers, or is null; `said` has room for `said_bytes`, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wakepath_prepare_other(
    nice: i8,
    cpus: *const u16,
    cpu_count: usize,
    said: *mut c_char,
    said_bytes: usize,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { prepare(Policy::Other { nice }, cpus, cpu_count, said, said_bytes) }
}

/// Prepares the calling thread under FIFO.
///
/// # Safety
/// As `wakepath_prepare_other`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wakepath_prepare_fifo(
    priority: u8,
    cpus: *const u16,
    cpu_count: usize,
    said: *mut c_char,
    said_bytes: usize,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { prepare(Policy::Fifo { priority }, cpus, cpu_count, said, said_bytes) }
}

/// Prepares the calling thread under RR.
///
/// # Safety
/// As `wakepath_prepare_other`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wakepath_prepare_rr(
    priority: u8,
    cpus: *const u16,
    cpu_count: usize,
    said: *mut c_char,
    said_bytes: usize,
) -> i32 {
    let policy = Policy::RoundRobin { priority };
    // SAFETY: the caller's promise.
    unsafe { prepare(policy, cpus, cpu_count, said, said_bytes) }
}

/// Prepares the calling thread under DEADLINE.
///
/// # Safety
/// As `wakepath_prepare_other`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wakepath_prepare_deadline(
    runtime_ns: u64,
    deadline_ns: u64,
    period_ns: u64,
    said: *mut c_char,
    said_bytes: usize,
) -> i32 {
    let policy = Policy::Deadline {
        runtime_ns,
        deadline_ns,
        period_ns,
    };
    // SAFETY: the caller's promise.
    unsafe { prepare(policy, std::ptr::null(), 0, said, said_bytes) }
}

/// Version of the library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn wakepath_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The number of shortfalls, told in `said`; −1 where the thread can't be prepared.
///
/// # Safety
/// As `wakepath_prepare_other`.
unsafe fn prepare(
    policy: Policy,
    cpus: *const u16,
    cpu_count: usize,
    said: *mut c_char,
    said_bytes: usize,
) -> i32 {
    let cpus = match cpus.is_null() || cpu_count == 0 {
        true => None,
        // SAFETY: the caller's promise.
        false => Some(unsafe { std::slice::from_raw_parts(cpus, cpu_count) }.to_vec()),
    };
    let prepared = Preparation {
        policy,
        cpus,
        ..Preparation::default()
    }
    .apply();
    let (answer, text) = match prepared {
        Ok(prepared) => {
            let lines: Vec<String> = prepared
                .shortfalls
                .iter()
                .map(ToString::to_string)
                .collect();
            (lines.len() as i32, lines.join("\n"))
        }
        Err(why) => (-1, why.to_string()),
    };
    // SAFETY: the caller's promise.
    unsafe { say(said, said_bytes, &text) };
    answer
}

/// # Safety
/// `text` ends with a NUL, or is null.
unsafe fn text_of<'a>(text: *const c_char) -> Option<&'a str> {
    match text.is_null() {
        true => None,
        // SAFETY: the caller's promise.
        false => unsafe { CStr::from_ptr(text) }.to_str().ok(),
    }
}

/// Writes as much of the text as has room, and a NUL.
///
/// # Safety
/// `place` has room for `bytes`, or is null.
unsafe fn say(place: *mut c_char, bytes: usize, text: &str) {
    if place.is_null() || bytes == 0 {
        return;
    }
    let length = text.floor_char_boundary(bytes - 1);
    // SAFETY: the caller's promise; the text and its NUL are at most `bytes` long.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr().cast(), place, length);
        *place.add(length) = 0;
    }
}
