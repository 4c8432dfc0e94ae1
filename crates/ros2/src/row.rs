//! The figures of each callback.

use crate::due::due_times;
use crate::late::{Late, late_messages, lates};
use crate::{Callback, Kind, Run, Seen};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wakepath_statistics::{Distribution, Quantile};

/// One callback. Times are nanoseconds.
#[derive(Debug, Serialize, Deserialize)]
pub struct Row {
    /// Its number, of those of [`Seen`].
    pub number: usize,
    /// Which it is.
    #[serde(flatten)]
    pub callback: Callback,
    /// Runs.
    pub count: u64,
    /// Its timer's period. Of a callback that was made before the recording, the median gap, if nine in ten gaps are
    /// half of it at least or catch up on a longer one, and half of them differ from it by less than a fifth.
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
    /// How long runs took; unknown if nothing marks their end.
    pub run_ns: Option<Figures>,
    /// Gaps of more than one and a half periods; of a subscription, messages that waited longer than the limit.
    pub late: Option<u64>,
    /// The longest of them.
    pub worst: Vec<Late>,
}

/// Of a row's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
    pub fn new(values: impl IntoIterator<Item = u64>) -> Option<Self> {
        let values = values.into_iter().map(u64::cast_signed).collect();
        let of = Distribution::new(values)?;
        Some(Self {
            median: of.at(Quantile::P50),
            p99: of.at(Quantile::P99),
            max: of.max(),
        })
    }
}

/// All callbacks that ran, timers by their periods first; of each late one the `worst` longest gaps. A subscription's
/// message is late if it waited longer than `limit_ns`.
pub fn rows(seen: &Seen, worst: usize, limit_ns: Option<u64>) -> Vec<Row> {
    let runs = by_callback(seen);
    let published = Publications::new(seen);
    let mut rows: Vec<Row> = runs
        .into_iter()
        .map(|(number, runs)| row(seen, number, &runs, &published, (worst, limit_ns)))
        .collect();
    rows.sort_by_cached_key(|row| {
        let order = match &row.callback.kind {
            Kind::Timer { period_ns, .. } => (0, *period_ns),
            Kind::Subscription { .. } => (1, 0),
            Kind::Service { .. } => (2, 0),
            Kind::Handled { .. } => (3, 0),
            Kind::Control { .. } => (4, 0),
            Kind::Unknown => (5, 0),
        };
        (order, row.callback.to_string(), row.number)
    });
    rows
}

/// When each message was published, by its date and topic, in nanoseconds.
pub(crate) struct Publications<'a>(BTreeMap<(i64, &'a str), u64>);

impl<'a> Publications<'a> {
    pub(crate) fn new(seen: &'a Seen) -> Self {
        let each = seen.published.iter();
        let each = each.flat_map(|of| of.stamps().map(|stamp| ((stamp, &*of.topic), of.at_ns)));
        Self(each.collect())
    }

    /// The runs of a subscription whose publishers are watched, and when the message of each was published; none of
    /// another callback.
    pub(crate) fn of(&self, kind: &Kind, runs: &[Run]) -> Vec<(Run, u64)> {
        let Kind::Subscription { topic, .. } = kind else {
            return Vec::new();
        };
        let published = runs.iter().filter_map(|run| {
            let at_ns = self.0.get(&(run.message?, topic.as_str()))?;
            (run.from_ns >= *at_ns).then_some((*run, *at_ns))
        });
        published.collect()
    }
}

/// The runs of each callback.
pub(crate) fn by_callback(seen: &Seen) -> BTreeMap<usize, Vec<Run>> {
    let mut runs: BTreeMap<usize, Vec<Run>> = BTreeMap::new();
    for run in &seen.runs {
        runs.entry(run.callback).or_default().push(*run);
    }
    runs
}

/// Fewer gaps show no rhythm.
const LEAST_GAPS: usize = 10;

/// The period of a timer, or of a callback of which nothing is known but when it ran: `gaps` in the order of time.
pub(crate) fn period_of(kind: &Kind, gaps: impl Iterator<Item = u64>) -> Option<u64> {
    match kind {
        Kind::Timer { period_ns, .. } => (*period_ns > 0).then_some(*period_ns),
        Kind::Subscription { .. } | Kind::Service { .. } | Kind::Handled { .. } => None,
        Kind::Control { .. } | Kind::Unknown => {
            let gaps: Vec<u64> = gaps.collect();
            let period = u64::try_from(Figures::new(gaps.iter().copied())?.median).ok()?;
            let near = gaps.iter().filter(|gap| gap.abs_diff(period) * 5 < period);
            let is_regular =
                near.count() * 2 >= gaps.len() && early_gaps(&gaps, period) * 10 <= gaps.len();
            (gaps.len() >= LEAST_GAPS && is_regular).then_some(period)
        }
    }
}

/// Gaps of less than half a period, apart from those by which a loop catches up on what a long gap cost it.
fn early_gaps(gaps: &[u64], period_ns: u64) -> usize {
    let mut behind_ns = 0_u64;
    let is_early = |gap: &&u64| {
        let ahead_ns = period_ns.saturating_sub(**gap);
        let is_early = **gap * 2 < period_ns && ahead_ns > behind_ns;
        behind_ns = (behind_ns + **gap).saturating_sub(period_ns);
        is_early
    };
    gaps.iter().filter(is_early).count()
}

/// From each beginning to the next, unless events in between were lost.
fn gaps(seen: &Seen, starts: &[u64]) -> impl Iterator<Item = u64> {
    let pairs = starts.windows(2).map(|pair| (pair[0], pair[1]));
    let known = pairs.filter(|(from_ns, to_ns)| !seen.has_lost(*from_ns, *to_ns));
    known.map(|(from_ns, to_ns)| to_ns - from_ns)
}

/// When runs were due.
pub(crate) struct Dues {
    pub(crate) period_ns: u64,
    /// The due time of each.
    pub(crate) due_ns: Vec<u64>,
    /// How many due times were passed over; `None` where the due times are estimates.
    pub(crate) skipped: Option<u64>,
}

impl Dues {
    /// Of the runs of a timer, or of a callback that keeps a period.
    pub(crate) fn new(seen: &Seen, kind: &Kind, starts: &[u64]) -> Option<Self> {
        let period_ns = period_of(kind, gaps(seen, starts))?;
        let known = |from_ns, to_ns| !seen.has_lost(from_ns, to_ns);
        let by_rule = match *kind {
            Kind::Timer { period_ns, made_ns } => due_times(made_ns, period_ns, starts, known),
            _ => None,
        };
        Some(match by_rule {
            Some((due_ns, skipped)) => Self {
                period_ns,
                due_ns,
                skipped: Some(skipped),
            },
            // A run counts as due a period after the one before it.
            None => {
                let after = starts.iter().map(|at| at + period_ns);
                let due = starts.first().copied().into_iter().chain(after);
                Self {
                    period_ns,
                    due_ns: due.take(starts.len()).collect(),
                    skipped: None,
                }
            }
        })
    }
}

fn row(
    seen: &Seen,
    number: usize,
    runs: &[Run],
    published: &Publications<'_>,
    (worst, limit_ns): (usize, Option<u64>),
) -> Row {
    let callback = seen.callbacks[number].clone();
    let callback_is_marked = !matches!(callback.kind, Kind::Handled { .. });
    let starts: Vec<u64> = runs.iter().map(|run| run.from_ns).collect();
    let dues = Dues::new(seen, &callback.kind, &starts);
    let exact = dues.as_ref().filter(|of| of.skipped.is_some());
    let received = published.of(&callback.kind, runs);
    let waited = received.iter().map(|(run, at_ns)| run.from_ns - at_ns);
    let waited = Figures::new(waited);
    let (late, worst) = match (&dues, limit_ns.filter(|_| waited.is_some())) {
        (Some(dues), _) => {
            let (count, worst) = lates(seen, runs, dues, worst);
            (Some(count), worst)
        }
        (None, Some(limit_ns)) => {
            let (count, worst) = late_messages(seen, &received, limit_ns, worst);
            (Some(count), worst)
        }
        (None, None) => (None, Vec::new()),
    };
    let mut threads: Vec<u32> = runs.iter().map(|run| run.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    Row {
        number,
        callback,
        count: runs.len() as u64,
        period_ns: dues.as_ref().map(|of| of.period_ns),
        threads,
        latency_ns: exact.and_then(|of| {
            let both = starts.iter().zip(&of.due_ns);
            let latencies = both.map(|(start, due)| start - due);
            Figures::new(latencies)
        }),
        // Runs that were not recorded may have served due times.
        skipped: exact
            .and_then(|of| of.skipped)
            .filter(|_| seen.lost.is_empty()),
        gap_ns: Figures::new(gaps(seen, &starts)),
        waited_ns: waited,
        run_ns: if callback_is_marked {
            Figures::new(runs.iter().map(Run::length_ns))
        } else {
            None
        },
        late,
        worst,
    }
}
