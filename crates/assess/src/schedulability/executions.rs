//! How long a thread of a recorded run executes: its CPU time if the run has it, else the elapsed time of
//! its cycles, which is longer if others ran in between. An observation is no bound.

use std::collections::BTreeSet;
use wakepath_archive::{ArchiveError, Run, SegmentRecord, ThreadRecord};
use wakepath_scenario::{MeasuredExecution, ToldExecution};
use wakepath_statistics::{Distribution, Quantile, quantile_interval_in_order};
use wakepath_timeline::{SampleFlags, duration};

/// Why a run does not tell an execution.
#[derive(Debug, thiserror::Error)]
pub enum ExecutionLack {
    /// It can't be read.
    #[error(transparent)]
    Unreadable(#[from] ArchiveError),
    /// Nothing was observed.
    #[error("it has no cycles")]
    NoCycles,
    /// The share is not one of the quantiles that are kept.
    #[error("{0} is not a quantile in parts per million; give 0.999999 at most")]
    NoQuantile(f64),
    /// A quantile would be the maximum under another name, or has no bound.
    #[error(
        "{count} cycles are too few for the quantile {share}: it needs {needed}; leave it out for \
         the largest observed, or measure longer"
    )]
    TooFew {
        /// How many were observed.
        count: u64,
        /// The quantile.
        share: f64,
        /// How many it needs.
        needed: u64,
    },
    /// Half and less.
    #[error("a confidence of {0} gives no bound; give more than 0.5")]
    BoundsNothing(f64),
    /// A part of the work has no distribution.
    #[error("only the largest time of the section {0} was kept; leave out the quantile")]
    LargestOnly(String),
    /// No thread and no part of the work has this name.
    #[error("it has no section {wanted}; there are {}", known.join(", "))]
    NoSection {
        /// The name.
        wanted: String,
        /// Those that there are.
        known: Vec<String>,
    },
}

/// Which of the observed times counts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Which {
    /// Which quantile, 0 to 1 exclusive; `None`: the largest.
    pub quantile: Option<f64>,
    /// Confidence of the quantile's upper bound; `None`: the quantile itself.
    pub confidence: Option<f64>,
}

/// Observations of a thread's execution, in nanoseconds.
pub(super) struct Observed {
    times: Vec<i64>,
    /// Whether some are elapsed times.
    elapsed: bool,
}

/// The threads of a run that are judged: of all segments, traced ones only if there are no others.
pub(super) fn judged_threads(run: &Run) -> Vec<(&SegmentRecord, &ThreadRecord)> {
    let all = &run.manifest.segments;
    let any_untraced = all.iter().any(|segment| !segment.traced);
    let threads = all
        .iter()
        .filter(|segment| !segment.traced || !any_untraced)
        .flat_map(|segment| segment.threads.iter().map(move |thread| (segment, thread)));
    threads.collect()
}

impl Observed {
    /// Those of all threads of a name; `None` if there are none.
    pub(super) fn new(run: &Run, name: &str) -> Result<Option<Self>, ArchiveError> {
        let mut found = Self {
            times: Vec::new(),
            elapsed: false,
        };
        for (segment, thread) in judged_threads(run) {
            if thread.name != name {
                continue;
            }
            for batch in run.batches(segment.segment, thread.thread)? {
                for sample in &batch? {
                    if sample.flags.contains(SampleFlags::WARM_UP) {
                        continue;
                    }
                    let ns = if sample.flags.contains(SampleFlags::HAS_CPU_TIME) {
                        i64::from(sample.cpu_time_ns)
                    } else {
                        found.elapsed = true;
                        i64::try_from(sample.end_ns.saturating_sub(sample.wake_ns))
                            .unwrap_or(i64::MAX)
                    };
                    found.times.push(ns);
                }
            }
        }
        Ok((!found.times.is_empty()).then_some(found))
    }

    /// The time that counts, and what it is in words.
    pub(super) fn told(self, which: Which) -> Result<ToldExecution, ExecutionLack> {
        let kind = if self.elapsed {
            "elapsed time, including preemptions"
        } else {
            "CPU time"
        };
        let times = self.times;
        let distribution = Distribution::new(times.clone()).ok_or(ExecutionLack::NoCycles)?;
        let count = distribution.count();
        let (ns, what) = match which.quantile {
            None => (
                distribution.max(),
                format!("the largest of {count} observed"),
            ),
            Some(share) => {
                let parts = (share * 1e6).round() as u32;
                let quantile = Quantile::from_parts_per_million(parts);
                let quantile = quantile.ok_or(ExecutionLack::NoQuantile(share))?;
                let few = |needed| ExecutionLack::TooFew {
                    count,
                    share,
                    needed,
                };
                match which.confidence {
                    None if !quantile.differs_from_maximum(count) => {
                        return Err(few(quantile.count_to_differ_from_maximum()));
                    }
                    None => (
                        distribution.at(quantile),
                        format!("the quantile {share} of {count} observed"),
                    ),
                    Some(confidence) => {
                        // The upper side of a two-sided interval that leaves as much on each side.
                        let two_sided = 1.0 - 2.0 * (1.0 - confidence);
                        if two_sided <= 0.0 {
                            return Err(ExecutionLack::BoundsNothing(confidence));
                        }
                        let interval = quantile_interval_in_order(&times, quantile, two_sided);
                        let needed =
                            ((1.0 - confidence).ln() / quantile.probability().ln()).ceil() as u64;
                        let upper = interval.upper.ok_or_else(|| few(needed))?;
                        let percent = wakepath_verdict::confidence(confidence);
                        let what = format!(
                            "above the quantile {share} with {percent} confidence, of {count} \
                             observed"
                        );
                        (upper, what)
                    }
                }
            }
        };
        let ns = u64::try_from(ns).unwrap_or(0).max(1);
        Ok(ToldExecution {
            ns,
            from: format!(
                "execution {}, {what} ({kind}); not a bound",
                duration::three_digits(ns.cast_signed())
            ),
        })
    }
}

/// The execution that a task set's file asks a run for.
///
/// # Errors
/// Which of it the run doesn't have.
pub fn measured_execution(
    run: &Run,
    wanted: &MeasuredExecution,
) -> Result<ToldExecution, ExecutionLack> {
    let which = Which {
        quantile: wanted.quantile,
        confidence: wanted.confidence,
    };
    let section = &wanted.section;
    if let Some(observed) = Observed::new(run, section)? {
        return observed.told(which);
    }
    // A part of the work that timed itself: of those only the largest was kept.
    let threads = judged_threads(run);
    let parts = threads.iter().flat_map(|(_, thread)| &thread.modules);
    let longest = parts
        .filter(|part| part.name == *section && part.runs > 0)
        .map(|part| part.max_ns)
        .max();
    match (longest, which.quantile) {
        (Some(ns), None) => Ok(ToldExecution {
            ns: ns.max(1),
            from: format!(
                "execution {}, the largest observed of a part of the work (elapsed time); not a bound",
                duration::three_digits(ns.max(1).cast_signed())
            ),
        }),
        (Some(_), Some(_)) => Err(ExecutionLack::LargestOnly(section.clone())),
        (None, _) => {
            let names = threads.iter().flat_map(|(_, thread)| {
                let parts = thread.modules.iter().map(|part| &part.name);
                parts.chain([&thread.name])
            });
            let names: BTreeSet<&String> = names.collect();
            Err(ExecutionLack::NoSection {
                wanted: section.clone(),
                known: names.into_iter().cloned().collect(),
            })
        }
    }
}
