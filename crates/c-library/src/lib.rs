//! The loop's library for C and C++, as `include/wakepath.h` declares it.
//!
//! It wraps `wakepath-rt` in functions that C can call. The header documents them; nothing is
//! decided here.

// A terminal, a pipe or a log that is gone must not end a process that records, loads or loops: `eprintln!` panics then.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![allow(unsafe_code)] // Pointers of C: each function says what it needs of them.

mod cycles;
mod preparation;
mod said;
mod sections;
mod service;
mod text;

use std::ffi::c_char;

/// Version of the library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn wakepath_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
