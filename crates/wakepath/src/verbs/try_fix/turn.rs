//! One turn of the program, watched, and the figures of its loop.

use std::cmp::Reverse;
use wakepath_archive::{Run, ThreadRecord};
use wakepath_assess::explanation::urgency;
use wakepath_assess::watched::comes_without_period;
use wakepath_assess::{Assessment, p99};
use wakepath_timeline::{CpuSet, Policy};

type Failure = Box<dyn std::error::Error>;

/// Headings of the figures, in their order.
pub const FIGURES: [&str; 4] = [
    "due to start, p99",
    "due to end, mean",
    "due to end, p99",
    "due to end, max",
];

/// The loop in one turn.
#[derive(Clone)]
pub struct Turn {
    /// Policy in effect.
    pub policy: Policy,
    /// CPUs that it could use at last.
    pub cpus: CpuSet,
    /// Between two due times, ns.
    pub period_ns: u64,
    /// Cycles that ran.
    pub cycles: u64,
    /// Due times without a cycle, if known; at most, if it is not known of some whether they were run late.
    pub skipped: Option<u64>,
    /// As [`FIGURES`] has them, ns.
    pub figures: [f64; 4],
}

impl Turn {
    /// The figures of the thread of this name.
    ///
    /// # Errors
    /// If the run can't be read, or has no such thread.
    pub fn new(run: &Run, thread: &str) -> Result<Self, Failure> {
        let record = periodic(run)
            .find(|record| record.name == thread)
            .ok_or_else(|| {
                let known: Vec<&str> = periodic(run).map(|record| &*record.name).collect();
                if known.is_empty() {
                    "no thread with a period was seen".to_owned()
                } else {
                    format!(
                        "no thread {thread} with a period was seen; there were {}",
                        known.join(", ")
                    )
                }
            })?;
        let assessment = Assessment::new(run)?;
        let mut conditions = assessment.conditions.iter();
        let cycles = conditions
            .find(|one| one.name.task.as_deref().is_none_or(|name| name == thread))
            .map(|one| &one.cycles);
        let (Some(latency), Some(response)) = (
            cycles.and_then(|of| of.latency_as_scheduled.as_ref()),
            cycles.and_then(|of| of.response.as_ref()),
        ) else {
            return Err(format!("{thread}: no cycle was measured").into());
        };
        Ok(Self {
            policy: record.requested,
            cpus: CpuSet::from(&cpus_at_last(record)[..]),
            period_ns: record.due.period_ns,
            cycles: response.count,
            skipped: cycles.and_then(|of| Some(of.skipped? + of.unseen)),
            figures: [
                p99(latency),
                response.mean,
                p99(response),
                response.max as f64,
            ],
        })
    }
}

fn cpus_at_last(record: &ThreadRecord) -> Vec<u16> {
    let allowed = record.effective.details.get("allowed_cpus");
    let last = allowed.and_then(|of| of.as_array()?.last()?.get("cpus").cloned());
    let last = last.and_then(|cpus| serde_json::from_value(cpus).ok());
    last.unwrap_or_else(|| record.cpus.clone())
}

/// The most urgent thread with a period, of several that with most cycles.
pub fn most_urgent(run: &Run) -> Option<String> {
    let first =
        periodic(run).min_by_key(|record| Reverse((urgency(record.requested), record.recorded)));
    first.map(|record| record.name.clone())
}

fn periodic(run: &Run) -> impl Iterator<Item = &ThreadRecord> {
    let threads = run.manifest.segments.iter().flat_map(|of| &of.threads);
    threads.filter(|record| !comes_without_period(record))
}
