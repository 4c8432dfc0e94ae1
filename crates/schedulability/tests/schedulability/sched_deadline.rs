//! SCHED_DEADLINE: admitted, proved, and bounded tardiness are three different results.

use crate::fixed_priority::ordered;
use wakepath_schedulability::sched_deadline::{KernelLimit, Parameters, Refused, admission};
use wakepath_schedulability::{Method, Outcome, Question, Refuted, Task, analyse};

const MS: u64 = 1_000_000;

fn tasks(parameters: &[(u64, u64, u64)]) -> Vec<Task> {
    let set: Vec<(u64, u64)> = parameters
        .iter()
        .map(|&(execution, _, period)| (execution * MS, period * MS))
        .collect();
    let mut set = ordered(&set);
    for (task, &(_, deadline, _)) in set.iter_mut().zip(parameters) {
        task.deadline_ns = deadline * MS;
    }
    set
}

fn question(tasks: &[Task], cpus: u16) -> Question<'_> {
    Question {
        tasks,
        method: Method::Deadline(u16::MAX),
        cpus,
        overheads: None,
    }
}

fn parameters(tasks: &[Task], cpus: u16) -> Vec<Parameters> {
    let analysis = analyse(&question(tasks, cpus)).expect("right");
    let found = analysis.tasks.iter().filter_map(|task| task.parameters);
    found.collect()
}

#[test]
fn the_pair_of_the_kernel_s_documentation_is_admitted_and_misses() {
    let limit = KernelLimit::default();
    // Density 1.1, and every deadline is met.
    let holds = tasks(&[(50, 50, 100), (10, 100, 100)]);
    assert!(admission(&parameters(&holds, 1), 1, &limit).admitted());
    let found = analyse(&question(&holds, 1)).expect("right");
    assert_eq!(found.outcome, Outcome::Schedulable);
    // Utilization 0.6, and 60 ms are due within 50.
    let misses = tasks(&[(50, 50, 100), (10, 50, 100)]);
    assert!(admission(&parameters(&misses, 1), 1, &limit).admitted());
    let found = analyse(&question(&misses, 1)).expect("right");
    assert_eq!(
        found.outcome,
        Outcome::NotSchedulable(Refuted::Demand {
            length_ns: 50 * MS,
            needed_ns: 60 * MS
        })
    );
    // Late by 10 ms at most: the third verdict.
    assert_eq!(found.tasks[0].tardiness_ns, Some(10 * MS));
}

#[test]
fn admission_counts_as_the_kernel_does() {
    let limit = KernelLimit::default();
    // 0.475 twice is 0.95 except for what rounding down takes from each: 2 × 498073 of 996147.
    let full = tasks(&[(475, 1000, 1000), (475, 1000, 1000)]);
    let answer = admission(&parameters(&full, 1), 1, &limit);
    assert_eq!((answer.needed, answer.limit), (996_146, Some(996_147)));
    assert!(answer.admitted());
    let more = tasks(&[(475, 1000, 1000), (476, 1000, 1000)]);
    assert!(!admission(&parameters(&more, 1), 1, &limit).admitted());
    // The servers for ordinary threads of Linux 6.12 have 5 % of each CPU in the same account.
    let with_server = KernelLimit {
        server: Some((50 * MS, 1000 * MS)),
        ..limit.clone()
    };
    assert!(!admission(&parameters(&full, 1), 1, &with_server).admitted());
    let fits = tasks(&[(450, 1000, 1000), (449, 1000, 1000)]);
    assert!(admission(&parameters(&fits, 1), 1, &with_server).admitted());
    // Without a limit (-1) the kernel takes anything.
    let none = KernelLimit {
        runtime_ns: None,
        ..limit
    };
    assert!(admission(&parameters(&more, 1), 1, &none).admitted());
}

#[test]
fn what_the_kernel_refuses_of_one_thread_is_named() {
    let limit = KernelLimit::default();
    let refused = |runtime_ns, deadline_ns, period_ns| {
        let parameters = Parameters {
            runtime_ns,
            deadline_ns,
            period_ns,
            needed_ns: runtime_ns,
        };
        parameters.refused(&limit)
    };
    assert_eq!(refused(1023, MS, MS), Some(Refused::RuntimeTooShort));
    assert_eq!(
        refused(MS, MS - 1, MS),
        Some(Refused::RuntimeBeyondDeadline)
    );
    assert_eq!(refused(2000, 99_999, 99_999), Some(Refused::Period));
    assert_eq!(refused(2000, MS, 4_194_304_001), Some(Refused::Period));
    assert_eq!(refused(2000, MS, MS), None);
}

#[test]
fn three_tasks_on_two_cpus_are_late_by_two_at_most() {
    let set = tasks(&[(2, 3, 3), (2, 3, 3), (2, 3, 3)]);
    let found = analyse(&question(&set, 2)).expect("right");
    assert!(matches!(found.outcome, Outcome::NotSchedulable(_)));
    assert_eq!(found.tasks[0].tardiness_ns, Some(2 * MS));
    // The kernel gets 1 ns less for all of them: such a deadline is as late, plus 1 ns.
    let mut sooner = set.clone();
    sooner[0].deadline_ns -= 1;
    let found = analyse(&question(&sooner, 2)).expect("right");
    assert_eq!(found.tasks[0].tardiness_ns, Some(2 * MS + 1));
    // With a deadline before that the bound is not proved, and not claimed.
    sooner[0].deadline_ns -= 1;
    let found = analyse(&question(&sooner, 2)).expect("right");
    assert_eq!(found.tasks[0].tardiness_ns, None);
}

#[test]
fn a_lagging_release_shortens_what_the_kernel_is_told() {
    let mut set = tasks(&[(2, 10, 10)]);
    set[0].jitter_ns = MS;
    let found = analyse(&question(&set, 1)).expect("right");
    let parameters = found.tasks[0].parameters.expect("DEADLINE");
    assert_eq!(
        (
            parameters.runtime_ns,
            parameters.deadline_ns,
            parameters.period_ns
        ),
        // Before the next wake-up: no budget is kept past it.
        (2 * MS, 9 * MS - 1, 9 * MS)
    );
    // From the due time: the lag and the execution.
    assert_eq!(found.tasks[0].bound.response_ns, Some(3 * MS));
}

#[test]
fn a_runtime_below_what_a_job_needs_proves_nothing() {
    let mut set = tasks(&[(2, 10, 10)]);
    set[0].runtime_ns = Some(2 * MS - 1);
    let found = analyse(&question(&set, 1)).expect("right");
    assert_eq!(found.outcome, Outcome::NotProvable);
    assert!(!found.tasks[0].schedulable);
}
