//! The HTTP server on loopback that wget reads from.
//!
//! It gives one endless answer to any request. It is no load on its own.

use crate::counters::Slot;
use crate::ended::Ended;
use std::convert::Infallible;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::Ordering;
use std::thread;

/// Promised length: more than any phase can read.
const LENGTH: u64 = 1 << 50;

/// Serves until it is killed; publishes its port in the slot.
pub(crate) fn run(slot: &Slot) -> Result<Infallible, Ended> {
    let describe = Ended::system::<io::Error>("HTTP server on loopback");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(describe)?;
    let port = listener.local_addr().map_err(describe)?.port();
    slot.port.store(u64::from(port), Ordering::Release);
    loop {
        let (connection, _) = listener.accept().map_err(describe)?;
        // A client that disconnects only ends its own connection.
        thread::Builder::new()
            .spawn(move || drop(answer(connection)))
            .map_err(describe)?;
    }
}

fn answer(mut connection: TcpStream) -> io::Result<()> {
    let mut request = Vec::new();
    let mut buffer = [0; 1024];
    while !request.windows(4).any(|window| window == b"\r\n\r\n") && request.len() < 16_384 {
        match connection.read(&mut buffer)? {
            0 => return Ok(()),
            count => request.extend_from_slice(&buffer[..count]),
        }
    }
    let header = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: \
         {LENGTH}\r\nConnection: close\r\n\r\n"
    );
    connection.write_all(header.as_bytes())?;
    let block = vec![b'w'; 64 << 10];
    loop {
        connection.write_all(&block)?;
    }
}
