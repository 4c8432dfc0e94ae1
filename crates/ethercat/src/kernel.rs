//! The few system calls without a safe wrapper. Nothing else in this crate is unsafe.
#![allow(unsafe_code)] // rustix lacks these or marks them unsafe; each is one call.

use crate::datagram::ETHERTYPE;
use rustix::io;
use rustix::thread::UnshareFlags;
use std::io::Error;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Puts the calling thread into namespaces of its own.
///
/// # Errors
/// `EPERM` without the right to.
pub(crate) fn new_namespaces(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: without UnshareFlags::FILES no file descriptor table is split.
    unsafe { rustix::thread::unshare_unsafe(flags) }
}

/// Has a packet socket see the EtherCAT frames of one interface.
pub(crate) fn bind(socket: BorrowedFd<'_>, interface: u32) -> Result<(), Error> {
    // SAFETY: all bytes zero are a valid address, which is filled in below.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = ETHERTYPE.to_be();
    address.sll_ifindex = interface as i32;
    // SAFETY: the address outlives the call and its length is its own.
    let answer = unsafe {
        libc::bind(
            socket.as_raw_fd(),
            std::ptr::from_ref(&address).cast(),
            size_of::<libc::sockaddr_ll>() as libc::socklen_t,
        )
    };
    match answer {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}

/// Gives the calling thread SCHED_FIFO. The system call itself: musl's wrapper refuses to make it.
pub(crate) fn set_fifo(priority: libc::c_int) -> Result<(), Error> {
    // SAFETY: the kernel reads one int, struct sched_param's only member, and keeps no pointer.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_sched_setscheduler,
            0,
            libc::SCHED_FIFO,
            std::ptr::from_ref(&priority),
        )
    };
    match answer {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}
