//! The process in which a real-time core measures its own latency.
//!
//! It is bound to the core and pinned for one measurement; its end releases everything that the
//! core holds for it. It runs no loop.

use crate::die_with;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, Write};
use wakepath_rt::core_latency::{CoreLatency, CoreLatencyOrder, measure};

/// Result of the measurement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CoreLatencyReply {
    /// The core's figures.
    Measured(CoreLatency),
    /// Why there are none, in one line.
    Not(String),
}

/// Measures as the first line of `input` orders, and answers with one line. It dies with `parent`.
///
/// # Errors
/// If the parent is gone, or its order can't be parsed.
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
    let order: CoreLatencyOrder = serde_json::from_slice(line.as_bytes())?;
    let reply = match measure(&order) {
        Ok(latency) => CoreLatencyReply::Measured(latency),
        Err(why) => CoreLatencyReply::Not(why.to_string()),
    };
    writeln!(output, "{}", serde_json::to_string(&reply)?)?;
    output.flush()
}
