//! Texts of C: reads them with or without a NUL, and writes answers if there is room.
//!
//! It doesn't interpret them.

use std::ffi::{CStr, c_char};
use wakepath_rt::said::TEXT_BYTES;

/// As much of a text as a line keeps, whatever its length.
///
/// # Safety
/// `text` ends with a NUL, or is null.
#[inline]
pub(crate) unsafe fn short_text<'a>(text: *const c_char) -> &'a str {
    if text.is_null() {
        return "(null)";
    }
    let mut length = 0;
    // SAFETY: by the caller's promise it is readable up to the NUL.
    let bytes = unsafe {
        while length < TEXT_BYTES && *text.add(length) != 0 {
            length += 1;
        }
        std::slice::from_raw_parts(text.cast::<u8>(), length)
    };
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // Cut within a character, or invalid UTF-8: the valid part.
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    }
}

/// A text that stays at its address.
///
/// # Safety
/// `text` has `bytes` bytes for as long as the program runs, or is null.
#[inline]
pub(crate) unsafe fn lasting(text: *const c_char, bytes: usize) -> Option<&'static [u8]> {
    match text.is_null() {
        true => None,
        // SAFETY: the caller's promise.
        false => Some(unsafe { std::slice::from_raw_parts(text.cast::<u8>(), bytes) }),
    }
}

/// # Safety
/// `text` ends with a NUL, or is null.
pub(crate) unsafe fn text_of<'a>(text: *const c_char) -> Option<&'a str> {
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
pub(crate) unsafe fn say(place: *mut c_char, bytes: usize, text: &str) {
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
