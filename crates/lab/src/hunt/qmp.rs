//! The emulator's control connection (QMP): one command at a time.

use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Longest time of an answer.
const ANSWER: Duration = Duration::from_secs(60);

/// A connection.
pub(super) struct Qmp {
    answers: BufReader<UnixStream>,
    commands: UnixStream,
}

impl Qmp {
    /// Opens it: the emulator greets and then takes commands.
    pub fn open(line: UnixStream) -> io::Result<Self> {
        line.set_read_timeout(Some(ANSWER))?;
        let mut qmp = Self {
            answers: BufReader::new(line.try_clone()?),
            commands: line,
        };
        qmp.execute("qmp_capabilities", &json!({}))?;
        Ok(qmp)
    }

    /// Executes a command and returns its answer.
    pub fn execute(&mut self, command: &str, arguments: &Value) -> io::Result<Value> {
        let order = json!({ "execute": command, "arguments": arguments });
        self.commands.write_all(format!("{order}\n").as_bytes())?;
        loop {
            let mut line = String::new();
            if self.answers.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let answer: Value = serde_json::from_str(&line)?;
            if let Some(error) = answer.get("error") {
                let said = error["desc"].as_str().unwrap_or("no reason");
                return Err(io::Error::other(format!("{command}: {said}")));
            }
            // Events and the greeting come in between.
            if let Some(answer) = answer.get("return") {
                return Ok(answer.clone());
            }
        }
    }
}
