//! Cautions for the reader of a verdict. A caution never changes an outcome.

use crate::FactChange;
use crate::wording::{count, counted, fraction};
use serde::Serialize;
use std::fmt;
use wakepath_timeline::duration::three_digits;

/// Something that weakens a verdict without overturning it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Caution {
    /// A fact of the machine changed during the run.
    MachineChanged {
        /// Which.
        change: FactChange,
    },
    /// Misses came together, so that they are fewer events than misses.
    MissesCluster {
        /// Due times missed.
        missed: u64,
        /// Groups in which they came.
        clusters: u64,
        /// Misses in the largest group.
        largest: u64,
    },
    /// Latencies in the second half of the run differ from those in the first.
    Drift {
        /// Kolmogorov–Smirnov distance, 0 to 1.
        distance: f64,
        /// Its p-value if samples were independent.
        p_value: f64,
        /// Median of the first half in nanoseconds.
        first_median_ns: i64,
        /// Median of the second half in nanoseconds.
        second_median_ns: i64,
    },
    /// Due times at the end of a window were never served; their latency is only known to be at
    /// least what it counts with.
    UnservedAtEnd {
        /// How many.
        due_times: u64,
    },
    /// The loop left its real-time core for Linux, no more often than is tolerated.
    ModeSwitches {
        /// Cycles in which it did.
        switched: u64,
        /// Cycles in the judged windows.
        executed: u64,
    },
    /// The loop's work is of a kind that gives no bound on its time, whatever was measured.
    NotRealTime {
        /// The reason.
        why: String,
    },
}

impl Caution {
    /// Whether it speaks of missed due times.
    pub(crate) fn is_of_misses(&self) -> bool {
        matches!(self, Self::MissesCluster { .. })
    }
}

impl fmt::Display for Caution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MachineChanged { change } => match change {
                FactChange::ClockSource { from, to } => {
                    write!(
                        f,
                        "the clock source changed from {from} to {to} during the run"
                    )
                }
                FactChange::Governor { from, to } => {
                    write!(
                        f,
                        "the frequency governor changed from {from} to {to} during the run"
                    )
                }
                FactChange::Throttled { detail } => {
                    write!(f, "the CPU was throttled during the run: {detail}")
                }
                FactChange::Steal { stolen_ns } => {
                    let stolen = i64::try_from(*stolen_ns).unwrap_or(i64::MAX);
                    write!(
                        f,
                        "the hypervisor took {} of CPU time away",
                        three_digits(stolen)
                    )
                }
                FactChange::Other { fact, from, to } => {
                    write!(f, "{fact} changed from {from} to {to} during the run")
                }
            },
            Self::MissesCluster {
                missed,
                clusters,
                largest,
            } => write!(
                f,
                "the {} came in {}, the largest of {}; both bounds are widened accordingly",
                counted(*missed, "miss", "misses"),
                counted(*clusters, "group", "groups"),
                count(*largest),
            ),
            Self::Drift {
                distance,
                first_median_ns,
                second_median_ns,
                ..
            } => write!(
                f,
                "latencies changed during the run: median {} in the first half, {} in the second \
                 (distributions apart by {}); the bounds assume that they don't",
                three_digits(*first_median_ns),
                three_digits(*second_median_ns),
                fraction(*distance),
            ),
            Self::ModeSwitches { switched, executed } => write!(
                f,
                "the loop left its real-time core for Linux in {} of {} cycles, as is tolerated",
                count(*switched),
                count(*executed)
            ),
            Self::NotRealTime { why } => write!(f, "not real-time: {why}"),
            Self::UnservedAtEnd { due_times } => write!(
                f,
                "{} never served before the window's end; the latency counts with the least that it \
                 can have been",
                counted(*due_times, "due time was", "due times were"),
            ),
        }
    }
}
