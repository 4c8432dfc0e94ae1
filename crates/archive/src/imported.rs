//! The mark of a run that another tool measured, or that was watched from outside.
//!
//! Names the tool, the files and the missing data; has histograms if the tool kept no samples. It
//! reads no tool's format itself.

use serde::{Deserialize, Serialize};

use crate::manifest::FileRecord;
use wakepath_timeline::{Lack, Measured};

/// Origin of an imported run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Imported {
    /// The format of the files, such as `cyclictest-json`.
    pub form: String,
    /// Meaning of its numbers.
    pub measures: String,
    /// Which kind of values they are.
    #[serde(default)]
    pub measured: Measured,
    /// Data that wakepath's own runs have and these files lack, a sentence each.
    pub lacks: Vec<Lack>,
    /// The files, as they were when they were read. They are not part of the archive.
    pub sources: Vec<FileRecord>,
    /// Threads with only a histogram, without samples.
    #[serde(default)]
    pub histograms: Vec<ThreadHistogram>,
}

/// The histogram of one thread in one segment. Values are nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ThreadHistogram {
    /// Number of the segment.
    pub segment: u32,
    /// Number of the thread.
    pub thread: u16,
    /// Lowest and highest value of each bin, and its count; ascending.
    pub bins: Vec<(i64, i64, u64)>,
    /// Values beyond the last bin, whose size is lost.
    pub overflowed: u64,
    /// Lower limit of every overflowed value; unknown if the tool doesn't report its range.
    pub range_end_ns: Option<i64>,
    /// Smallest value, if the tool reports it.
    pub min_ns: Option<i64>,
    /// Largest value, overflowed ones included, if the tool reports it.
    pub max_ns: Option<i64>,
    /// Mean, as reported by the tool.
    pub mean_ns: Option<i64>,
    /// Observation time of the thread, if the tool reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_ns: Option<u64>,
}

impl Imported {
    /// The form of a run that wakepath itself watched from outside.
    pub const WATCHED: &str = "watch";

    /// Whether wakepath watched it, instead of another tool measuring it: its trace is there.
    pub fn is_watched(&self) -> bool {
        self.form == Self::WATCHED
    }

    /// Whether the end of a cycle's work is known.
    pub fn has_work(&self) -> bool {
        let lacks = |of: Lack| self.lacks.contains(&of);
        !lacks(Lack::ExecutionTimes) && !lacks(Lack::EndOfWork)
    }

    /// Whether its cycles were derived from the events of its trace, the kernel's or ROS 2's: then only the traced
    /// segment was measured.
    pub fn is_made_of_events(&self) -> bool {
        self.is_watched() || ["ftrace", "trace-cmd", "perf", "lttng", "ros2"].contains(&&*self.form)
    }

    /// The histogram of a thread that has no samples.
    pub fn histogram(&self, segment: u32, thread: u16) -> Option<&ThreadHistogram> {
        let mut all = self.histograms.iter();
        all.find(|known| (known.segment, known.thread) == (segment, thread))
    }
}

impl ThreadHistogram {
    /// All values, overflowed ones included.
    pub fn count(&self) -> u64 {
        let within = self
            .bins
            .iter()
            .fold(0_u64, |sum, bin| sum.saturating_add(bin.2));
        within.saturating_add(self.overflowed)
    }
}
