//! Lines over the socket between the measuring process and the supervisor. Its end-of-file is how
//! either side learns that the other has died.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Orders to the supervisor.
pub(crate) mod order {
    /// Brings the counters up to date and answers with a [`super::Answer`].
    pub(crate) const SAMPLE: &str = "sample";
    /// Ends all loads and answers with a [`super::Answer`].
    pub(crate) const STOP: &str = "stop";
}

/// The supervisor's report about one load.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct LoadReport {
    /// Reason why it ended, if it should not have ended.
    pub(crate) ending: Option<String>,
    /// The last exit status of one of its programs, such as "exit status 0".
    pub(crate) last_exit: Option<String>,
    /// First line that the program printed for its version.
    pub(crate) version: Option<String>,
    /// Figures that the program itself reported at its end.
    pub(crate) reported: Vec<crate::Reported>,
}

/// Answer to the plan (sequence 0) and to every order.
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Answer {
    /// The order's number.
    pub(crate) sequence: u64,
    /// One for each load, in the plan's order.
    pub(crate) loads: Vec<LoadReport>,
    /// Inherited settings that could not be reset.
    pub(crate) notes: Vec<String>,
    /// Why the loads could not be started.
    pub(crate) failure: Option<String>,
}

/// A stream socket read line by line.
pub(crate) struct Control {
    stream: UnixStream,
    pending: Vec<u8>,
}

impl Control {
    pub(crate) fn new(stream: UnixStream) -> Self {
        Self {
            stream,
            pending: Vec::new(),
        }
    }

    /// The socket, for polling.
    pub(crate) fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// Sends one line.
    pub(crate) fn send(&mut self, line: &str) -> io::Result<()> {
        self.stream.write_all(format!("{line}\n").as_bytes())
    }

    /// The next line; `UnexpectedEof` when the other side is gone, `TimedOut` after `patience`
    /// (`None`: forever).
    pub(crate) fn receive(&mut self, patience: Option<Duration>) -> io::Result<String> {
        let deadline = patience.map(|patience| Instant::now() + patience);
        loop {
            if let Some(end) = self.pending.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.pending.drain(..=end).collect();
                return Ok(String::from_utf8_lossy(&line[..end]).into_owned());
            }
            let left = match deadline {
                None => None,
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                    Some(left)
                }
            };
            self.stream.set_read_timeout(left)?;
            let mut buffer = [0; 4096];
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.pending.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_arrive_one_by_one_and_a_closed_socket_says_so() {
        let (a, b) = UnixStream::pair().unwrap();
        let (mut a, mut b) = (Control::new(a), Control::new(b));
        a.send("one").unwrap();
        a.send("two").unwrap();
        let patience = Some(Duration::from_secs(1));
        assert_eq!(b.receive(patience).unwrap(), "one");
        assert_eq!(b.receive(patience).unwrap(), "two");
        let late = b.receive(Some(Duration::from_millis(10))).unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
        drop(a);
        assert_eq!(
            b.receive(patience).unwrap_err().kind(),
            io::ErrorKind::UnexpectedEof
        );
    }
}
