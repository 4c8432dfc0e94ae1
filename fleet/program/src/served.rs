//! Serves pages over HTTP/1.1 to this machine: one request for each connection, only GET and HEAD.
//!
//! It doesn't interpret the pages. A library would need more code to bind here than this is, and
//! the small ones have no time limit for a request.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Longest head of a request.
const LONGEST: u64 = 16 << 10;

/// Time limit for a request's header.
const PATIENCE: Duration = Duration::from_secs(5);

/// Time limit for reading a page.
const READING: Duration = Duration::from_secs(60);

/// Readers at once.
const MOST: usize = 32;

/// A page, or the reason why there is none.
pub enum Page {
    /// It is there.
    Html(Vec<u8>),
    /// A feed of news.
    Atom(Vec<u8>),
    /// No such page.
    Unknown,
    /// There should be one, and this is wrong.
    Wrong(String),
}

/// Answers forever.
///
/// # Errors
/// The system's, if no connection can be accepted any more.
pub fn serve(listener: &TcpListener, page: impl Fn(&str) -> Page + Sync) -> io::Result<()> {
    let address = listener.local_addr()?;
    let readers = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                // Descriptors become free as readers leave.
                std::thread::sleep(Duration::from_millis(50));
                continue;
            };
            if readers.fetch_add(1, Ordering::Relaxed) >= MOST {
                readers.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let (page, readers) = (&page, &readers);
            scope.spawn(move || {
                // The client has left: nobody needs the error.
                let _ = answer(stream, address, page);
                readers.fetch_sub(1, Ordering::Relaxed);
            });
        }
    });
    Ok(())
}

/// A stream with an absolute time limit, however slowly data arrives.
struct Timed {
    stream: TcpStream,
    end: Instant,
}

impl Timed {
    fn left(&self) -> io::Result<Option<Duration>> {
        match self.end.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(io::ErrorKind::TimedOut.into()),
            left => Ok(Some(left)),
        }
    }
}

impl Read for Timed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(into)
    }
}

impl Write for Timed {
    fn write(&mut self, some: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(some)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

fn answer(stream: TcpStream, at: SocketAddr, page: impl Fn(&str) -> Page) -> io::Result<()> {
    let mut stream = Timed {
        stream,
        end: Instant::now() + PATIENCE,
    };
    let head = head(&mut stream)?;
    let mut kind = "text/html";
    let (status, body, with_body) = match Request::read(&head) {
        None => (400, b"no request of HTTP/1.1\n".to_vec(), true),
        // A foreign page whose domain name leads here must not read this.
        Some(asked) if at.ip().is_loopback() && !is_local(asked.host) => {
            (403, b"asked for by another name\n".to_vec(), true)
        }
        Some(asked) if !matches!(asked.method, "GET" | "HEAD") => {
            (405, b"GET and HEAD alone\n".to_vec(), true)
        }
        Some(asked) => {
            let (status, body) = match page(asked.path) {
                Page::Html(bytes) => (200, bytes),
                Page::Atom(bytes) => {
                    kind = "application/atom+xml";
                    (200, bytes)
                }
                Page::Unknown => (404, b"no such page\n".to_vec()),
                Page::Wrong(why) => (500, (why + "\n").into_bytes()),
            };
            (status, body, asked.method == "GET")
        }
    };
    if status != 200 {
        kind = "text/plain";
    }
    let head = format!(
        "HTTP/1.1 {status} {}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\
         X-Frame-Options: DENY\r\nCross-Origin-Resource-Policy: same-origin\r\n\r\n",
        match status {
            200 => "OK",
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            _ => "Internal Server Error",
        },
        body.len()
    );
    stream.end = Instant::now() + READING;
    stream.write_all(head.as_bytes())?;
    if with_body {
        stream.write_all(&body)?;
    }
    stream.flush()
}

fn head(stream: &mut Timed) -> io::Result<String> {
    let mut head = Vec::new();
    let mut some = [0; 2048];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream.read(&mut some)?;
        head.extend_from_slice(&some[..count]);
        if count == 0 || head.len() as u64 > LONGEST {
            return Err(io::Error::other("no head of a request"));
        }
    }
    String::from_utf8(head).map_err(io::Error::other)
}

/// A parsed request.
#[derive(Debug, PartialEq, Eq)]
struct Request<'a> {
    method: &'a str,
    path: &'a str,
    host: &'a str,
}

impl<'a> Request<'a> {
    fn read(head: &'a str) -> Option<Self> {
        let mut lines = head.split("\r\n");
        let mut words = lines.next()?.split(' ');
        let (method, path) = (words.next()?, words.next()?);
        if !matches!(words.next()?, "HTTP/1.1" | "HTTP/1.0") {
            return None;
        }
        let fields = lines.filter_map(|line| line.split_once(':'));
        let mut hosts = fields.filter(|(name, _)| name.eq_ignore_ascii_case("host"));
        Some(Self {
            method,
            path: path.split(['?', '#']).next()?,
            host: hosts.next().map_or("", |(_, host)| host.trim()),
        })
    }
}

/// Whether a host's name means this machine itself.
fn is_local(host: &str) -> bool {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split(':').next().unwrap_or(host),
    };
    let address = name.parse::<std::net::IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_and_what_is_none_is_not() {
        let head = "GET /board/a.html?x HTTP/1.1\r\nUser-Agent: x\r\nhOsT: localhost:8080\r\n\r\n";
        let found = Request::read(head).unwrap();
        let expected = Request {
            method: "GET",
            path: "/board/a.html",
            host: "localhost:8080",
        };
        assert_eq!(found, expected);
        for none in ["", "GET /\r\n\r\n", "GET / HTTP/3\r\n\r\n", "\r\n\r\n"] {
            assert_eq!(Request::read(none), None, "{none:?}");
        }
    }

    #[test]
    fn names_of_this_machine_are_told_from_others() {
        for local in [
            "localhost",
            "LocalHost:80",
            "127.0.0.1:8080",
            "127.9.9.9",
            "[::1]:80",
        ] {
            assert!(is_local(local), "{local}");
        }
        for other in [
            "",
            "evil.example",
            "localhost.evil.example:80",
            "10.0.0.1",
            "[fe80::1]",
        ] {
            assert!(!is_local(other), "{other}");
        }
    }
}
