//! The system's allocator, which says in one line that memory ran out, instead of aborting with a
//! trace of its own insides. It keeps no memory back and gives none away.
//!
//! `unsafe`: an allocator has no safe form. Each function hands on to the system's.
#![allow(unsafe_code)]

use rustix::stdio::stderr;
use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

/// The allocator of this program.
pub struct Spoken;

// SAFETY: every function is the system allocator's, with its arguments and its result unchanged; a
// null result leaves the process instead of being returned.
unsafe impl GlobalAlloc for Spoken {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        given(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above; `memory` came from the system's allocator.
        given(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[inline]
fn given(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() && bytes > 0 {
        leave(bytes);
    }
    memory
}

/// Ends the process in order: a recorder that loses its measuring process ends the log, and a
/// measuring process that loses its recorder reports it. Everything recorded is on disk by then.
#[cold]
fn leave(bytes: usize) {
    static LEAVING: AtomicBool = AtomicBool::new(false);
    // Whatever allocates on the way out gets the null pointer that it deserves.
    if LEAVING.swap(true, Ordering::Relaxed) {
        return;
    }
    let mut line = [0; 200];
    let mut rest = &mut line[..];
    let _ = writeln!(
        rest,
        "wakepath: out of memory: {bytes} bytes are not available (see ulimit -v, and memory.max of its \
         control group); the recording so far is kept"
    );
    let left = rest.len();
    let _ = rustix::io::write(stderr(), &line[..line.len() - left]);
    std::process::exit(1);
}
