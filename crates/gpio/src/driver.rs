//! The measuring process's side: starts the driving process, sends its order, and receives the
//! results.

use crate::protocol::{Order, Reply};
use crate::record::PinStep;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use wakepath_rt::Effective;

/// Why a pin was not driven.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// The process that drives can't be started or spoken to.
    #[error("the process that drives the pin: {0}")]
    Process(#[from] io::Error),
    /// An unexpected message.
    #[error("the process that drives the pin sent an unknown message: {0}")]
    Words(#[from] serde_json::Error),
    /// It ended before its last message.
    #[error("the process that drives the pin ended early ({0})")]
    Ended(String),
    /// Its own message, one line.
    #[error("{0}")]
    Refused(String),
}

/// A pin that was driven.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Driven {
    /// Settings in effect for the loop.
    pub effective: Effective,
    /// One line for each setting that differed from the request.
    pub shortfalls: Vec<String>,
    /// As requested.
    pub steps: Vec<PinStep>,
}

/// Makes `command`, which must end in [`crate::run_as_child`], drive the waves of `order`. Calls
/// `told` before each wave.
///
/// # Errors
/// One line: the obstacle.
pub fn drive(
    mut command: Command,
    order: &Order,
    mut told: impl FnMut(u64),
) -> Result<Driven, DriveError> {
    let process = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut process = Ending(process);
    let mut input = process.0.stdin.take().expect("it was requested");
    writeln!(input, "{}", serde_json::to_string(order)?)?;
    let output = process.0.stdout.take().expect("it was requested");
    let mut lines = BufReader::new(output).lines();
    let mut hear = || -> Result<Option<Reply>, DriveError> {
        match lines.next() {
            None => Ok(None),
            Some(line) => Ok(Some(serde_json::from_slice(line?.as_bytes())?)),
        }
    };
    let (effective, shortfalls) = match hear()? {
        Some(Reply::Ready {
            effective,
            shortfalls,
        }) => (effective, shortfalls),
        Some(Reply::Failed { reason }) => return Err(DriveError::Refused(reason)),
        Some(Reply::Step(_)) | None => return Err(process.early()),
    };
    let mut steps = Vec::with_capacity(order.steps.len());
    for step in &order.steps {
        told(step.half_period_ns);
        match hear()? {
            Some(Reply::Step(step)) => steps.push(step),
            Some(Reply::Failed { reason }) => return Err(DriveError::Refused(reason)),
            Some(Reply::Ready { .. }) | None => return Err(process.early()),
        }
    }
    match hear()? {
        Some(Reply::Failed { reason }) => Err(DriveError::Refused(reason)),
        _ => Ok(Driven {
            effective,
            shortfalls,
            steps,
        }),
    }
}

/// A process that is killed when dropped.
struct Ending(Child);

impl Ending {
    fn early(&mut self) -> DriveError {
        let status = self.0.wait();
        DriveError::Ended(status.map_or_else(|error| error.to_string(), |it| it.to_string()))
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
