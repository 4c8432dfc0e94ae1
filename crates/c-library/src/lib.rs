//! The loop's library for C and C++, as `include/wakepath.h` declares it: `wakepath-rt` behind functions
//! that C can call. What they promise stands in the header; nothing is decided here.

#![allow(unsafe_code)] // Pointers of C: each function says what it needs of them.

use std::cell::Cell;
use std::ffi::{CStr, c_char};
use std::time::Duration;
use wakepath_rt::said::{Code, MOST_ARGUMENTS, TEXT_BYTES};
use wakepath_rt::{Activation, Argument, Due, Loop, LoopError, Preparation, Section};
use wakepath_timeline::Policy;

/// `WAKEPATH_NO_SECTION` of the header.
const NO_SECTION: u32 = u32::MAX;
/// `WAKEPATH_NO_FORMAT` of the header.
const NO_FORMAT: u64 = u64::MAX;
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

/// `wakepath_argument` of the header.
#[repr(C)]
#[derive(Clone, Copy)]
pub union CArgument {
    integer: i64,
    natural: u64,
    real: f64,
    text: *const c_char,
}

impl CArgument {
    /// # Safety
    /// It is of the kind that the code says; a text ends with a NUL and stays for as long as the result.
    #[inline]
    unsafe fn copied<'a>(self, code: Code) -> Argument<'a> {
        // SAFETY: the caller's promise; numbers are any bits.
        unsafe {
            match code {
                Code::Int | Code::Long | Code::LongLong => Argument::Integer(self.integer),
                Code::UnsignedInt | Code::UnsignedLong | Code::UnsignedLongLong => {
                    Argument::Natural(self.natural)
                }
                Code::Double => Argument::Real(self.real),
                Code::Address => Argument::Address(self.natural),
                Code::Text => Argument::Text(short_text(self.text)),
            }
        }
    }
}

/// As much of a text as a line keeps, whatever its length.
///
/// # Safety
/// `text` ends with a NUL, or is null.
#[inline]
unsafe fn short_text<'a>(text: *const c_char) -> &'a str {
    if text.is_null() {
        return "(null)";
    }
    let mut length = 0;
    // SAFETY: the caller's promise: up to the NUL it may be read.
    let bytes = unsafe {
        while length < TEXT_BYTES && *text.add(length) != 0 {
            length += 1;
        }
        std::slice::from_raw_parts(text.cast::<u8>(), length)
    };
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // Cut within a character, or not UTF-8: as far as it is.
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    }
}

/// A text that stays where it is.
///
/// # Safety
/// `text` has so many bytes for as long as the program runs, or is null.
#[inline]
unsafe fn lasting(text: *const c_char, bytes: usize) -> Option<&'static [u8]> {
    match text.is_null() {
        true => None,
        // SAFETY: the caller's promise.
        false => Some(unsafe { std::slice::from_raw_parts(text.cast::<u8>(), bytes) }),
    }
}

/// `wakepath_loop` of the header.
pub struct CLoop {
    cycles: Loop,
    under_way: Option<Activation>,
}

thread_local! {
    /// The loop whose cycle is under way on this thread: for code that is handed none.
    static UNDER_WAY: Cell<*mut CLoop> = const { Cell::new(std::ptr::null_mut()) };
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
    unsafe { created(Loop::new, name, period_ns, error, error_bytes) }
}

/// Waits for the next due time; false when the recording is over. A cycle that was not finished is
/// finished first.
///
/// # Safety
/// `of` comes from `wakepath_loop_create` and is used by one thread; `cycle` may be written, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wakepath_loop_wait(of: *mut CLoop, cycle: *mut Cycle) -> bool {
    // SAFETY: the caller's promise.
    unsafe { next(of, cycle, Loop::wait) }
}

/// A loop of this name that somebody else's clock drives; null where it can't be had, with why in `error`.
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

/// What is known of a `printf` format: its number in the lowest 16 bits, above them four bits for each argument
/// (`wakepath_rt::said::Code`). `WAKEPATH_NO_FORMAT` where nothing is to be logged.
///
/// # Safety
/// As `wakepath_loop_wait`; `format` ends with a NUL, stays where it is and keeps its text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wakepath_log_format(of: *mut CLoop, format: *const c_char) -> u64 {
    // SAFETY: the caller's promise.
    let Some(of) = (unsafe { of.as_mut() }) else {
        return NO_FORMAT;
    };
    if format.is_null() {
        return NO_FORMAT;
    }
    // SAFETY: the caller's promise.
    match unsafe { of.cycles.format_of_c(format) } {
        Some((number, codes)) => u64::from(number) | u64::from(codes) << 16,
        None => NO_FORMAT,
    }
}

/// The same for a format with `{}`, of which the caller knows the arguments.
///
/// # Safety
/// As `wakepath_loop_wait`; `format` has `bytes` bytes, stays where it is and keeps its text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wakepath_log_format_braces(
    of: *mut CLoop,
    format: *const c_char,
    bytes: usize,
) -> u64 {
    // SAFETY: the caller's promise.
    let (of, text) = unsafe { (of.as_mut(), lasting(format, bytes)) };
    match (of, text) {
        (Some(of), Some(text)) => of.cycles.format_of(text).map_or(NO_FORMAT, u64::from),
        _ => NO_FORMAT,
    }
}

/// Logs a line of a format that is known.
///
/// # Safety
/// As `wakepath_loop_wait`; `arguments` has one for each four bits of `format` above its lowest 16, each of the
/// kind that they say, texts ending with a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wakepath_log_arguments(
    of: *mut CLoop,
    format: u64,
    arguments: *const CArgument,
) {
    // SAFETY: the caller's promise.
    let Some(of) = (unsafe { of.as_mut() }) else {
        return;
    };
    let mut copied = [Argument::Natural(0); MOST_ARGUMENTS];
    let (mut codes, mut count) = (format >> 16, 0);
    while let (Some(code), true) = (Code::of(codes), count < MOST_ARGUMENTS) {
        // SAFETY: the caller's promise.
        copied[count] = unsafe { (*arguments.add(count)).copied(code) };
        (codes, count) = (codes >> 4, count + 1);
    }
    of.cycles.log_numbered(format as u16, &copied[..count]);
}

/// Says a value of the cycle.
///
/// # Safety
/// As `wakepath_loop_wait`; `name` has `bytes` bytes, stays where it is and keeps its text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wakepath_value_named(
    of: *mut CLoop,
    name: *const c_char,
    bytes: usize,
    value: f64,
) {
    // SAFETY: the caller's promise.
    let (of, name) = unsafe { (of.as_mut(), lasting(name, bytes)) };
    if let (Some(of), Some(name)) = (of, name) {
        of.cycles.value_of(name, value);
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
        if UNDER_WAY.get() == of {
            UNDER_WAY.set(std::ptr::null_mut());
        }
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
