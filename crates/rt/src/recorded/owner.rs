//! The process that a loop belongs to.
//!
//! A child that its program forks has a copy of the loop and the same shared memory: two would
//! write to a place meant for one. This prevents accidents, not attacks.

#![allow(unsafe_code)] // One page, mapped and told to the kernel.

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The process that creates loops, in a page that the kernel clears in each child
/// (`MADV_WIPEONFORK`, Linux 4.14). Reading it takes a few instructions, whereas `getpid` is a
/// system call. Unlike a handler of `pthread_atfork` it also detects a plain `clone`.
struct Mark(OnceLock<Option<&'static AtomicU32>>);

static MARK: Mark = Mark(OnceLock::new());

/// The process that created a loop.
#[derive(Debug, Clone, Copy)]
pub(super) struct Owner {
    process: u32,
    mark: Option<&'static AtomicU32>,
}

impl Owner {
    /// This process, which then counts as the owner even if it was forked from one.
    pub(super) fn here() -> Self {
        let mark = *MARK.0.get_or_init(|| page().ok());
        let process = std::process::id();
        if let Some(mark) = mark {
            mark.store(process, Ordering::Relaxed);
        }
        Self { process, mark }
    }

    /// Asks for the page.
    #[inline]
    pub(super) fn ask_ahead(self) {
        if let Some(mark) = self.mark {
            crate::ahead::ask_for(mark);
        }
    }

    /// Whether this is still that process; always true without such a page.
    #[inline]
    pub(super) fn is_here(self) -> bool {
        self.mark
            .is_none_or(|mark| mark.load(Ordering::Relaxed) == self.process)
    }
}

/// A page for good, which a child finds empty.
fn page() -> rustix::io::Result<&'static AtomicU32> {
    let bytes = rustix::param::page_size();
    // SAFETY: a new mapping at an address of the kernel's choice, private to this process.
    let page = unsafe {
        mmap_anonymous(
            std::ptr::null_mut(),
            bytes,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE | MapFlags::POPULATE,
        )
    }?;
    // SAFETY: the whole of that mapping, in which nothing is yet.
    unsafe { madvise(page, bytes, Advice::LinuxWipeOnFork) }?;
    // SAFETY: aligned, of zeros, which are a value, and never unmapped.
    Ok(unsafe { &*page.cast::<AtomicU32>() })
}
