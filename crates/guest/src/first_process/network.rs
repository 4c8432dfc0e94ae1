//! The guest's only network: its loopback interface, for loads that use one.

use rustix::net::{self, AddressFamily, SendFlags, SocketType, netlink};

/// Sets the loopback interface up, for loads that use the network (rtnetlink(7), RTM_NEWLINK).
pub(super) fn bring_loopback_up() -> std::io::Result<()> {
    const NEW_LINK: u16 = 16;
    const REQUEST_AND_ACKNOWLEDGE: u16 = 1 | 4;
    const UP: u32 = 1;
    const LOOPBACK_INDEX: i32 = 1;
    let mut message = Vec::new();
    message.extend(32_u32.to_ne_bytes()); // the whole length
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST_AND_ACKNOWLEDGE.to_ne_bytes());
    message.extend([0; 8]); // sequence, sender
    message.extend([0; 4]); // family, padding, kind of device
    message.extend(LOOPBACK_INDEX.to_ne_bytes());
    message.extend(UP.to_ne_bytes()); // flags
    message.extend(UP.to_ne_bytes()); // which of them change
    let socket = net::socket(
        AddressFamily::NETLINK,
        SocketType::RAW,
        None, // protocol 0: NETLINK_ROUTE
    )?;
    let kernel = netlink::SocketAddrNetlink::new(0, 0);
    net::sendto(&socket, &message, SendFlags::empty(), &kernel)?;
    let mut answer = [0; 64];
    let (length, _) = net::recv(&socket, &mut answer, net::RecvFlags::empty())?;
    // A head of 16 bytes, then the error as a negative number.
    let error = answer.get(16..20).filter(|_| length >= 20);
    match error.and_then(|bytes| bytes.try_into().ok()) {
        Some(bytes) => match i32::from_ne_bytes(bytes) {
            0 => Ok(()),
            error => Err(std::io::Error::from_raw_os_error(-error)),
        },
        None => Err(std::io::ErrorKind::UnexpectedEof.into()),
    }
}
