//! Slowdown of a controller by other load: its time alone, next to loads that only compute, and next to
//! loads that use caches and memory, with the same work and the same policy; the components of its
//! variance, repetition by repetition. It measures nothing and judges nothing.

use crate::error::AssessmentError;
use crate::judged::window_end;
use serde::Serialize;
use std::collections::BTreeMap;
use wakepath_archive::{Run, SegmentRecord, ThreadRecord};
use wakepath_scenario::{LoadKind, MemoryAccess, Phase, Scenario, Work, WorkingSet};
use wakepath_statistics::{
    Moments, Quantile, VarianceShares, quantile_rank_interval, variance_shares,
};

/// With fewer repetitions no interval of 95 % exists: the smallest and the largest of n hold the median with 1 − 2¹⁻ⁿ.
pub const REPETITIONS_FOR_AN_INTERVAL: usize = 6;

/// One work under one policy. Times are those of the whole cycle, from waking to the end of the work.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stretched {
    /// The condition's policy and task, as they are shown.
    pub condition: String,
    /// Memory that the controller touches in each cycle in addition to its own, in bytes.
    pub working_set_bytes: u64,
    /// Repetitions in which all of the phases were measured.
    pub repetitions: usize,
    /// Mean time without loads, in nanoseconds.
    pub alone_ns: f64,
    /// Mean time next to loads that only compute.
    pub computing_ns: f64,
    /// Mean time next to each load that uses memory, by the resource it uses.
    pub memory_ns: Vec<(String, f64)>,
    /// The same where the loop had a part of the last-level cache for itself.
    pub own_cache_ns: Vec<(String, f64)>,
    /// The components of the time's variance.
    pub shares: Option<StretchShares>,
}

/// Shares of the variance, if the controller were a third of its time alone, a third next to loads that
/// compute, and a third next to loads that use memory.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StretchShares {
    /// From cycle to cycle in the same condition.
    pub within: Share,
    /// Of neighbours that compute: the CPU's clock, shared pipelines, time taken by others.
    pub computing: Share,
    /// Of what neighbours add that use caches and memory.
    pub memory: Share,
}

/// A share over repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Share {
    /// The median of the repetitions' own; between two of them their mean.
    pub median: f64,
    /// Interval of that of all repetitions, with at least 95 %, by ranks; `None` with fewer than
    /// [`REPETITIONS_FOR_AN_INTERVAL`].
    pub interval: Option<(f64, f64)>,
}

impl Share {
    fn new(mut values: Vec<f64>) -> Option<Self> {
        values.sort_unstable_by(f64::total_cmp);
        let count = values.len();
        if count == 0 {
            return None;
        }
        let median = (values[(count - 1) / 2] + values[count / 2]) / 2.0;
        let interval = (count >= REPETITIONS_FOR_AN_INTERVAL).then(|| {
            let ranks = quantile_rank_interval(count as u64, Quantile::P50, 0.95);
            let at = |rank: Option<u64>, otherwise: usize| {
                let index = rank.map_or(otherwise, |rank| rank as usize - 1);
                values[index.min(count - 1)]
            };
            (at(ranks.lower, 0), at(ranks.upper, count - 1))
        });
        Some(Self { median, interval })
    }
}

/// The load that a phase runs next to the loop.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Beside {
    Nobody,
    Computing,
    Memory(String),
}

impl Beside {
    /// `None`: next to other load, or to both at once.
    fn new(phase: &Phase) -> Option<Self> {
        let mut names = Vec::new();
        for load in &phase.loads {
            match &load.kind {
                LoadKind::Cpu => {}
                LoadKind::Memory {
                    working_set,
                    access,
                } => names.push(match access {
                    MemoryAccess::Stream => level(*working_set),
                    MemoryAccess::Chase => format!("{}, chased", level(*working_set)),
                }),
                _ => return None,
            }
        }
        match (&phase.loads[..], &names[..]) {
            ([], _) => Some(Self::Nobody),
            (_, []) => Some(Self::Computing),
            (loads, [name]) if loads.len() == 1 => Some(Self::Memory(name.clone())),
            _ => None,
        }
    }
}

fn level(working_set: WorkingSet) -> String {
    match working_set {
        WorkingSet::L1 => "l1".into(),
        WorkingSet::L2 => "l2".into(),
        WorkingSet::L3 => "l3".into(),
        WorkingSet::Dram => "dram".into(),
        WorkingSet::Bytes(bytes) => format!("{bytes} B"),
    }
}

/// Key of a comparison: condition, working set.
type Design = (String, u64);
/// Times by repetition, by the load next to the loop, and by whether a part of the cache was its own.
type Times = BTreeMap<u32, BTreeMap<(Beside, bool), Moments>>;

/// Every work that was measured alone, next to loads that compute and next to loads that use memory; in the
/// order of conditions and working sets.
pub(crate) fn stretches(run: &Run, scenario: &Scenario) -> Result<Vec<Stretched>, AssessmentError> {
    let besides = scenario.phases.iter().filter_map(Beside::new);
    let kinds = besides.fold([false; 3], |mut kinds, beside| {
        kinds[match beside {
            Beside::Nobody => 0,
            Beside::Computing => 1,
            Beside::Memory(_) => 2,
        }] = true;
        kinds
    });
    // Runs without such phases are not read once more.
    if kinds != [true; 3] {
        return Ok(Vec::new());
    }
    let mut found: BTreeMap<Design, Times> = BTreeMap::new();
    for segment in run.manifest.segments.iter().filter(|one| !one.traced) {
        let phase = scenario.phases.iter().find(|one| one.name == segment.phase);
        let Some((phase, beside)) = phase.and_then(|one| Some((one, Beside::new(one)?))) else {
            continue;
        };
        // The effect of an unproven load is unknown.
        if segment
            .loads
            .iter()
            .any(|load| load.why_unproven().is_some())
        {
            continue;
        }
        for thread in segment.threads.iter().filter(|one| one.due.start_ns != 0) {
            let task = scenario.tasks.iter().find(|task| task.name == thread.name);
            let Some(task) = task.or(scenario.tasks.first()) else {
                continue;
            };
            let Some(bytes) = working_set(scenario.work_in(&phase.name, task)) else {
                continue;
            };
            let Some(moments) = times(run, segment, thread)? else {
                continue;
            };
            let times = found.entry((segment.condition.clone(), bytes)).or_default();
            let of = times.entry(segment.repetition).or_default();
            let key = (beside.clone(), phase.l3_share.is_some());
            // The first thread represents its replicas.
            of.entry(key).or_insert(moments);
        }
    }
    let found = found.into_iter();
    Ok(found
        .filter_map(|(design, times)| stretch(design, &times))
        .collect())
}

/// Memory that a work touches; `None` where its time is not a controller's.
fn working_set(work: &Work) -> Option<u64> {
    match work {
        Work::Flight(flight) => Some(flight.working_set),
        Work::WorkingSet { bytes } => Some(*bytes),
        _ => None,
    }
}

/// Times of a segment's judged cycles, from waking to the end of the work: the controller's own clock
/// excludes its accesses beyond its own memory.
fn times(
    run: &Run,
    segment: &SegmentRecord,
    thread: &ThreadRecord,
) -> Result<Option<Moments>, AssessmentError> {
    let samples = run.samples(segment.segment, thread.thread)?;
    let end = window_end(thread, samples.last().map(|sample| sample.cycle));
    let judged = thread.first_judged_cycle..end;
    let mut moments = Moments::default();
    for sample in samples.iter().filter(|one| judged.contains(&one.cycle)) {
        moments.add(sample.execution_ns());
    }
    Ok((moments.count() > 0).then_some(moments))
}

fn stretch(design: Design, times: &Times) -> Option<Stretched> {
    let first = times.values().next()?;
    let of_shared = |of: &BTreeMap<(Beside, bool), Moments>| -> Vec<Beside> {
        of.keys()
            .filter(|key| !key.1)
            .map(|key| key.0.clone())
            .collect()
    };
    let phases = of_shared(first);
    // A repetition that lacks a phase compares others.
    let whole: Vec<_> = times
        .values()
        .filter(|of| of_shared(of) == phases)
        .collect();
    let mean = |beside: &Beside, own_cache: bool| {
        let of = whole
            .iter()
            .filter_map(|of| of.get(&(beside.clone(), own_cache)));
        let means: Vec<f64> = of.map(Moments::mean).collect();
        (!means.is_empty()).then(|| means.iter().sum::<f64>() / means.len() as f64)
    };
    let by_level = |own_cache: bool| -> Vec<(String, f64)> {
        let keys = first.keys().filter(|key| key.1 == own_cache);
        keys.filter_map(|(beside, _)| match beside {
            Beside::Memory(level) => Some((level.clone(), mean(beside, own_cache)?)),
            _ => None,
        })
        .collect()
    };
    let memory_ns = by_level(false);
    if memory_ns.is_empty() {
        return None;
    }
    let shares: Option<Vec<VarianceShares>> = whole
        .iter()
        .map(|of| {
            let kind = |wanted: fn(&Beside) -> bool| -> Vec<Moments> {
                let of_kind = of
                    .iter()
                    .filter(|((beside, own), _)| !own && wanted(beside));
                of_kind.map(|(_, moments)| *moments).collect()
            };
            variance_shares(
                &kind(|beside| *beside == Beside::Nobody),
                &kind(|beside| *beside == Beside::Computing),
                &kind(|beside| matches!(beside, Beside::Memory(_))),
            )
        })
        .collect();
    let share =
        |of: fn(&VarianceShares) -> f64| Share::new(shares.as_ref()?.iter().map(of).collect());
    Some(Stretched {
        condition: design.0,
        working_set_bytes: design.1,
        repetitions: whole.len(),
        alone_ns: mean(&Beside::Nobody, false)?,
        computing_ns: mean(&Beside::Computing, false)?,
        memory_ns,
        own_cache_ns: by_level(true),
        shares: share(|of| of.within)
            .zip(share(|of| of.first))
            .zip(share(|of| of.second))
            .map(|((within, computing), memory)| StretchShares {
                within,
                computing,
                memory,
            }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(mean: i64, spread: i64) -> Moments {
        let mut moments = Moments::default();
        moments.add(mean - spread);
        moments.add(mean + spread);
        moments
    }

    fn repetition(shift: i64) -> BTreeMap<(Beside, bool), Moments> {
        let memory = |level: &str| Beside::Memory(level.into());
        BTreeMap::from([
            ((Beside::Nobody, false), moments(1000, 10)),
            ((Beside::Computing, false), moments(1100, 10)),
            ((memory("l3"), false), moments(2000 + shift, 10)),
            ((memory("dram"), false), moments(3000 + shift, 10)),
            ((memory("dram"), true), moments(1500, 10)),
        ])
    }

    #[test]
    fn six_repetitions_have_an_interval_and_memory_most_of_the_variance() {
        let times: Times = (0..6).map(|n| (n, repetition(i64::from(n) * 10))).collect();
        let found = stretch(("FIFO 80".into(), 4096), &times).unwrap();
        assert_eq!(found.repetitions, 6);
        assert_eq!((found.alone_ns, found.computing_ns), (1000.0, 1100.0));
        assert_eq!(
            found.memory_ns,
            [("dram".into(), 3025.0), ("l3".into(), 2025.0)]
        );
        assert_eq!(found.own_cache_ns, [("dram".into(), 1500.0)]);
        let shares = found.shares.unwrap();
        let (low, high) = shares.memory.interval.unwrap();
        assert!(
            low < shares.memory.median && shares.memory.median < high,
            "{shares:?}"
        );
        assert!(
            shares.memory.median > 0.9 && shares.within.median < 0.01,
            "{shares:?}"
        );
    }

    #[test]
    fn five_have_none_and_a_repetition_without_a_phase_is_left_out() {
        let mut times: Times = (0..6).map(|n| (n, repetition(0))).collect();
        times
            .get_mut(&5)
            .unwrap()
            .remove(&(Beside::Computing, false));
        let found = stretch(("FIFO 80".into(), 0), &times).unwrap();
        assert_eq!(found.repetitions, 5);
        assert_eq!(found.shares.unwrap().memory.interval, None);
    }

    #[test]
    fn what_runs_beside_other_loads_is_no_part_of_it() {
        let text = "name = \"a\"\nrate = \"250 Hz\"\ncycles = 10\npolicies = [\"FIFO 50\"]\nwork = \"flight\"\n\
                    phases = [{ name = \"i\" }, { name = \"c\", loads = [\"cpu\"] }, { name = \"m\", loads = [\"memory \
                    l2\"] }, { name = \"both\", loads = [\"cpu\", \"memory l2\"] }, { name = \"t\", loads = \
                    [\"timers\"] }]";
        let known = wakepath_scenario::KnownCpus::first(2);
        let scenario = Scenario::parse(text, "a.toml", &known).unwrap();
        let found: Vec<_> = scenario.phases.iter().map(Beside::new).collect();
        let memory = Beside::Memory("l2".into());
        assert_eq!(
            found,
            [
                Some(Beside::Nobody),
                Some(Beside::Computing),
                Some(memory),
                None,
                None
            ]
        );
    }
}
