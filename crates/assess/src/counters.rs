//! Hardware counters of the loop's cycles: means over a condition's cycles, or the plain statement
//! that there are none. From the recording alone; no part of the verdict.

use crate::conditions::ConditionSegments;
use serde::Serialize;
use wakepath_archive::CountersRead;

/// Counts of one condition, in user space, over all its segments and threads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CounterFigures {
    /// The condition: its policy.
    pub condition: String,
    /// The phase.
    pub phase: String,
    /// The task, where tasks are judged one by one.
    pub task: Option<String>,
    /// The means; `None` without counts.
    pub per_cycle: Option<PerCycle>,
    /// Why there are none, if so.
    pub missing: Option<String>,
}

/// Means of one cycle of the loop.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PerCycle {
    /// Over how many cycles of the loop.
    pub cycles: u64,
    /// CPU cycles.
    pub cpu_cycles: f64,
    /// Instructions retired.
    pub instructions: f64,
    /// Misses of the last-level cache.
    pub last_level_misses: f64,
}

/// The conditions whose counters were asked for.
pub(crate) fn figures(conditions: &[ConditionSegments<'_>]) -> Vec<CounterFigures> {
    conditions.iter().filter_map(of_condition).collect()
}

fn of_condition(condition: &ConditionSegments<'_>) -> Option<CounterFigures> {
    let read: Vec<&CountersRead> = condition
        .threads
        .iter()
        .filter_map(|(_, thread)| thread.counters.as_ref())
        .collect();
    let mut sums = [0_u64; 4];
    let mut missing = None;
    for read in &read {
        match read {
            CountersRead::Counted {
                cycles,
                cpu_cycles,
                instructions,
                last_level_misses,
            } => {
                let counted = [*cycles, *cpu_cycles, *instructions, *last_level_misses];
                for (sum, more) in sums.iter_mut().zip(counted) {
                    *sum = sum.saturating_add(more);
                }
            }
            CountersRead::Missing { reason } => missing = Some(reason.clone()),
        }
    }
    let [cycles, cpu_cycles, instructions, last_level_misses] = sums;
    let mean = |sum: u64| sum as f64 / cycles as f64;
    (!read.is_empty()).then(|| CounterFigures {
        condition: condition.condition.clone(),
        phase: condition.phase.clone(),
        task: condition.task.clone(),
        per_cycle: (cycles > 0).then(|| PerCycle {
            cycles,
            cpu_cycles: mean(cpu_cycles),
            instructions: mean(instructions),
            last_level_misses: mean(last_level_misses),
        }),
        missing,
    })
}
