//! Finds the first cycle at which two runs' samples differ.
//!
//! Pure.

use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use wakepath_timeline::Sample;

/// The samples of one thread in one segment.
#[derive(Debug, Clone, PartialEq)]
pub struct Stream {
    /// Number of the segment.
    pub segment: u32,
    /// Number of the thread.
    pub thread: u16,
    /// Policy and phase, as a person reads them.
    pub condition: String,
    /// The samples, by cycle.
    pub samples: Vec<Sample>,
}

/// The first difference of two runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Divergence {
    /// A cycle was executed by both, but not alike.
    Cycle {
        /// Policy and phase.
        condition: String,
        /// Number of the thread.
        thread: u16,
        /// The cycle.
        cycle: u64,
        /// The first field that differs.
        field: &'static str,
        /// Value in the first run; times in nanoseconds.
        first: i64,
        /// In the second run.
        second: i64,
    },
    /// One has a cycle that the other lacks.
    Missing {
        /// Policy and phase.
        condition: String,
        /// Number of the thread.
        thread: u16,
        /// The cycle.
        cycle: u64,
        /// The run that has it: 1 or 2.
        only_in: u8,
    },
    /// They did not measure the same conditions in the same order.
    Conditions {
        /// The value in the first run, if it has one.
        first: Option<String>,
        /// In the second run.
        second: Option<String>,
    },
}

/// Compares two runs, stream by stream in the order of execution; `None` if every field of every
/// sample is the same.
pub fn first_divergence(first: &[Stream], second: &[Stream]) -> Option<Divergence> {
    for index in 0..first.len().max(second.len()) {
        let (one, other) = match (first.get(index), second.get(index)) {
            (Some(one), Some(other)) if key(one) == key(other) => (one, other),
            (one, other) => {
                let name = |stream: Option<&Stream>| stream.map(|stream| stream.condition.clone());
                return Some(Divergence::Conditions {
                    first: name(one),
                    second: name(other),
                });
            }
        };
        if let Some(found) = in_stream(one, other) {
            return Some(found);
        }
    }
    None
}

/// How often and by how much the latencies of two runs differ, of the cycles that both have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Differences {
    /// Cycles with another latency.
    pub differ: u64,
    /// Cycles compared.
    pub of: u64,
    /// The largest difference, in nanoseconds.
    pub largest_ns: u64,
}

/// Compares the latencies of two runs.
pub fn differences(first: &[Stream], second: &[Stream]) -> Differences {
    let mut found = Differences::default();
    for (one, other) in first.iter().zip(second).filter(|(a, b)| key(a) == key(b)) {
        let others: BTreeMap<u64, i64> = other
            .samples
            .iter()
            .map(|of| (of.cycle, of.latency_ns()))
            .collect();
        for sample in &one.samples {
            let Some(latency_ns) = others.get(&sample.cycle) else {
                continue;
            };
            let by_ns = sample.latency_ns().abs_diff(*latency_ns);
            found.of += 1;
            found.differ += u64::from(by_ns > 0);
            found.largest_ns = found.largest_ns.max(by_ns);
        }
    }
    found
}

fn key(stream: &Stream) -> (u32, u16, &str) {
    (stream.segment, stream.thread, &stream.condition)
}

fn in_stream(one: &Stream, other: &Stream) -> Option<Divergence> {
    let (condition, thread) = (one.condition.clone(), one.thread);
    let missing = |cycle, only_in| Divergence::Missing {
        condition: condition.clone(),
        thread,
        cycle,
        only_in,
    };
    for index in 0..one.samples.len().max(other.samples.len()) {
        let (a, b) = match (one.samples.get(index), other.samples.get(index)) {
            (Some(a), Some(b)) => (a, b),
            (Some(a), None) => return Some(missing(a.cycle, 1)),
            (None, Some(b)) => return Some(missing(b.cycle, 2)),
            (None, None) => unreachable!("one of them is that long"),
        };
        if a.cycle != b.cycle {
            let only_in = if a.cycle < b.cycle { 1 } else { 2 };
            return Some(missing(a.cycle.min(b.cycle), only_in));
        }
        for ((field, first), (_, second)) in fields(a).into_iter().zip(fields(b)) {
            if first != second {
                return Some(Divergence::Cycle {
                    condition,
                    thread,
                    cycle: a.cycle,
                    field,
                    first,
                    second,
                });
            }
        }
    }
    None
}

/// All fields of a sample, in the order of their times.
fn fields(sample: &Sample) -> [(&'static str, i64); 8] {
    [
        ("due time", sample.due_ns as i64),
        ("wake-up", sample.wake_ns as i64),
        ("end", sample.end_ns as i64),
        ("work time", sample.work_ns.into()),
        ("CPU time", sample.cpu_time_ns.into()),
        ("involuntary switches", sample.involuntary_switches.into()),
        ("CPU", sample.cpu.into()),
        ("flags", sample.flags.0.into()),
    ]
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cycle {
                condition,
                thread,
                cycle,
                field,
                first,
                second,
            } => write!(
                f,
                "they part at cycle {cycle} of {condition} (thread {thread}): {field} {first} \
                 against {second}, {:+}",
                second - first
            ),
            Self::Missing {
                condition,
                thread,
                cycle,
                only_in,
            } => write!(
                f,
                "they part at cycle {cycle} of {condition} (thread {thread}): only the {} executed \
                 it",
                if *only_in == 1 { "first" } else { "second" }
            ),
            Self::Conditions { first, second } => {
                let name =
                    |name: &Option<String>| name.clone().unwrap_or_else(|| "nothing more".into());
                write!(
                    f,
                    "they did not measure the same: {} against {}",
                    name(first),
                    name(second)
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(cycles: &[u64]) -> Stream {
        let sample = |&cycle: &u64| Sample {
            cycle,
            due_ns: cycle * 1_000,
            wake_ns: cycle * 1_000 + 5,
            end_ns: cycle * 1_000 + 9,
            ..Sample::default()
        };
        Stream {
            segment: 0,
            thread: 0,
            condition: "FIFO 50, idle".into(),
            samples: cycles.iter().map(sample).collect(),
        }
    }

    #[test]
    fn equal_runs_do_not_part() {
        let run = [stream(&[0, 1, 2])];
        assert_eq!(first_divergence(&run, &run.clone()), None);
        assert_eq!(first_divergence(&[], &[]), None);
    }

    #[test]
    fn a_nanosecond_is_found_with_its_cycle() {
        let mut other = stream(&[0, 1, 2]);
        other.samples[1].wake_ns += 1;
        other.samples[2].wake_ns += 7;
        let found = first_divergence(&[stream(&[0, 1, 2])], &[other]).unwrap();
        assert_eq!(
            found.to_string(),
            "they part at cycle 1 of FIFO 50, idle (thread 0): wake-up 1005 against 1006, +1"
        );
    }

    #[test]
    fn differences_of_latencies_are_counted_over_the_cycles_of_both() {
        let mut other = stream(&[0, 1, 2]);
        other.samples[1].wake_ns += 1;
        other.samples[2].wake_ns += 7;
        let found = differences(&[stream(&[0, 1, 2, 3])], &[other]);
        let expected = Differences {
            differ: 2,
            of: 3,
            largest_ns: 7,
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn a_skipped_cycle_and_a_shorter_run_are_found() {
        let found = first_divergence(&[stream(&[0, 2])], &[stream(&[0, 1, 2])]).unwrap();
        assert!(
            found.to_string().contains("cycle 1") && found.to_string().contains("second"),
            "{found}"
        );
        let found = first_divergence(&[stream(&[0, 1])], &[stream(&[0])]).unwrap();
        assert!(
            found.to_string().contains("cycle 1") && found.to_string().contains("first"),
            "{found}"
        );
    }

    #[test]
    fn other_conditions_are_no_cycles_to_compare() {
        let mut other = stream(&[0]);
        other.condition = "OTHER nice 0, idle".into();
        let found = first_divergence(&[stream(&[0])], &[other]).unwrap();
        assert_eq!(
            found.to_string(),
            "they did not measure the same: FIFO 50, idle against OTHER nice 0, idle"
        );
        let found = first_divergence(&[stream(&[0])], &[]).unwrap();
        assert!(found.to_string().ends_with("against nothing more"));
    }
}
