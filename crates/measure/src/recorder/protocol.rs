//! Messages between the measuring process and the recorder, one line of JSON each.

use super::{LiveFigures, LiveThread};
use serde::{Deserialize, Serialize};
use wakepath_archive::{Ending, Event};

/// From the measuring process.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Append an event to the log.
    Append(Box<Event>),
    /// Take the samples of a segment whose start has been appended.
    Take(SegmentRings),
    /// The loop has ended: take what is left, write it, and answer [`Reply::Taken`].
    TakeRest,
    /// Append the end and leave.
    End(Ending),
}

/// Which rings hold a segment's samples: ring `n` holds thread `n`'s.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentRings {
    /// Number of the segment.
    pub segment: u32,
    /// Its threads, as the live figures need them.
    pub threads: Vec<LiveThread>,
}

/// From the recorder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// The log is there and locked: measuring may begin.
    Ready,
    /// How the segment under way is doing.
    Live(LiveFigures),
    /// All samples of the segment are in the log: how many of each thread.
    Taken {
        /// Samples appended, by thread.
        recorded: Vec<u64>,
        /// Remarks on the segment for the run.
        #[serde(default)]
        remarks: Vec<String>,
    },
    /// Nothing more can be written (a full disk, say). The rings are still emptied, and the
    /// samples counted as not recorded.
    Failed {
        /// One line: the fault, its place, and the fix.
        error: String,
    },
    /// The end is on disk.
    Ended,
}
