//! The thread that serves metrics: one, at ordinary priority, off the measured CPUs, with a limited
//! number of clients and of looks per second, however many clients there are. It does not affect
//! the measurement.

use super::address::{self, Refused};
use super::connection::{Connection, Next, Request};
use super::text::{CONTENT_TYPE, text};
use crate::view::Shared;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use wakepath_rt::affinity;

/// Clients at once. For one more, the one that has been there longest without an answer goes: who asks
/// at once is never kept waiting by those who don't.
const MOST_CLIENTS: usize = 64;
/// Between two looks at the clients: what bounds this thread's share of a CPU.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Between two looks at whether it shall end.
const IDLE: Duration = Duration::from_millis(200);
/// The text is made again after this time.
const FRESH: Duration = Duration::from_millis(100);

/// An address that is taken; what comes waits.
pub struct Listening {
    listener: TcpListener,
    address: SocketAddr,
}

impl Listening {
    /// Takes the address, before anything is measured.
    ///
    /// # Errors
    /// [`Refused`] in one line.
    pub fn at(given: &str) -> Result<Self, Refused> {
        let wanted = address::read(given)?;
        let not_served = |source| Refused::NotServed {
            given: given.to_owned(),
            address: wanted,
            source,
        };
        let listener = TcpListener::bind(wanted).map_err(not_served)?;
        listener.set_nonblocking(true).map_err(not_served)?;
        let address = listener.local_addr().map_err(not_served)?;
        Ok(Self { listener, address })
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://{}/metrics", self.address)
    }

    /// Serves from these CPUs until the value goes.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn serve(self, standing: Shared, cpus: &[u16]) -> std::io::Result<Server> {
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let cpus = cpus.to_vec();
        let thread = std::thread::Builder::new().name("metrics".into());
        let thread = thread.spawn(move || {
            // Without another CPU, ordinary priority has to do.
            let _ = affinity::pin(&cpus);
            Serving {
                listener: self.listener,
                standing,
                clients: Vec::new(),
                text: None,
            }
            .until(&told);
        })?;
        Ok(Server {
            stop,
            thread: Some(thread),
        })
    }
}

/// Metrics that are being served; they end with the value.
pub struct Server {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // One that panicked has printed it.
            let _ = thread.join();
        }
    }
}

struct Serving {
    listener: TcpListener,
    standing: Shared,
    clients: Vec<Connection>,
    text: Option<(Instant, Vec<u8>)>,
}

impl Serving {
    fn until(mut self, told: &AtomicBool) {
        while !told.load(Ordering::Acquire) {
            self.wait();
            self.accept();
            self.look();
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Until a client connects, sends or reads.
    fn wait(&self) {
        let mut waited = Vec::with_capacity(self.clients.len() + 1);
        waited.push(PollFd::new(&self.listener, PollFlags::IN));
        for client in &self.clients {
            let flags = if client.writes() {
                PollFlags::OUT
            } else {
                PollFlags::IN
            };
            waited.push(PollFd::new(&client.stream, flags));
        }
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: IDLE.subsec_nanos().into(),
        };
        // What went wrong shows at the next look, which comes no sooner for it.
        let _ = poll(&mut waited, Some(&timeout));
    }

    fn accept(&mut self) {
        // Bounded, as is all that is done between two looks.
        for _ in 0..MOST_CLIENTS {
            let Ok((stream, _)) = self.listener.accept() else {
                return;
            };
            if self.clients.len() == MOST_CLIENTS {
                // They are in the order in which they came.
                let longest = self.clients.iter().position(|client| !client.writes());
                self.clients.remove(longest.unwrap_or(0));
            }
            self.clients.extend(Connection::new(stream));
        }
    }

    fn look(&mut self) {
        let mut clients = std::mem::take(&mut self.clients);
        clients.retain_mut(|client| match client.step() {
            Next::Wait => true,
            Next::Drop => false,
            Next::Answer(asked) => {
                client.answer(self.answer(asked));
                client.step() != Next::Drop
            }
        });
        self.clients = clients;
    }

    fn answer(&mut self, asked: Request) -> Vec<u8> {
        let plain = "text/plain; charset=utf-8";
        match asked {
            Request::Metrics => {
                let text = self.fresh();
                response("200 OK", CONTENT_TYPE, text.len(), text)
            }
            Request::Head => {
                let length = self.fresh().len();
                response("200 OK", CONTENT_TYPE, length, b"")
            }
            Request::UnknownPath => {
                let body = b"wakepath: the metrics are at /metrics\n";
                response("404 Not Found", plain, body.len(), body)
            }
            Request::Invalid => {
                let body = b"wakepath: GET /metrics is all there is\n";
                response("405 Method Not Allowed", plain, body.len(), body)
            }
        }
    }

    fn fresh(&mut self) -> &[u8] {
        let is_old = |(made, _): &(Instant, Vec<u8>)| made.elapsed() > FRESH;
        if self.text.as_ref().is_none_or(is_old) {
            let now = self.standing.lock().clone();
            self.text = Some((Instant::now(), text(&now).into_bytes()));
        }
        self.text.as_ref().map_or(&[], |(_, text)| text)
    }
}

fn response(status: &str, kind: &str, length: usize, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{Lines, Standing, Time};
    use std::io::{Read, Write};
    use std::net::TcpStream;

    fn served() -> (Server, SocketAddr) {
        let listening = Listening::at("0").unwrap();
        let address = listening.address;
        let standing = Shared::new(Standing::new(Lines::Policies, Time::Open));
        let cpus = affinity::current().unwrap();
        (listening.serve(standing, &cpus).unwrap(), address)
    }

    fn asked(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn what_is_asked_for_is_answered_and_nothing_else() {
        let (_server, address) = served();
        let answer = asked(address, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.ends_with("# EOF\n"), "{answer}");
        let answer = asked(address, "GET / HTTP/1.1\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
        let answer = asked(address, "DELETE /metrics HTTP/1.1\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 405 "), "{answer}");
    }

    #[test]
    fn clients_that_say_nothing_are_bounded_and_keep_nobody_waiting() {
        let (_server, address) = served();
        let silent: Vec<_> = (0..3 * MOST_CLIENTS)
            .map(|_| TcpStream::connect(address).unwrap())
            .collect();
        let endless = TcpStream::connect(address).unwrap();
        (&endless).write_all(&[b'x'; 4096]).unwrap();
        // Long before their time is up.
        let began = Instant::now();
        for _ in 0..10 {
            let answer = asked(address, "GET /metrics HTTP/1.1\r\n\r\n");
            assert!(answer.ends_with("# EOF\n"), "{answer}");
        }
        assert!(
            began.elapsed() < Duration::from_secs(2),
            "{:?}",
            began.elapsed()
        );
        drop((silent, endless));
    }

    #[test]
    fn an_address_that_is_taken_is_refused_in_one_line() {
        let (_server, address) = served();
        let refused = Listening::at(&address.port().to_string()).err().unwrap();
        let said = refused.to_string();
        assert!(said.contains("something else serves there"), "{said}");
        assert!(!said.contains('\n'), "{said}");
    }
}
