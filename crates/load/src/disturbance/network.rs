//! UDP and TCP over loopback between threads of one worker. Loopback only: no packet leaves the
//! machine.

use crate::counters::Slot;
use crate::ended::{self, Ended};
use std::convert::Infallible;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread;
use wakepath_timeline::Disturbance;

pub(crate) const DISTURBS: &[Disturbance] = &[Disturbance::Network, Disturbance::SystemCalls];

/// Payload that fits an Ethernet frame, as a sensor's datagrams do.
const DATAGRAM_BYTES: usize = 1400;
const STREAM_BYTES: usize = 64 << 10;

/// Transfers until it is killed; counts bytes that arrived.
pub(crate) fn run(counter: &Slot) -> Result<Infallible, Ended> {
    let describe = Ended::system::<io::Error>("loopback");
    let (sender, receiver) = datagram_pair().map_err(describe)?;
    let (outgoing, incoming) = stream_pair().map_err(describe)?;
    thread::scope(|scope| {
        let own = || thread::Builder::new();
        let start = Ended::system::<io::Error>("a thread");
        own()
            .spawn_scoped(scope, || end("UDP sender", &send_datagrams(&sender)))
            .map_err(start)?;
        own()
            .spawn_scoped(scope, || {
                end("UDP receiver", &receive_datagrams(&receiver, counter))
            })
            .map_err(start)?;
        own()
            .spawn_scoped(scope, || end("TCP sender", &send_stream(&outgoing)))
            .map_err(start)?;
        end("TCP receiver", &receive_stream(&incoming, counter))
    })
}

/// Ends the process when its first thread fails. The others would continue, and half of the load
/// isn't the requested load.
fn end(thread: &str, error: &io::Error) -> ! {
    ended::complain(&format_args!("{thread}: {error}"));
    std::process::exit(1);
}

/// Two sockets connected to each other, so that nobody else's datagrams count.
fn datagram_pair() -> io::Result<(UdpSocket, UdpSocket)> {
    let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let (sender, receiver) = (UdpSocket::bind(loopback)?, UdpSocket::bind(loopback)?);
    sender.connect(receiver.local_addr()?)?;
    receiver.connect(sender.local_addr()?)?;
    Ok((sender, receiver))
}

/// Both ends of one connection.
fn stream_pair() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let outgoing = TcpStream::connect(listener.local_addr()?)?;
    let (incoming, peer) = listener.accept()?;
    if peer == outgoing.local_addr()? {
        Ok((outgoing, incoming))
    } else {
        Err(io::Error::other("another program connected"))
    }
}

fn send_datagrams(socket: &UdpSocket) -> io::Error {
    let datagram = [1; DATAGRAM_BYTES];
    loop {
        match socket.send(&datagram) {
            Ok(_) => {}
            // A full queue is a drop, which is a datagram's right.
            Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => thread::yield_now(),
            Err(error) => return error,
        }
    }
}

fn receive_datagrams(socket: &UdpSocket, counter: &Slot) -> io::Error {
    let mut buffer = [0; DATAGRAM_BYTES];
    loop {
        match socket.recv(&mut buffer) {
            Ok(count) => counter.add(count as u64),
            Err(error) => return error,
        }
    }
}

fn send_stream(mut stream: &TcpStream) -> io::Error {
    let block = vec![1; STREAM_BYTES];
    loop {
        if let Err(error) = stream.write_all(&block) {
            return error;
        }
    }
}

fn receive_stream(mut stream: &TcpStream, counter: &Slot) -> io::Error {
    let mut buffer = vec![0; STREAM_BYTES];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return io::ErrorKind::UnexpectedEof.into(),
            Ok(count) => counter.add(count as u64),
            Err(error) => return error,
        }
    }
}
