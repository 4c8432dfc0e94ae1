//! Creates a pair of virtual Ethernet devices by messages to the kernel (rtnetlink(7)).
//!
//! It works in the network namespace of the calling thread.

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with,
};
use std::io;
use std::os::fd::OwnedFd;

const NEW_LINK: u16 = 16;
const GET_LINK: u16 = 18;
const ERROR: u16 = 2;
const REQUEST: u16 = 1;
const ACKNOWLEDGE: u16 = 4;
const CREATE: u16 = 0x400;
const EXCLUSIVE: u16 = 0x200;

const NAME: u16 = 3;
const INFORMATION: u16 = 18;
const KIND: u16 = 1;
const DATA: u16 = 2;
const PEER: u16 = 1;

const UP: u32 = 1;

/// Makes the pair and brings it up; the kernel's numbers of both.
pub(crate) fn pair(one: &str, other: &str) -> io::Result<[u32; 2]> {
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        // NETLINK_ROUTE is protocol 0.
        None,
    )?;
    let mut peer = interface(0, 0, 0).to_vec();
    attribute(&mut peer, NAME, &text(other));
    let (mut data, mut information, mut make) =
        (Vec::new(), Vec::new(), interface(0, 0, 0).to_vec());
    attribute(&mut data, PEER, &peer);
    attribute(&mut information, KIND, &text("veth"));
    attribute(&mut information, DATA, &data);
    attribute(&mut make, NAME, &text(one));
    attribute(&mut make, INFORMATION, &information);
    ask(&socket, NEW_LINK, CREATE | EXCLUSIVE, &make)?;

    let mut numbers = [0; 2];
    for (number, name) in numbers.iter_mut().zip([one, other]) {
        let mut wanted = interface(0, 0, 0).to_vec();
        attribute(&mut wanted, NAME, &text(name));
        *number = ask(&socket, GET_LINK, 0, &wanted)?;
        ask(&socket, NEW_LINK, 0, &interface(*number, UP, UP))?;
    }
    Ok(numbers)
}

/// `struct ifinfomsg`.
fn interface(number: u32, flags: u32, changed: u32) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[4..8].copy_from_slice(&number.to_ne_bytes());
    bytes[8..12].copy_from_slice(&flags.to_ne_bytes());
    bytes[12..16].copy_from_slice(&changed.to_ne_bytes());
    bytes
}

/// `struct rtattr` and its content, padded to a multiple of four.
fn attribute(bytes: &mut Vec<u8>, kind: u16, content: &[u8]) {
    bytes.extend((content.len() as u16 + 4).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(content);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

fn text(text: &str) -> Vec<u8> {
    [text.as_bytes(), &[0]].concat()
}

/// Sends one message and reads the kernel's answer: the number of the interface that it describes,
/// or 0 for a plain acknowledgement.
fn ask(socket: &OwnedFd, kind: u16, flags: u16, body: &[u8]) -> io::Result<u32> {
    let mut message = (body.len() as u32 + 16).to_ne_bytes().to_vec();
    message.extend(kind.to_ne_bytes());
    let acknowledge = if kind == GET_LINK { 0 } else { ACKNOWLEDGE };
    message.extend((REQUEST | acknowledge | flags).to_ne_bytes());
    message.extend([0; 8]);
    message.extend(body);
    send(socket, &message, SendFlags::empty())?;

    let mut answer = vec![0; 16 << 10];
    let (length, _) = recv(socket, &mut answer[..], RecvFlags::empty())?;
    let number = |at: usize| {
        let bytes = answer.get(at..at + 4).filter(|_| at + 4 <= length);
        bytes.and_then(|bytes| Some(u32::from_ne_bytes(bytes.try_into().ok()?)))
    };
    let kind = number(4).map(|word| word.to_ne_bytes());
    let kind = kind.map(|bytes| u16::from_ne_bytes([bytes[0], bytes[1]]));
    let short = || io::Error::from(io::ErrorKind::UnexpectedEof);
    match kind {
        Some(ERROR) => match number(16).ok_or_else(short)?.cast_signed() {
            0 => Ok(0),
            error => Err(io::Error::from_raw_os_error(-error)),
        },
        // struct ifinfomsg's index.
        Some(NEW_LINK) => number(20).ok_or_else(short),
        _ => Err(short()),
    }
}
