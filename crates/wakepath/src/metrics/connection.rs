//! One client: its request read, its answer written, both in bounded space and time. The caller
//! gives the answer.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// All that one client may take, from its connection to its end.
const PATIENCE: Duration = Duration::from_secs(3);
/// Prometheus sends some hundred bytes.
const LONGEST_REQUEST: usize = 8 * 1024;

/// A client's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Request {
    Metrics,
    /// Only whether they are there.
    Head,
    UnknownPath,
    /// Something else than reading.
    Invalid,
}

enum State {
    Asking(Vec<u8>),
    Answered {
        answer: Vec<u8>,
        sent: usize,
    },
    /// Waits for the client's end: closing at once would take the answer away from it.
    Closing,
}

/// The next step with a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Wait,
    /// It has asked: tell it.
    Answer(Request),
    Drop,
}

/// A client under way.
pub(super) struct Connection {
    pub(super) stream: TcpStream,
    since: Instant,
    state: State,
}

impl Connection {
    /// # Errors
    /// When the kernel refuses to make it non-blocking.
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream,
            since: Instant::now(),
            state: State::Asking(Vec::new()),
        })
    }

    /// Whether it waits for room to write, rather than for words.
    pub(super) fn writes(&self) -> bool {
        matches!(self.state, State::Answered { .. })
    }

    /// Does what can be done without waiting.
    pub(super) fn step(&mut self) -> Next {
        if self.since.elapsed() > PATIENCE {
            return Next::Drop;
        }
        match &mut self.state {
            State::Asking(request) => match read_some(&mut self.stream, request) {
                Ok(true) => asked(request).map_or(Next::Wait, Next::Answer),
                Ok(false) if request.len() < LONGEST_REQUEST => Next::Wait,
                _ => Next::Drop,
            },
            State::Answered { answer, sent } => match self.stream.write(&answer[*sent..]) {
                Ok(0) => Next::Drop,
                Ok(bytes) => {
                    *sent += bytes;
                    if *sent == answer.len() {
                        // One that is gone already needs no end.
                        let _ = self.stream.shutdown(std::net::Shutdown::Write);
                        self.state = State::Closing;
                    }
                    Next::Wait
                }
                Err(error) => or_wait(&error),
            },
            State::Closing => match self.stream.read(&mut [0; 1024]) {
                Ok(0) => Next::Drop,
                Ok(_) => Next::Wait,
                Err(error) => or_wait(&error),
            },
        }
    }

    /// Tells it this.
    pub(super) fn answer(&mut self, answer: Vec<u8>) {
        self.state = State::Answered { answer, sent: 0 };
    }
}

fn or_wait(error: &io::Error) -> Next {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::Interrupted => Next::Wait,
        _ => Next::Drop,
    }
}

/// Reads what is there, up to the longest request; whether there was anything.
fn read_some(stream: &mut impl Read, request: &mut Vec<u8>) -> io::Result<bool> {
    let mut bytes = [0; 1024];
    let room = (LONGEST_REQUEST - request.len().min(LONGEST_REQUEST)).min(bytes.len());
    if room == 0 {
        return Err(ErrorKind::InvalidData.into());
    }
    match stream.read(&mut bytes[..room]) {
        Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
        Ok(count) => {
            request.extend(&bytes[..count]);
            Ok(true)
        }
        Err(error) if or_wait(&error) == Next::Wait => Ok(false),
        Err(error) => Err(error),
    }
}

/// Meaning of a whole request; `None` while its end is missing.
fn asked(request: &[u8]) -> Option<Request> {
    let is_whole = request.windows(4).any(|bytes| bytes == b"\r\n\r\n")
        || request.windows(2).any(|bytes| bytes == b"\n\n");
    if !is_whole {
        return None;
    }
    let line = request.split(|&byte| byte == b'\n').next().unwrap_or(b"");
    let mut words = line.split(|&byte| byte == b' ' || byte == b'\r');
    let (method, target) = (words.next().unwrap_or(b""), words.next().unwrap_or(b""));
    let path = target.split(|&byte| byte == b'?').next().unwrap_or(b"");
    Some(match (method, path) {
        (b"GET", b"/metrics") => Request::Metrics,
        (b"HEAD", b"/metrics") => Request::Head,
        (b"GET" | b"HEAD", _) => Request::UnknownPath,
        _ => Request::Invalid,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_when_it_is_whole() {
        assert_eq!(asked(b"GET /metrics HTTP/1.1\r\nHost: x\r\n"), None);
        let of = |request: &str| asked(request.as_bytes()).unwrap();
        assert_eq!(
            of("GET /metrics?x=1 HTTP/1.1\r\nHost: x\r\n\r\n"),
            Request::Metrics
        );
        assert_eq!(of("GET /metrics\n\n"), Request::Metrics);
        assert_eq!(of("HEAD /metrics HTTP/1.1\r\n\r\n"), Request::Head);
        assert_eq!(of("GET / HTTP/1.1\r\n\r\n"), Request::UnknownPath);
        assert_eq!(
            of("GET /../etc/passwd HTTP/1.1\r\n\r\n"),
            Request::UnknownPath
        );
        assert_eq!(of("POST /metrics HTTP/1.1\r\n\r\n"), Request::Invalid);
        assert_eq!(of("\r\n\r\n"), Request::Invalid);
        assert_eq!(of("\u{0}\u{1}\r\n\r\n"), Request::Invalid);
    }

    #[test]
    fn a_request_without_an_end_is_not_read_for_ever() {
        let mut request = Vec::new();
        let mut endless = io::repeat(b'x');
        while read_some(&mut endless, &mut request).is_ok() {}
        assert_eq!(request.len(), LONGEST_REQUEST);
    }
}
