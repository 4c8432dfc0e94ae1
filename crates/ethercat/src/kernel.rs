//! The few system calls without a safe wrapper. Nothing else in this crate is unsafe.
#![allow(unsafe_code)] // rustix lacks these or marks them unsafe; each is one call.

use crate::datagram::ETHERTYPE;
use rustix::io;
use rustix::thread::UnshareFlags;
use std::io::Error;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Puts the calling thread into new namespaces.
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

/// Flags of the interface that a packet socket is bound to: `IFF_UP` and others. By the socket, not
/// by a name in /sys, because the interface can be in another network namespace than the caller.
pub(crate) fn interface_flags(socket: BorrowedFd<'_>) -> Result<libc::c_int, Error> {
    // SAFETY: all bytes zero are a valid address, which the kernel fills in.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    let mut length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the address outlives the call and its length is its own.
    let answer = unsafe {
        libc::getsockname(
            socket.as_raw_fd(),
            std::ptr::from_mut(&mut address).cast(),
            &raw mut length,
        )
    };
    if answer != 0 {
        return Err(Error::last_os_error());
    }
    // SAFETY: all bytes zero are a valid request.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    request.ifr_ifru.ifru_ifindex = address.sll_ifindex;
    for question in [libc::SIOCGIFNAME, libc::SIOCGIFFLAGS] {
        // SAFETY: the kernel reads and writes one ifreq, which outlives the call: first the name of that
        // index, then the flags of that name.
        let answer = unsafe { libc::ioctl(socket.as_raw_fd(), question as _, &raw mut request) };
        if answer != 0 {
            return Err(Error::last_os_error());
        }
    }
    // SAFETY: the kernel has just written this part of the union.
    Ok(unsafe { request.ifr_ifru.ifru_flags }.into())
}
