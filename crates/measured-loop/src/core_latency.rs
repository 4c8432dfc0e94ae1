//! The process that has a real-time core measure its own latency: bound to the core and pinned for one measurement, then
//! gone, and with it whatever the core holds for it. It runs no loop.

use crate::die_with;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, Write};
use wakepath_rt::core_latency::{CoreLatency, CoreLatencyOrder, measure};

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CoreLatencyReply {
    /// The core's figures.
    Measured(CoreLatency),
    /// Why there are none, in one line.
    Not(String),
}

/// Measures what the first line of `input` says, and answers with one line. It dies with `parent`.
///
/// # Errors
/// When the parent is gone, or says nothing that can be understood.
pub fn measure_core_latency(
    parent: i32,
    mut input: impl BufRead,
    mut output: impl Write,
) -> io::Result<()> {
    if !die_with(parent) {
        return Err(io::Error::other("the measuring process is gone"));
    }
    let mut line = String::new();
    input.read_line(&mut line)?;
    let order: CoreLatencyOrder = serde_json::from_str(&line)?;
    let reply = match measure(&order) {
        Ok(latency) => CoreLatencyReply::Measured(latency),
        Err(why) => CoreLatencyReply::Not(why.to_string()),
    };
    writeln!(output, "{}", serde_json::to_string(&reply)?)?;
    output.flush()
}
