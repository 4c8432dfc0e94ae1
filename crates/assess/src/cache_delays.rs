//! Cache losses of a job through a preemption and a migration, by working set, as the work
//! `cache-delay` measured them: counts and quantiles, over all segments of a phase. It makes no
//! bound of
//! them.

use crate::run_times::RunTimes;
use serde::Serialize;
use std::collections::BTreeMap;
use wakepath_archive::{CacheState, Run, ThreadRecord};
use wakepath_machine::Facts;
use wakepath_statistics::LatencyHistogram;

/// Measurements with one working set under one policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CacheDelays {
    /// The condition: its policy.
    pub condition: String,
    /// The working set, in bytes.
    pub working_set_bytes: u64,
    /// Memory that the preempting thread read and wrote, in bytes.
    pub preempting_bytes: u64,
    /// Time of a warm run through it.
    pub warm: RunTimes,
    /// How much longer one takes after another thread ran on the CPU.
    pub preempted: RunTimes,
    /// Additional time on another CPU; without a count if there is none.
    pub migrated: RunTimes,
}

/// More runs than any machine makes in a year: a file with more is not trusted.
const MOST_RUNS: u64 = 1 << 40;

#[derive(Default)]
struct Collected {
    histogram: LatencyHistogram,
    max_ns: u64,
}

impl Collected {
    fn times(&self) -> RunTimes {
        RunTimes::new(&self.histogram, self.max_ns)
    }
}

/// By condition and working set: the smallest preempting thread, and warm, preempted and migrated runs.
type Found = BTreeMap<(usize, u64), (u64, [Collected; 3])>;

/// Of all conditions of a run, by condition in the order of the run and by working set, ascending.
pub(crate) fn cache_delays(run: &Run) -> Vec<CacheDelays> {
    let mut conditions: Vec<&str> = Vec::new();
    let mut found = Found::new();
    for segment in run.manifest.segments.iter().filter(|one| !one.traced) {
        let known = conditions.iter().position(|one| *one == segment.condition);
        let condition = known.unwrap_or_else(|| {
            conditions.push(&segment.condition);
            conditions.len() - 1
        });
        for thread in &segment.threads {
            collect(thread, condition, &mut found);
        }
    }
    let delays = found.into_iter();
    delays
        .map(|((condition, working_set_bytes), (preempting_bytes, of))| {
            let [warm, preempted, migrated] = of.each_ref().map(Collected::times);
            CacheDelays {
                condition: conditions[condition].to_owned(),
                working_set_bytes,
                preempting_bytes,
                warm,
                preempted,
                migrated,
            }
        })
        .collect()
}

fn collect(thread: &ThreadRecord, condition: usize, found: &mut Found) {
    for module in &thread.modules {
        let Some(runs) = &module.caches else {
            continue;
        };
        let counts = runs.bins.iter().map(|bin| bin.2);
        let counted = counts.fold(0_u64, u64::saturating_add);
        if counted != module.runs || counted > MOST_RUNS {
            continue;
        }
        let key = (condition, runs.working_set_bytes);
        let (preempting_bytes, states) = found.entry(key).or_default();
        // Of runs after different threads, what the smallest left is all that is known.
        *preempting_bytes = match *preempting_bytes {
            0 => runs.preempting_bytes,
            before => before.min(runs.preempting_bytes),
        };
        let state = &mut states[match runs.state {
            CacheState::Warm => 0,
            CacheState::Preempted => 1,
            CacheState::Migrated => 2,
        }];
        for (_, high, count) in &runs.bins {
            let high = i64::try_from(*high).unwrap_or(i64::MAX);
            state.histogram.record_many(high, *count);
        }
        state.max_ns = state.max_ns.max(module.max_ns);
    }
}

/// If the preempting thread was too small to empty the last level of the machine's caches: its
/// memory and that level, in bytes.
pub(crate) fn left_in_cache(run: &Run, delays: &[CacheDelays]) -> Option<(u64, u64)> {
    let facts = Facts::of_json(&run.manifest.facts.first()?.facts).ok()?;
    let sizes = facts.caches();
    let last = sizes.l3.or(sizes.l2).or(sizes.l1d)?;
    let touched = delays.iter().map(|one| one.preempting_bytes).min()?;
    (touched < last.saturating_mul(2)).then_some((touched, last))
}
