//! Start of a run: the program, its command line, its settings and its plan.

use serde::{Deserialize, Serialize};

use crate::invocation::Invocation;
use crate::quick::QuickCheck;
use crate::virtual_time::VirtualTime;

/// Start of a run: its tool, scenario, clock and plan.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RunStarted {
    /// Name of the run, unique among archives; see [`run_id`].
    pub run_id: String,
    /// The program that measures.
    pub tool: Tool,
    /// Its command line, as separate words.
    pub command: Vec<String>,
    /// The same in parts; none for a run that no command repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invocation: Option<Invocation>,
    /// First process of a watched program that wakepath started; none of one that ran already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_process: Option<u32>,
    /// Terms of a quick check; none for any other run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quick: Option<QuickCheck>,
    /// Wall-clock start, RFC 3339 in UTC.
    pub started: String,
    /// The measured scenario.
    pub scenario: ScenarioText,
    /// Clock of all times, `CLOCK_MONOTONIC`, and the kernel's clock source.
    pub clock_source: String,
    /// Notes for the reader, known from the start, one line each.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Segments the run means to execute, in order.
    #[serde(default)]
    pub planned: Vec<PlannedSegment>,
    /// The virtual time that the run is in; none for time that passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub virtual_time: Option<VirtualTime>,
}

/// The name of a run: its start with everything but digits and letters taken out, and four random
/// bytes so that two machines that start in the same second differ.
pub fn run_id(started: &str, random: [u8; 4]) -> String {
    let start: String = started
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    format!("{start}-{:08x}", u32::from_be_bytes(random))
}

/// The program that wrote a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Commit it was built from, if known.
    #[serde(default)]
    pub commit: Option<String>,
}

/// A scenario as it was resolved for the run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ScenarioText {
    /// Its name.
    pub name: String,
    /// The whole of it as TOML, defaults filled in.
    pub toml: String,
}

/// A segment that the run means to execute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedSegment {
    /// Number of the segment.
    pub segment: u32,
    /// Phase it belongs to.
    pub phase: String,
    /// Repetition of the phase, from 0.
    pub repetition: u32,
    /// Condition it measures, as a person reads it.
    pub condition: String,
    /// Whether kernel events are recorded in it. Such a segment shows why cycles are late; the
    /// others give the condition's verdict.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub traced: bool,
}
