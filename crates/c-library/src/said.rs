//! A loop's log lines and values.
//!
//! Formats are parsed once, not for each line.

use crate::cycles::CLoop;
use crate::text::{lasting, short_text};
use std::ffi::c_char;
use wakepath_rt::Argument;
use wakepath_rt::said::{Code, MOST_ARGUMENTS};

/// `WAKEPATH_NO_FORMAT` of the header.
const NO_FORMAT: u64 = u64::MAX;

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
    /// Its type matches the code; a text ends with a NUL and lives as long as the result.
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

/// A parsed `printf` format: its number in the lowest 16 bits, above them four bits for each
/// argument (`wakepath_rt::said::Code`). `WAKEPATH_NO_FORMAT` if nothing is to be logged.
///
/// # Safety
/// As `wakepath_loop_wait`; `format` ends with a NUL, stays at its address and keeps its text.
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

/// The same for a format with `{}`, whose arguments the caller knows.
///
/// # Safety
/// As `wakepath_loop_wait`; `format` has `bytes` bytes, stays at its address and keeps its text.
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

/// Logs a line with a parsed format.
///
/// # Safety
/// As `wakepath_loop_wait`; `arguments` has one for each four bits of `format` above its lowest 16,
/// each of that type, texts ending with a NUL.
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
    while let (Some(code), true) = (Code::new(codes), count < MOST_ARGUMENTS) {
        // SAFETY: the caller's promise.
        copied[count] = unsafe { (*arguments.add(count)).copied(code) };
        (codes, count) = (codes >> 4, count + 1);
    }
    of.cycles.log_numbered(format as u16, &copied[..count]);
}

/// Records a value of the cycle.
///
/// # Safety
/// As `wakepath_loop_wait`; `name` has `bytes` bytes, stays at its address and keeps its text.
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
