//! The record of a pin that was driven and read back: an additional file of a run, written
//! atomically.
//!
//! Nothing is judged here.

use serde::{Deserialize, Serialize};

/// Name of the file in the run directory.
pub const PIN_NAME: &str = "pin.json";

/// A pin driven by a loop, and the edges on the line wired to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinRecord {
    /// The line that was driven, as `gpiochip0:17`.
    pub drive: String,
    /// The line on which edges were read.
    pub read: String,
    /// The loop's policy, read back.
    pub policy: String,
    /// CPUs on which the loop ran, read back.
    pub cpus: Vec<u16>,
    /// One line for each setting that differed from the request, such as memory that was not
    /// locked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shortfalls: Vec<String>,
    /// Start, RFC 3339 in UTC.
    pub started: String,
    /// Release of the kernel.
    pub kernel: String,
    /// Version of wakepath.
    pub wakepath: String,
    /// From the longest half period to the shortest.
    pub steps: Vec<PinStep>,
}

/// A requested square wave, and its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinStep {
    /// From one edge to the next, in nanoseconds.
    pub half_period_ns: u64,
    /// Edges that were due.
    pub due: u64,
    /// When the first was due, in nanoseconds on `CLOCK_MONOTONIC`.
    pub start_ns: u64,
    /// The line's changes, in order; a due time at which the loop did not run has none.
    pub driven: Vec<DrivenEdge>,
    /// The kernel's number of the last edge before the first of these.
    pub before: u32,
    /// The edges read, in order.
    pub edges: Vec<Edge>,
}

/// A change of the line, as recorded by the loop that made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, u64, u64)", into = "(u64, u64, u64)")]
pub struct DrivenEdge {
    /// Number of its due time, from 0.
    pub cycle: u64,
    /// Before the system call, in nanoseconds on `CLOCK_MONOTONIC`.
    pub begun_ns: u64,
    /// After it.
    pub ended_ns: u64,
}

impl From<(u64, u64, u64)> for DrivenEdge {
    fn from((cycle, begun_ns, ended_ns): (u64, u64, u64)) -> Self {
        Self {
            cycle,
            begun_ns,
            ended_ns,
        }
    }
}

impl From<DrivenEdge> for (u64, u64, u64) {
    fn from(edge: DrivenEdge) -> Self {
        (edge.cycle, edge.begun_ns, edge.ended_ns)
    }
}

/// An edge read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, u32)", into = "(u64, u32)")]
pub struct Edge {
    /// When the kernel's interrupt handler saw it, in nanoseconds on `CLOCK_MONOTONIC`.
    pub at_ns: u64,
    /// The kernel's number of it. A gap is edges that nobody took in time.
    pub number: u32,
}

impl From<(u64, u32)> for Edge {
    fn from((at_ns, number): (u64, u32)) -> Self {
        Self { at_ns, number }
    }
}

impl From<Edge> for (u64, u32) {
    fn from(edge: Edge) -> Self {
        (edge.at_ns, edge.number)
    }
}

/// Most edges of a wave.
pub const MOST_EDGES: u64 = 100_000;
/// The longest half period, in nanoseconds.
const LONGEST_NS: u64 = 1_000_000_000;

impl PinStep {
    /// When an edge was due, in nanoseconds on `CLOCK_MONOTONIC`.
    pub fn due_ns(&self, cycle: u64) -> u64 {
        self.start_ns + cycle * self.half_period_ns
    }

    /// Whether a loop could have produced it: due times that fit the clock, changes in order.
    pub fn is_sound(&self) -> bool {
        let numbers = (1..=MOST_EDGES).contains(&self.due)
            && (1..=LONGEST_NS).contains(&self.half_period_ns)
            && self.start_ns < u64::MAX / 2;
        let changes = &self.driven;
        let in_order = changes
            .is_sorted_by(|one, next| one.cycle < next.cycle && one.ended_ns <= next.begun_ns);
        let each = changes
            .iter()
            .all(|one| one.cycle < self.due && one.begun_ns <= one.ended_ns);
        let in_turn = self.edges.is_sorted_by_key(|edge| edge.at_ns);
        numbers && in_order && each && in_turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_short_in_its_file_and_is_read_as_it_was() {
        let step = PinStep {
            half_period_ns: 1_000,
            due: 2,
            start_ns: 5_000,
            driven: vec![DrivenEdge {
                cycle: 0,
                begun_ns: 5_100,
                ended_ns: 5_200,
            }],
            before: 4,
            edges: vec![Edge {
                at_ns: 5_150,
                number: 5,
            }],
        };
        let text = serde_json::to_string(&step).unwrap();
        assert!(
            text.contains("[[0,5100,5200]]") && text.contains("[[5150,5]]"),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<PinStep>(&text).unwrap(), step);
        assert!(step.is_sound());
    }

    #[test]
    fn a_record_that_no_loop_could_have_made_is_known() {
        let change = |cycle, begun_ns| DrivenEdge {
            cycle,
            begun_ns,
            ended_ns: begun_ns + 10,
        };
        let sound = PinStep {
            half_period_ns: 1_000,
            due: 3,
            start_ns: 5_000,
            driven: vec![change(0, 5_000), change(2, 7_000)],
            before: 0,
            edges: Vec::new(),
        };
        let mut all = vec![sound.clone(); 5];
        all[0].due = u64::MAX;
        all[1].start_ns = u64::MAX - 1;
        all[2].driven.swap(0, 1);
        all[3].driven[1].cycle = 3;
        all[4].edges = vec![Edge::from((2, 1)), Edge::from((1, 2))];
        assert!(sound.is_sound() && !all.iter().any(PinStep::is_sound));
    }
}
