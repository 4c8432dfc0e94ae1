//! A socket for the raw frames of one interface.
//!
//! It only knows the frames' type.

use crate::datagram::ETHERTYPE;
use crate::{EthercatError, interface, kernel};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, Protocol, RawProtocol, RecvFlags, SendFlags, SocketFlags, SocketType, recv,
    send, socket_with,
};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// Largest Ethernet frame, with room for a tag.
pub const FRAME: usize = 1522;

/// A raw socket, bound to an interface.
#[derive(Debug)]
pub struct Link {
    socket: OwnedFd,
    /// Name for messages: the interface, or "the simulated ring".
    name: String,
}

impl Link {
    /// Opens `interface`, which must have a link.
    ///
    /// # Errors
    /// One line: no such interface, no link, no right.
    pub fn open(name: &str) -> Result<Self, EthercatError> {
        let index = interface::index(name)?;
        if !interface::has_link(name) {
            return Err(EthercatError::LinkDown { name: name.into() });
        }
        let socket = Self::bound(index).map_err(|error| match error.raw_os_error() {
            Some(libc::EPERM | libc::EACCES) => EthercatError::NotAllowed { name: name.into() },
            _ => EthercatError::System {
                action: "open a raw socket",
                source: error,
            },
        })?;
        Ok(Self::new(socket, name))
    }

    /// A socket that sees the EtherCAT frames of an interface.
    pub(crate) fn bound(interface: u32) -> io::Result<OwnedFd> {
        let protocol = RawProtocol::new(u32::from(ETHERTYPE.to_be()));
        let socket = socket_with(
            AddressFamily::PACKET,
            SocketType::RAW,
            SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
            protocol.map(Protocol::from_raw),
        )?;
        kernel::bind(socket.as_fd(), interface)?;
        Ok(socket)
    }

    pub(crate) fn new(socket: OwnedFd, name: &str) -> Self {
        Self {
            socket,
            name: name.into(),
        }
    }

    /// Name for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reason why no frame can pass now, in a few words; `None` if the link is up or its state is
    /// unreadable.
    pub fn is_down(&self) -> Option<&'static str> {
        let flags = kernel::interface_flags(self.socket.as_fd()).ok()?;
        if flags & libc::IFF_UP == 0 {
            return Some("the interface was switched off");
        }
        (flags & libc::IFF_RUNNING == 0).then_some("nothing is at the other end of the cable")
    }

    /// Sends a frame.
    ///
    /// # Errors
    /// The kernel's.
    pub fn send(&self, frame: &[u8]) -> io::Result<usize> {
        loop {
            match send(&self.socket, frame, SendFlags::empty()) {
                Err(Errno::INTR) => {}
                answer => return Ok(answer?),
            }
        }
    }

    /// Receives a frame, if one is available.
    ///
    /// # Errors
    /// The kernel's, unless the link is only down.
    pub fn receive(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        match recv(&self.socket, into, RecvFlags::empty()) {
            Ok((length, _)) => Ok(Some(length)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            // Reported once after the link went down; the next send shows whether it is still down.
            Err(Errno::NETDOWN) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Sleeps until a frame has come, but at most this long.
    pub fn wait(&self, at_most: Duration) {
        let timeout = Timespec::try_from(at_most).ok();
        let mut one = [PollFd::new(&self.socket, PollFlags::IN)];
        // An interrupted wait is a look ahead of time.
        let _ = poll(&mut one, timeout.as_ref());
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
