//! perf's ring in shared memory, and the calls on a perf event that have no safe wrapper. The bytes are
//! interpreted elsewhere.

#![allow(unsafe_code)] // Mapping memory that the kernel writes to; ioctl.

use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::ioctl::{IntegerSetter, NoArg, ioctl, opcode};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Offsets of `data_head` and `data_tail` in the kernel's `perf_event_mmap_page`; they have not moved since
/// the page was made 1024 bytes long for them.
const HEAD: usize = 1024;
const TAIL: usize = 1032;

/// A ring: one page of control, then a power of two of bytes.
#[derive(Debug)]
pub(crate) struct Ring {
    page: NonNull<u8>,
    page_bytes: usize,
    bytes: usize,
    /// Nobody moves the tail: the kernel writes backwards and over the oldest.
    overwritten: bool,
    event: OwnedFd,
}

impl Ring {
    /// Maps the ring of an event, of `bytes`, a power of two of pages.
    pub(crate) fn map(event: OwnedFd, bytes: usize, overwritten: bool) -> io::Result<Self> {
        let page_bytes = rustix::param::page_size();
        // A ring that can't be written to is one that the kernel may overwrite.
        let protection = if overwritten {
            ProtFlags::READ
        } else {
            ProtFlags::READ | ProtFlags::WRITE
        };
        // SAFETY: a new mapping at a place of the kernel's choice.
        let mapped = unsafe {
            mmap(
                std::ptr::null_mut(),
                page_bytes + bytes,
                protection,
                MapFlags::SHARED,
                event.as_fd(),
                0,
            )
        }?;
        let page = NonNull::new(mapped.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self {
            page,
            page_bytes,
            bytes,
            overwritten,
            event,
        })
    }

    /// The event that the ring belongs to.
    pub(crate) fn event(&self) -> &OwnedFd {
        &self.event
    }

    /// Bytes of the ring.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes as u64
    }

    /// The kernel's next position, or, in a backward ring, its last one. Anything written before it can be
    /// read.
    pub(crate) fn head(&self) -> u64 {
        self.word(HEAD).load(Ordering::Acquire)
    }

    /// Gives everything before `tail` back to the kernel.
    pub(crate) fn set_tail(&self, tail: u64) {
        // One that is overwritten is mapped without the right to write.
        if !self.overwritten {
            self.word(TAIL).store(tail, Ordering::Release);
        }
    }

    /// Up to where everything was given back.
    pub(crate) fn tail(&self) -> u64 {
        self.word(TAIL).load(Ordering::Relaxed)
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        // SAFETY: the control page is mapped as long as `self` lives; the kernel keeps an aligned
        // word of 64 bits at this place and reads and writes it as one. It is never written
        // through a mapping without the right to (`set_tail`).
        unsafe { self.page.add(at).cast().as_ref() }
    }
}

impl super::records::Memory for Ring {
    fn bytes(&self) -> u64 {
        self.bytes()
    }

    fn copy(&self, at: u64, into: &mut [u8]) {
        let from = (at % self.bytes()) as usize;
        let to_end = into.len().min(self.bytes - from);
        let (first, rest) = into.split_at_mut(to_end);
        let rest_bytes = rest.len().min(self.bytes);
        // SAFETY: both ranges are in the mapped data: `from + to_end` and `rest_bytes` are at most its
        // length. Callers read the bytes after the head, which the kernel does not write until the tail has
        // passed it, or after the events were closed. The memory is the kernel's, so we hold no reference to
        // it.
        unsafe {
            let data = self.page.add(self.page_bytes);
            std::ptr::copy_nonoverlapping(data.add(from).as_ptr(), first.as_mut_ptr(), to_end);
            std::ptr::copy_nonoverlapping(data.as_ptr(), rest.as_mut_ptr(), rest_bytes);
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: our own mapping, to which no reference is left.
        let _ = unsafe { munmap(self.page.as_ptr().cast(), self.page_bytes + self.bytes) };
    }
}

/// Has an event write into another's ring.
pub(crate) fn write_into(event: &OwnedFd, ring: &OwnedFd) -> io::Result<()> {
    /// `PERF_EVENT_IOC_SET_OUTPUT`.
    const SET_OUTPUT: rustix::ioctl::Opcode = opcode::none(b'$', 5);
    // SAFETY: this request takes a descriptor as its value, and none of our memory.
    let request = unsafe { IntegerSetter::<SET_OUTPUT>::new_usize(ring.as_raw_fd() as usize) };
    // SAFETY: as above.
    Ok(unsafe { ioctl(event, request) }?)
}

/// Has an event count and record.
pub(crate) fn enable(event: &OwnedFd) -> io::Result<()> {
    /// `PERF_EVENT_IOC_ENABLE`.
    const ENABLE: rustix::ioctl::Opcode = opcode::none(b'$', 0);
    // SAFETY: this request takes nothing.
    Ok(unsafe { ioctl(event, NoArg::<ENABLE>::new()) }?)
}

/// Has it stop; its count stays.
pub(crate) fn disable(event: &OwnedFd) -> io::Result<()> {
    /// `PERF_EVENT_IOC_DISABLE`.
    const DISABLE: rustix::ioctl::Opcode = opcode::none(b'$', 1);
    // SAFETY: as for enabling.
    Ok(unsafe { ioctl(event, NoArg::<DISABLE>::new()) }?)
}

/// Has an event of the kernel's tracer count only where the filter holds.
pub(crate) fn filter(event: &OwnedFd, filter: &str) -> io::Result<()> {
    /// `PERF_EVENT_IOC_SET_FILTER`.
    const SET_FILTER: rustix::ioctl::Opcode = opcode::write::<*const libc::c_char>(b'$', 6);
    let filter = std::ffi::CString::new(filter)?;
    // SAFETY: this request takes a pointer to a text that ends with 0, which the kernel copies.
    let request = unsafe { IntegerSetter::<SET_FILTER>::new_usize(filter.as_ptr().addr()) };
    // SAFETY: as above; the text lives until the call is over.
    Ok(unsafe { ioctl(event, request) }?)
}
