//! A real-time core's counts for the loop's threads: sums over a condition's segments. From the recording
//! alone; no part of the verdict, which uses the flags of the cycles.

use crate::conditions::ConditionSegments;
use serde::Serialize;
use wakepath_archive::CoreCounts;

/// The core's counts in one condition after the warm-up, over all its segments and threads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OnACore {
    /// The condition: its policy.
    pub condition: String,
    /// The phase.
    pub phase: String,
    /// The task, where tasks are judged one by one.
    pub task: Option<String>,
    /// Threads of segments that it counted.
    pub threads: u64,
    /// Their sum.
    pub counts: CoreCounts,
}

/// The conditions whose threads were on a core that counts.
pub(crate) fn of_all(conditions: &[ConditionSegments<'_>]) -> Vec<OnACore> {
    conditions.iter().filter_map(of_condition).collect()
}

fn of_condition(condition: &ConditionSegments<'_>) -> Option<OnACore> {
    let threads = condition.threads.iter();
    let counted: Vec<CoreCounts> = threads.filter_map(|(_, of)| of.on_a_core).collect();
    let counts = counted.iter().copied().reduce(sum)?;
    Some(OnACore {
        condition: condition.condition.clone(),
        phase: condition.phase.clone(),
        task: condition.task.clone(),
        threads: counted.len() as u64,
        counts,
    })
}

fn sum(one: CoreCounts, other: CoreCounts) -> CoreCounts {
    let both = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
    CoreCounts {
        mode_switches: one.mode_switches.saturating_add(other.mode_switches),
        context_switches: one.context_switches.saturating_add(other.context_switches),
        calls: one.calls.saturating_add(other.calls),
        remote_wake_ups: both(one.remote_wake_ups, other.remote_wake_ups),
        page_faults: both(one.page_faults, other.page_faults),
        run_time_ns: one.run_time_ns.saturating_add(other.run_time_ns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_summed_and_what_one_of_them_has_no_count_of_has_no_sum() {
        let one = CoreCounts {
            mode_switches: 1,
            calls: 10,
            page_faults: Some(3),
            run_time_ns: 500,
            ..CoreCounts::default()
        };
        let both = sum(one, one);
        assert_eq!((both.mode_switches, both.calls), (2, 20));
        assert_eq!((both.page_faults, both.run_time_ns), (Some(6), 1_000));
        assert_eq!(both.remote_wake_ups, None);
    }
}
