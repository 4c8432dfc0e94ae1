//! How the tasks are scheduled: the policies that can be analysed, by the names that the literature
//! gives them.

use std::fmt;
use std::str::FromStr;

/// A scheduling policy together with where tasks may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// P-FP: SCHED_FIFO, each thread pinned to a CPU.
    PartitionedFixedPriority,
    /// G-FP: SCHED_FIFO, threads free to move.
    GlobalFixedPriority,
    /// P-EDF: earliest deadline first, each task on a CPU.
    PartitionedEdf,
    /// G-EDF: earliest deadline first, tasks free to move. SCHED_DEADLINE on a whole root domain.
    GlobalEdf,
    /// C-EDF: G-EDF within clusters of this number of CPUs.
    ClusteredEdf(u16),
    /// SCHED_DEADLINE with its reservations and its admission, in root domains of this number of CPUs: 1 is
    /// partitioned, all of them (or more) is stock Linux.
    Deadline(u16),
}

impl Method {
    /// All that a set can name, as they are written.
    pub const NAMES: &'static str = "P-FP, G-FP, P-EDF, G-EDF, C-EDF or SCHED_DEADLINE";

    /// How many CPUs share one queue of `cpus` CPUs in all.
    pub fn cluster_size(self, cpus: u16) -> u16 {
        match self {
            Self::PartitionedFixedPriority | Self::PartitionedEdf => 1,
            Self::GlobalFixedPriority | Self::GlobalEdf => cpus.max(1),
            Self::ClusteredEdf(size) | Self::Deadline(size) => size.clamp(1, cpus.max(1)),
        }
    }

    /// Whether priorities decide, and not deadlines.
    pub fn by_priority(self) -> bool {
        matches!(
            self,
            Self::PartitionedFixedPriority | Self::GlobalFixedPriority
        )
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PartitionedFixedPriority => "P-FP",
            Self::GlobalFixedPriority => "G-FP",
            Self::PartitionedEdf => "P-EDF",
            Self::GlobalEdf => "G-EDF",
            Self::ClusteredEdf(_) => "C-EDF",
            Self::Deadline(_) => "SCHED_DEADLINE",
        })
    }
}

/// No such policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no policy of that name; give {}", Method::NAMES)]
pub struct NoSuchMethod;

impl FromStr for Method {
    type Err = NoSuchMethod;

    /// C-EDF gets clusters of 2, SCHED_DEADLINE one root domain of all CPUs, until the size is set.
    fn from_str(name: &str) -> Result<Self, NoSuchMethod> {
        Ok(match name {
            "P-FP" => Self::PartitionedFixedPriority,
            "G-FP" => Self::GlobalFixedPriority,
            "P-EDF" => Self::PartitionedEdf,
            "G-EDF" => Self::GlobalEdf,
            "C-EDF" => Self::ClusteredEdf(2),
            "SCHED_DEADLINE" => Self::Deadline(u16::MAX),
            _ => return Err(NoSuchMethod),
        })
    }
}
