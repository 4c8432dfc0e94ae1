//! Inflation of the loop's work under load compared with idle: the whole timed region, and the work alone
//! if it timed itself. Ratios of medians and of 99th percentiles over the same policy and the same work; no
//! part of the verdict.

use serde::Serialize;
use wakepath_scenario::{Scenario, Task, Work};
use wakepath_statistics::{DistributionSummary, Quantile};
use wakepath_timeline::Policy;
use wakepath_verdict::Judgement;

/// One condition compared with its idle counterpart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inflation {
    /// The policy; `None` for a task set.
    pub policy: Option<Policy>,
    /// The task, where tasks are judged one by one.
    pub task: Option<String>,
    /// The phase under load.
    pub phase: String,
    /// The phase without load that it is held against: the first with the same work.
    pub idle_phase: String,
    /// From the first instruction of the cycle to the end of its work.
    pub execution: Inflated,
    /// The controller alone, as it timed itself.
    pub work: Option<Inflated>,
}

/// A time idle and loaded.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Inflated {
    /// Half of the cycles take at most this.
    pub median: Ratio,
    /// 99 of 100 cycles take at most this; `None` where either sample is too small to tell it
    /// from its maximum.
    pub p99: Option<Ratio>,
}

/// The same figure idle and loaded.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ratio {
    /// Idle, in nanoseconds.
    pub idle_ns: i64,
    /// Under load, in nanoseconds.
    pub loaded_ns: i64,
    /// Loaded over idle; `None` where the idle figure is not above 0.
    pub inflation: Option<f64>,
}

impl Ratio {
    fn new(idle_ns: i64, loaded_ns: i64) -> Self {
        Self {
            idle_ns,
            loaded_ns,
            inflation: (idle_ns > 0).then(|| loaded_ns as f64 / idle_ns as f64),
        }
    }
}

impl Inflated {
    fn new(idle: &DistributionSummary, loaded: &DistributionSummary) -> Option<Self> {
        let both = |wanted| Some((value(idle, wanted)?, value(loaded, wanted)?));
        let median = both(Quantile::P50)?;
        let p99 = both(Quantile::P99).filter(|((_, idle), (_, loaded))| !idle && !loaded);
        Some(Self {
            median: Ratio::new(median.0.0, median.1.0),
            p99: p99.map(|((idle, _), (loaded, _))| Ratio::new(idle, loaded)),
        })
    }
}

/// A quantile, and whether it is merely the maximum.
fn value(distribution: &DistributionSummary, wanted: Quantile) -> Option<(i64, bool)> {
    let found = distribution.quantile(wanted)?;
    Some((found.value?, found.is_maximum))
}

/// Every loaded condition with nonzero work, compared with its idle counterpart. Conditions without one are
/// left out.
pub(crate) fn inflations(scenario: &Scenario, conditions: &[Judgement]) -> Vec<Inflation> {
    conditions
        .iter()
        .filter_map(|loaded| inflation(scenario, conditions, loaded))
        .collect()
}

fn inflation(
    scenario: &Scenario,
    conditions: &[Judgement],
    loaded: &Judgement,
) -> Option<Inflation> {
    let task = task_of(scenario, loaded)?;
    let work = scenario.work_in(&loaded.name.phase, task);
    if *work == Work::Nothing || is_idle(scenario, &loaded.name.phase) {
        return None;
    }
    let idle = conditions.iter().find(|idle| {
        let phase = &idle.name.phase;
        idle.name.policy == loaded.name.policy
            && idle.name.task == loaded.name.task
            && is_idle(scenario, phase)
            && scenario.work_in(phase, task) == work
            && share_of_cache(scenario, phase) == share_of_cache(scenario, &loaded.name.phase)
    })?;
    let (before, after) = (&idle.cycles, &loaded.cycles);
    let of = |idle: &Option<_>, loaded: &Option<_>| Inflated::new(idle.as_ref()?, loaded.as_ref()?);
    Some(Inflation {
        policy: loaded.name.policy,
        task: loaded.name.task.clone(),
        phase: loaded.name.phase.clone(),
        idle_phase: idle.name.phase.clone(),
        execution: of(&before.execution, &after.execution)?,
        work: of(&before.work, &after.work),
    })
}

/// The task of a condition; replicas of one loop all do the same.
fn task_of<'a>(scenario: &'a Scenario, judgement: &Judgement) -> Option<&'a Task> {
    match &judgement.name.task {
        None => scenario.tasks.first(),
        Some(name) => scenario.tasks.iter().find(|task| task.name == *name),
    }
}

/// The cache that the loop has to itself, which changes what its work takes.
fn share_of_cache(scenario: &Scenario, phase: &str) -> Option<f64> {
    let named = scenario.phases.iter().find(|known| known.name == phase);
    named.and_then(|phase| phase.l3_share)
}

fn is_idle(scenario: &Scenario, phase: &str) -> bool {
    let named = scenario.phases.iter().find(|known| known.name == phase);
    named.is_some_and(|phase| phase.loads.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_scenario::KnownCpus;
    use wakepath_timeline::{DueTimes, Sample, SampleFlags};
    use wakepath_verdict::{Condition, ConditionName, CycleRecord, Gaps, JudgedWindow, Provenance};

    const SCENARIO: &str = "
        name = \"a\"
        rate = \"250 Hz\"
        cycles = 1000
        policies = [\"FIFO 50\"]
        work = \"flight\"
        phases = [
          { name = \"idle\" },
          { name = \"idle large\", work = { kind = \"flight\", working-set = \"4 MiB\" } },
          { name = \"cpu\", loads = [\"cpu\"] },
          { name = \"cpu large\", loads = [\"cpu\"],
            work = { kind = \"flight\", working-set = \"4 MiB\" } },
          { name = \"cpu other\", loads = [\"cpu\"],
            work = { kind = \"flight\", working-set = \"1 MiB\" } },
        ]";

    fn scenario() -> Scenario {
        Scenario::parse(SCENARIO, "a.toml", &KnownCpus::first(1)).unwrap()
    }

    /// `count` cycles whose execution takes `ns` and whose controller takes half of it.
    fn judgement(scenario: &Scenario, phase: &str, ns: u32, count: u64) -> Judgement {
        let due = DueTimes {
            start_ns: 1_000_000,
            period_ns: 4_000_000,
        };
        let sample = |cycle| Sample {
            cycle,
            due_ns: due.due_ns(cycle),
            wake_ns: due.due_ns(cycle) + 1_000,
            end_ns: due.due_ns(cycle) + 1_000 + u64::from(ns),
            work_ns: ns / 2,
            flags: SampleFlags::HAS_WORK_TIME,
            ..Sample::default()
        };
        let samples: Vec<Sample> = (0..count).map(sample).collect();
        let mut record = CycleRecord::new(&scenario.criterion);
        let window = JudgedWindow {
            due,
            first_judged_cycle: 0,
            end_cycle: count,
            thread: 0,
            lost: 0,
            gaps: Gaps::Skipped,
        };
        record.add(window, &samples).unwrap();
        let name = ConditionName {
            policy: Some(Policy::Fifo { priority: 50 }),
            phase: phase.into(),
            task: None,
        };
        let condition = Condition {
            name: &name,
            record: &record,
            provenance: &Provenance::default(),
        };
        wakepath_verdict::judge(condition, &scenario.criterion)
    }

    #[test]
    fn a_loaded_condition_is_held_against_the_idle_one_with_the_same_work() {
        let scenario = scenario();
        let of = |phase, ns| judgement(&scenario, phase, ns, 1000);
        let conditions = [
            of("idle", 2_000),
            of("idle large", 100_000),
            of("cpu", 3_000),
            of("cpu large", 500_000),
            of("cpu other", 1),
        ];
        let found = inflations(&scenario, &conditions);
        let shown: Vec<_> = found
            .iter()
            .map(|i| {
                let work = i.work.unwrap().median.inflation;
                let p99 = i.execution.p99.unwrap().inflation;
                (
                    &*i.phase,
                    &*i.idle_phase,
                    i.execution.median.inflation,
                    p99,
                    work,
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                ("cpu", "idle", Some(1.5), Some(1.5), Some(1.5)),
                ("cpu large", "idle large", Some(5.0), Some(5.0), Some(5.0)),
            ]
        );
    }

    #[test]
    fn a_sample_too_small_for_its_p99_shows_none() {
        let scenario = scenario();
        let conditions = [
            judgement(&scenario, "idle", 2_000, 50),
            judgement(&scenario, "cpu", 3_000, 1000),
        ];
        let found = inflations(&scenario, &conditions);
        assert_eq!(found[0].execution.p99, None);
    }

    #[test]
    fn work_that_is_nothing_inflates_nothing() {
        let text = SCENARIO.replace("work = \"flight\"\n", "");
        let nothing = Scenario::parse(&text, "a.toml", &KnownCpus::first(1)).unwrap();
        let of = |phase| judgement(&nothing, phase, 100, 1000);
        assert_eq!(inflations(&nothing, &[of("idle"), of("cpu")]), []);
    }
}
