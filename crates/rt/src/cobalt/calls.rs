//! Calls to Cobalt, each with its structures.
//!
//! If the core doesn't know a call's number, or the kernel has no Cobalt, the call returns an
//! ordinary error.

#![allow(unsafe_code)] // None of these has a wrapper in libc or rustix.

use super::abi::{self, BindRequest, Scheduling, Statistics, Time, TimerSetting};
use std::ffi::{CStr, c_int, c_long};
use std::io;
use std::ptr;

/// A call of the core.
///
/// # Safety
/// Addresses among the arguments must match what the call reads or writes, and live until it
/// returns.
#[inline]
unsafe fn call(number: c_long, arguments: [c_long; 5]) -> io::Result<c_long> {
    let [a, b, c, d, e] = arguments;
    let number = number | abi::MARK;
    // SAFETY: the caller's promise; a kernel without the core refuses the number.
    #[cfg(not(target_arch = "arm"))]
    let result = unsafe { libc::syscall(number, a, b, c, d, e) };
    // SAFETY: as above.
    #[cfg(target_arch = "arm")]
    let result = unsafe { libc::syscall(abi::CARRIER, number, a, b, c, d, e) };
    match result {
        -1 => Err(io::Error::last_os_error()),
        result => Ok(result),
    }
}

fn address<T>(of: &mut T) -> c_long {
    ptr::from_mut(of).expose_provenance() as c_long
}

fn address_of<T>(of: &T) -> c_long {
    ptr::from_ref(of).expose_provenance() as c_long
}

/// Binds this process to the core if the revisions match; otherwise the core returns its own in the
/// request.
pub(super) fn bind(request: &mut BindRequest) -> io::Result<()> {
    let arguments = [address(request), 0, 0, 0, 0];
    // SAFETY: the core reads and writes one structure of this size.
    unsafe { call(abi::BIND, arguments) }.map(drop)
}

/// Makes the calling thread one of the core's, identified by `thread`, or changes its policy.
pub(super) fn set_scheduling(thread: c_long, policy: c_int, priority: u8) -> io::Result<()> {
    let scheduling = Scheduling::with(priority);
    let (mut window, mut promoted) = (0_u32, 0 as c_int);
    let arguments = [
        thread,
        policy.into(),
        address_of(&scheduling),
        address(&mut window),
        address(&mut promoted),
    ];
    // SAFETY: the core reads the one structure, and writes a number to each of the other two.
    unsafe { call(abi::SET_SCHEDULING, arguments) }.map(drop)
}

/// The policy and priority that the core has of a thread.
pub(super) fn scheduling(thread: c_long) -> io::Result<(c_int, i32)> {
    let (mut policy, mut scheduling) = (0 as c_int, Scheduling::default());
    let arguments = [thread, address(&mut policy), address(&mut scheduling), 0, 0];
    // SAFETY: the core writes a number, and a structure that is no larger than this one.
    unsafe { call(abi::GET_SCHEDULING, arguments) }?;
    Ok((policy, scheduling.priority))
}

/// The core's counters of the calling thread.
#[inline]
pub(super) fn statistics() -> io::Result<Statistics> {
    let mut statistics = Statistics::default();
    let arguments = [0, address(&mut statistics), 0, 0, 0];
    // SAFETY: the core writes one structure of this size.
    unsafe { call(abi::GET_STATISTICS, arguments) }?;
    Ok(statistics)
}

/// Takes the calling thread to the core, or into Linux.
pub(super) fn migrate(to: c_long) -> io::Result<()> {
    // SAFETY: no argument is an address.
    unsafe { call(abi::MIGRATE, [to, 0, 0, 0, 0]) }.map(drop)
}

/// The core's monotonic clock, ns.
#[inline]
pub(super) fn clock_ns() -> io::Result<u64> {
    let mut time = Time::default();
    let arguments = [abi::MONOTONIC, address(&mut time), 0, 0, 0];
    // SAFETY: the core writes one time.
    unsafe { call(abi::CLOCK_GETTIME, arguments) }?;
    Ok(time.ns())
}

/// Sleeps until the core's monotonic clock shows `due_ns`.
#[inline]
pub(super) fn sleep_until(due_ns: u64) -> io::Result<()> {
    let due = Time::at(due_ns);
    let arguments = [abi::MONOTONIC, abi::ABSOLUTE, address_of(&due), 0, 0];
    // SAFETY: the core reads one time.
    unsafe { call(abi::CLOCK_NANOSLEEP, arguments) }.map(drop)
}

/// A timer of the core. Its descriptor belongs to this process, and the core's own call closes it.
#[derive(Debug)]
pub(crate) struct Timer(c_long);

impl Timer {
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: no argument is an address.
        unsafe { call(abi::TIMERFD_CREATE, [abi::MONOTONIC, 0, 0, 0, 0]) }.map(Self)
    }

    /// Lets it expire once, when the core's clock shows `due_ns`.
    #[inline]
    pub(super) fn set(&self, due_ns: u64) -> io::Result<()> {
        let once = TimerSetting {
            interval: Time::default(),
            value: Time::at(due_ns),
        };
        let arguments = [self.0, abi::ABSOLUTE, address_of(&once), 0, 0];
        // SAFETY: the core reads one setting, and is given no place for the old one.
        unsafe { call(abi::TIMERFD_SETTIME, arguments) }.map(drop)
    }

    /// Reads how often it has expired; sleeps until it has.
    #[inline]
    pub(super) fn read(&self) -> io::Result<()> {
        let mut expirations = 0_u64;
        let bytes = size_of::<u64>() as c_long;
        let arguments = [self.0, address(&mut expirations), bytes, 0, 0];
        // SAFETY: the core writes eight bytes at most, for which there is room.
        unsafe { call(abi::READ, arguments) }.map(drop)
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // SAFETY: no argument is an address, and the descriptor is this timer's own.
        let _ = unsafe { call(abi::CLOSE, [self.0, 0, 0, 0, 0]) };
    }
}

/// A device of the core, open only for this process.
#[derive(Debug)]
pub(super) struct Device(c_long);

impl Device {
    /// The core opens its devices itself; Linux's `open` knows nothing of them.
    pub(super) fn open(path: &CStr) -> io::Result<Self> {
        let name = path.as_ptr().expose_provenance() as c_long;
        // SAFETY: the core reads the path up to its end.
        unsafe { call(abi::OPEN, [name, libc::O_RDWR.into(), 0, 0, 0]) }.map(Self)
    }

    /// A request about `value`, whose size is part of the request's number.
    pub(super) fn request<T>(&self, request: u32, value: &mut T) -> io::Result<()> {
        debug_assert_eq!((request >> 16 & 0x3fff) as usize, size_of::<T>());
        let arguments = [self.0, request as c_long, address(value), 0, 0];
        // SAFETY: the core reads and writes the number of bytes in the request, which is the size
        // of `value`; it uses no address in it, because no histogram is requested.
        unsafe { call(abi::IOCTL, arguments) }.map(drop)
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: no argument is an address, and the descriptor is this device's own.
        let _ = unsafe { call(abi::CLOSE, [self.0, 0, 0, 0, 0]) };
    }
}
