//! Entries of the history: events, and the summary of each minute.
//!
//! Nothing here is read or written.

use serde::{Deserialize, Serialize};
use wakepath_scenario::Criterion;
use wakepath_statistics::LatencyHistogram;
use wakepath_verdict::{ConditionName, DueTally};

/// An event, with its time in nanoseconds since 1970.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Entry {
    /// A program was started.
    Started {
        /// When.
        at_ns: u64,
        /// Its command line.
        command: Vec<String>,
        /// Its process.
        process: u32,
        /// The boot it is of.
        boot: String,
        /// Version of the recorder.
        version: String,
    },
    /// The recorder died while the program ran, and was restarted.
    Resumed {
        /// When.
        at_ns: u64,
    },
    /// A loop has begun.
    LoopBegan {
        /// When.
        at_ns: u64,
        /// Its name.
        name: String,
        /// Its period in nanoseconds.
        period_ns: u64,
        /// The policy of its thread, read back.
        policy: String,
        /// The condition that it is judged as, with other loops of the same condition.
        condition: ConditionName,
        /// Its criterion; `None` if the requested one doesn't fit the loop.
        criterion: Option<Criterion>,
    },
    /// Up to a minute of a loop.
    Minute(Box<Minute>),
    /// A loop has ended.
    LoopEnded {
        /// When.
        at_ns: u64,
        /// Its name.
        name: String,
        /// Why.
        how: String,
        /// Whether its program ended or gave it up while it ran.
        died: bool,
    },
    /// A command starts or resumes the measurement of a scenario's rounds.
    RoundsBegan {
        /// When.
        at_ns: u64,
        /// The command line that they all have.
        command: Vec<String>,
    },
    /// A round is measured, and all before this since the last one is of it.
    RoundEnded {
        /// When.
        at_ns: u64,
        /// Its number, from 1.
        number: u32,
        /// Planned number of rounds.
        of: u32,
    },
    /// A finding about a loop in a round, other than its counts.
    RoundJudged {
        /// When it began.
        at_ns: u64,
        /// The loop.
        name: String,
        /// The finding.
        #[serde(flatten)]
        finding: RoundFinding,
    },
    /// A note for the reader.
    Note {
        /// When.
        at_ns: u64,
        /// One line.
        text: String,
    },
    /// The program ended, and all that was in its rings is on disk.
    Ended {
        /// When.
        at_ns: u64,
    },
    /// An entry of a later version. Never written.
    #[serde(other)]
    Unknown,
}

/// A finding about a loop in a round, with its reason in one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "finding", content = "why", rename_all = "kebab-case")]
pub enum RoundFinding {
    /// Its samples are no evidence, and none of them is counted.
    Invalid(String),
    /// It violates the criterion in a way that counts don't show, such as in the vehicle's flight.
    Failed(String),
    /// It leaves something open that counts do not show.
    Undecided(String),
}

/// Summary of a loop's cycles that were due in the same minute.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Minute {
    /// The loop.
    pub name: String,
    /// Due time of its first cycle, in nanoseconds since 1970.
    pub at_ns: u64,
    /// The segment with its samples; it might have been removed.
    pub segment: String,
    /// The cycle of that segment after the last one.
    pub to_cycle: u64,
    /// Counts of its due times by outcome.
    pub tally: DueTally,
    /// Sum of the latencies, early ones counted as 0.
    pub sum_ns: u64,
    /// Least latency; 0 if no cycle ran.
    pub min_ns: i64,
    /// The histogram of the latencies: for each non-empty bin the distance of its lower edge from
    /// the previous one's (the first: from 0), and its count.
    pub bins: Vec<i64>,
}

impl Minute {
    /// Takes in a histogram.
    pub(crate) fn put(&mut self, histogram: &LatencyHistogram) {
        self.min_ns = histogram.min().unwrap_or(0);
        self.tally.largest_latency_ns = histogram.max();
        let mut before = 0_i64;
        for (low, _, count) in histogram.occupied() {
            // Values far below 0 share a bin, whose lower edge is the smallest value.
            let low = low.max(self.min_ns.min(0));
            self.bins.push(low - before);
            self.bins.push(count.cast_signed());
            before = low;
        }
    }

    /// Largest latency; 0 if no cycle ran.
    pub fn max_ns(&self) -> i64 {
        self.tally.largest_latency_ns.unwrap_or(0)
    }

    /// Adds its latencies up; smallest and largest stay exact.
    pub fn add_to(&self, histogram: &mut LatencyHistogram) {
        let mut edge = 0_i64;
        let pairs = self.bins.as_chunks::<2>().0;
        for (number, [step, count]) in pairs.iter().enumerate() {
            edge = edge.saturating_add(*step);
            let mut count = count.max(&0).cast_unsigned();
            // The least value is in the first bin, and no other value of that bin is below it.
            let value = match number {
                0 => edge.max(self.min_ns),
                _ => edge,
            };
            if number + 1 == pairs.len() && count > 0 {
                histogram.record(self.max_ns());
                count -= 1;
            }
            histogram.record_many(value, count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smallest_and_largest_stay_exact_where_their_bins_hold_more_than_one() {
        // Bins have 64 ns here, and 15 592 is not an edge.
        for values in [
            &[15_592, 15_593, 15_600, 40_000, 80_001, 80_003][..],
            &[15_592, 15_593],
            &[15_592],
            &[-5, -5, 3],
            &[-90_000, -80_000, 7],
        ] {
            let mut before = LatencyHistogram::new();
            values.iter().for_each(|&value| before.record(value));
            let mut minute = Minute::default();
            minute.put(&before);
            let mut after = LatencyHistogram::new();
            minute.add_to(&mut after);
            assert_eq!(
                (after.min(), after.max()),
                (before.min(), before.max()),
                "{values:?}"
            );
            let counts = |of: &LatencyHistogram| of.occupied().collect::<Vec<_>>();
            assert_eq!(counts(&after), counts(&before), "{values:?}");
        }
    }
}
