//! Calls to EVL: two through Linux, which enter the core, and those to the core itself.

#![allow(unsafe_code)] // None of these has a wrapper in libc or rustix.

use super::abi::{self, IOCTL, OUT_OF_BAND, PRCTL_OUT_OF_BAND, READ, Way};
use rustix::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::io;

/// A request by Linux's `ioctl` about `value`, whose size is part of the request's number.
pub(super) fn ioctl<T>(device: impl AsFd, request: u32, value: &mut T) -> io::Result<i32> {
    debug_assert_eq!((request >> 16 & 0x3fff) as usize, size_of::<T>());
    let device = device.as_fd().as_raw_fd();
    // SAFETY: the kernel reads and writes the number of bytes in the request, which is the size of
    // `value`.
    let result = unsafe { libc::ioctl(device, request as _, &raw mut *value) };
    answer(result.into()).map(|result| result as i32)
}

/// A request by Linux's `ioctl` that has no value.
pub(super) fn plain_ioctl(device: impl AsFd, request: u32) -> io::Result<i32> {
    // SAFETY: such a request has no argument, and the kernel touches no memory of this process.
    let result = unsafe { libc::ioctl(device.as_fd().as_raw_fd(), request as _, 0) };
    answer(result.into()).map(|result| result as i32)
}

/// A request to the core itself, without leaving it.
#[inline]
pub(super) fn core_ioctl<T>(
    way: Way,
    device: impl AsFd,
    request: u32,
    value: &mut T,
) -> io::Result<()> {
    debug_assert_eq!((request >> 16 & 0x3fff) as usize, size_of::<T>());
    let device: libc::c_long = device.as_fd().as_raw_fd().into();
    let (request, value) = (request as libc::c_long, &raw mut *value);
    // SAFETY: as in `ioctl`; `way` holds the numbers that the core itself reported.
    let result = unsafe {
        match way {
            Way::Marked => libc::syscall(IOCTL | OUT_OF_BAND, device, request, value),
            Way::Prctl => {
                let option = PRCTL_OUT_OF_BAND;
                libc::syscall(libc::SYS_prctl, option, IOCTL, device, request, value)
            }
        }
    };
    answer(result).map(drop)
}

/// Reads how often a timer of the core has expired; sleeps until it has.
#[inline]
pub(super) fn core_read(way: Way, timer: impl AsFd) -> io::Result<()> {
    let mut expirations = 0_u64;
    let bytes = size_of::<u64>() as libc::c_long;
    let (timer, into): (libc::c_long, _) = (timer.as_fd().as_raw_fd().into(), &raw mut expirations);
    // SAFETY: the kernel writes eight bytes at most, for which there is room.
    let result = unsafe {
        match way {
            Way::Marked => libc::syscall(READ | OUT_OF_BAND, timer, into, bytes),
            Way::Prctl => {
                let option = PRCTL_OUT_OF_BAND;
                libc::syscall(libc::SYS_prctl, option, READ, timer, into, bytes)
            }
        }
    };
    answer(result).map(drop)
}

/// The calling thread as a thread of the core: its descriptor. The core gives it a name.
pub(super) fn clone_this_thread(factory: impl AsFd) -> io::Result<OwnedFd> {
    clone_element(factory, abi::CloneRequest::default())
}

/// A buffer that the core writes into and this process reads.
pub(super) fn new_buffer(factory: impl AsFd, bytes: u32) -> io::Result<OwnedFd> {
    let sizes = abi::BufferSizes {
        from_the_core: bytes,
        to_the_core: 0,
    };
    let request = abi::CloneRequest {
        attributes: (&raw const sizes).expose_provenance() as u64,
        ..abi::CloneRequest::default()
    };
    clone_element(factory, request)
}

fn clone_element(factory: impl AsFd, mut request: abi::CloneRequest) -> io::Result<OwnedFd> {
    // All factories take the same request.
    ioctl(factory, abi::CLONE, &mut request)?;
    // SAFETY: the kernel has just created this descriptor for this process, and nothing else owns
    // it.
    Ok(unsafe { OwnedFd::from_raw_fd(request.descriptor.cast_signed()) })
}

/// A new timer of the clock. Its request's number has no size, but the kernel writes the
/// descriptor.
pub(super) fn new_timer(clock: impl AsFd) -> io::Result<OwnedFd> {
    let mut descriptor: i32 = -1;
    let clock = clock.as_fd().as_raw_fd();
    // SAFETY: the kernel writes one `int`, which is there.
    let result = unsafe { libc::ioctl(clock, abi::NEW_TIMER as _, &raw mut descriptor) };
    answer(result.into())?;
    // SAFETY: as in `clone_this_thread`.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

fn answer(result: libc::c_long) -> io::Result<libc::c_long> {
    match result {
        -1 => Err(io::Error::last_os_error()),
        result => Ok(result),
    }
}
