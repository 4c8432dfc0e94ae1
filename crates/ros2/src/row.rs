//! The figures of each callback.

use crate::due::due_times;
use crate::late::{Late, lates};
use crate::{Callback, Kind, Run, Seen};
use serde::Serialize;
use std::collections::BTreeMap;
use wakepath_statistics::{Distribution, Quantile};

/// One callback. Times are nanoseconds.
#[derive(Debug, Serialize)]
pub struct Row {
    /// Its number, of those of [`Seen`].
    pub number: usize,
    /// Which it is.
    #[serde(flatten)]
    pub callback: Callback,
    /// Runs.
    pub count: u64,
    /// Its timer's period. Of a callback that was made before the recording, the median gap, if nine in ten gaps are
    /// half of it at least and half of them differ from it by less than a fifth.
    pub period_ns: Option<u64>,
    /// Threads that ran it.
    pub threads: Vec<u32>,
    /// From due time to beginning; of a timer whose due times are known.
    pub latency_ns: Option<Figures>,
    /// Due times that passed without a run; of the same.
    pub skipped: Option<u64>,
    /// From one beginning to the next.
    pub gap_ns: Option<Figures>,
    /// From a message's being published to the beginning of its run; of a subscription whose publishers are watched.
    pub waited_ns: Option<Figures>,
    /// How long runs took.
    pub run_ns: Option<Figures>,
    /// Gaps of more than one and a half periods.
    pub late: Option<u64>,
    /// The longest of them.
    pub worst: Vec<Late>,
}

/// Of a row's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Figures {
    /// Half of them are at most this.
    pub median: i64,
    /// 99 % are at most this.
    pub p99: i64,
    /// The largest.
    pub max: i64,
}

impl Figures {
    /// Of some values; `None` without any.
    pub fn of(values: impl IntoIterator<Item = u64>) -> Option<Self> {
        let values = values.into_iter().map(u64::cast_signed).collect();
        let of = Distribution::new(values)?;
        Some(Self {
            median: of.at(Quantile::P50),
            p99: of.at(Quantile::P99),
            max: of.max(),
        })
    }
}

/// All callbacks that ran, timers by their periods first; of each late one the `worst` longest gaps.
pub fn rows(seen: &Seen, worst: usize) -> Vec<Row> {
    let mut runs: BTreeMap<usize, Vec<Run>> = BTreeMap::new();
    for run in &seen.runs {
        runs.entry(run.callback).or_default().push(*run);
    }
    let published: BTreeMap<(i64, &str), u64> = seen
        .published
        .iter()
        .map(|of| ((of.stamp, &*of.topic), of.at_ns))
        .collect();
    let mut rows: Vec<Row> = runs
        .into_iter()
        .map(|(number, runs)| row(seen, number, &runs, &published, worst))
        .collect();
    rows.sort_by_key(|row| {
        let order = match &row.callback.kind {
            Kind::Timer { period_ns, .. } => (0, *period_ns),
            Kind::Subscription { .. } => (1, 0),
            Kind::Service { .. } => (2, 0),
            Kind::Unknown => (3, 0),
        };
        (order, row.callback.to_string(), row.number)
    });
    rows
}

/// Fewer gaps show no rhythm.
const LEAST_GAPS: usize = 10;

/// The period of a timer, or of a callback of which nothing is known but when it ran.
fn period_of(kind: &Kind, gaps: impl Iterator<Item = u64>) -> Option<u64> {
    match kind {
        Kind::Timer { period_ns, .. } => (*period_ns > 0).then_some(*period_ns),
        Kind::Subscription { .. } | Kind::Service { .. } => None,
        Kind::Unknown => {
            let gaps: Vec<u64> = gaps.collect();
            let period = u64::try_from(Figures::of(gaps.iter().copied())?.median).ok()?;
            let near = gaps.iter().filter(|gap| gap.abs_diff(period) * 5 < period);
            let short = gaps.iter().filter(|gap| **gap * 2 < period).count();
            let is_regular = near.count() * 2 >= gaps.len() && short * 10 <= gaps.len();
            (gaps.len() >= LEAST_GAPS && is_regular).then_some(period)
        }
    }
}

fn row(
    seen: &Seen,
    number: usize,
    runs: &[Run],
    published: &BTreeMap<(i64, &str), u64>,
    worst: usize,
) -> Row {
    let callback = seen.callbacks[number].clone();
    let starts: Vec<u64> = runs.iter().map(|run| run.from_ns).collect();
    let due = match callback.kind {
        Kind::Timer { period_ns, made_ns } => due_times(made_ns, period_ns, &starts),
        _ => None,
    };
    let gaps = || starts.windows(2).map(|pair| pair[1] - pair[0]);
    let waited = match &callback.kind {
        Kind::Subscription { topic } => Figures::of(runs.iter().filter_map(|run| {
            let at_ns = published.get(&(run.message?, topic.as_str()))?;
            run.from_ns.checked_sub(*at_ns)
        })),
        _ => None,
    };
    let period = period_of(&callback.kind, gaps());
    let (late, worst) = match period {
        Some(period_ns) => {
            // Without due times a run counts as due a period after the one before it.
            let estimated = || {
                starts
                    .first()
                    .copied()
                    .into_iter()
                    .chain(starts.iter().map(|at| at + period_ns))
            };
            let due_ns = match &due {
                Some((due, _)) => due.clone(),
                None => estimated().take(starts.len()).collect(),
            };
            let (count, worst) = lates(seen, runs, &due_ns, period_ns, worst);
            (Some(count), worst)
        }
        None => (None, Vec::new()),
    };
    let mut threads: Vec<u32> = runs.iter().map(|run| run.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    Row {
        number,
        callback,
        count: runs.len() as u64,
        period_ns: period,
        threads,
        latency_ns: due.as_ref().and_then(|(due, _)| {
            let latencies = starts.iter().zip(due).map(|(start, due)| start - due);
            Figures::of(latencies)
        }),
        skipped: due.map(|(_, skipped)| skipped),
        gap_ns: Figures::of(gaps()),
        waited_ns: waited,
        run_ns: Figures::of(runs.iter().map(Run::length_ns)),
        late,
        worst,
    }
}
