//! The driving process: requests the lines, drives one wave after the other, and reports each.
//!
//! It gets one order, and ends when its input closes.

use crate::protocol::{Order, Reply};
use crate::steps::{Pair, StepError};
use std::io::{BufRead, Write};
use std::thread::Builder;
use wakepath_rt::{Prepared, guard};

type Failure = Box<dyn std::error::Error>;

/// Drives as the first line of `input` orders, and answers on `output`. The caller has to ensure
/// that the process dies with its parent.
///
/// # Errors
/// If there is no order, or nobody reads the answers.
pub fn run_as_child(mut input: impl BufRead, mut output: impl Write) -> Result<(), Failure> {
    let mut line = String::new();
    input.read_line(&mut line)?;
    let order: Order = serde_json::from_slice(line.as_bytes())?;
    let mut say = |reply: &Reply| -> Result<(), Failure> {
        writeln!(output, "{}", serde_json::to_string(reply)?)?;
        Ok(output.flush()?)
    };
    let failed = |error: StepError| Reply::Failed {
        reason: error.to_string(),
    };
    let (mut pair, prepared) = match ready(&order) {
        Ok(ready) => ready,
        Err(error) => return say(&failed(error)),
    };
    say(&Reply::Ready {
        effective: prepared.effective,
        shortfalls: prepared
            .shortfalls
            .iter()
            .map(ToString::to_string)
            .collect(),
    })?;
    for &step in &order.steps {
        match pair.step(&order, step) {
            Ok(step) => say(&Reply::Step(step))?,
            Err(error) => return say(&failed(error)),
        }
    }
    match pair.end() {
        Ok(()) => Ok(()),
        Err(error) => say(&failed(error.into())),
    }
}

/// Both lines, and the settings of the loop's thread, tested by a separate thread.
fn ready(order: &Order) -> Result<(Pair, Prepared), StepError> {
    guard::set(order.guard_us, None)?;
    let pair = Pair::request(order)?;
    let tried = std::thread::scope(|scope| {
        let tried = Builder::new().spawn_scoped(scope, || order.preparation.apply());
        let tried = tried.map_err(StepError::NotStarted)?;
        tried.join().map_err(|_| StepError::Panicked)
    });
    Ok((pair, tried??))
}
