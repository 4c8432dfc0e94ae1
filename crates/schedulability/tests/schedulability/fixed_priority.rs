//! Fixed priorities on one CPU: answers from the literature.

use wakepath_schedulability::fixed_priority::{assign, responses};
use wakepath_schedulability::{Arrivals, Bound, Impossible, Part, Task, What};

/// Tasks of (execution, period) in order of priority, the highest first.
pub fn ordered(times: &[(u64, u64)]) -> Vec<Task> {
    let count = times.len() as u32;
    let tasks = times.iter().zip(0..).map(|(&(execution, period), rank)| {
        let mut task = Task::new(format!("task {rank}"), execution, period);
        task.priority = count - rank;
        task
    });
    tasks.collect()
}

fn all(set: &[Task]) -> Vec<Bound> {
    let tasks: Vec<usize> = (0..set.len()).collect();
    responses(set, &tasks, &[]).expect("can be analysed")
}

fn answers(set: &[Task]) -> Vec<Option<u64>> {
    all(set).iter().map(|bound| bound.response_ns).collect()
}

#[test]
fn the_examples_of_burns_and_wellings() {
    /// Executions and periods, and the responses that the book gives.
    type Known<'a> = (&'a [(u64, u64)], &'a [u64]);
    let known: [Known<'_>; 4] = [
        (&[(3, 7), (3, 12), (5, 20)], &[3, 6, 20]),
        (&[(5, 20), (10, 40), (40, 80)], &[5, 15, 80]),
        (&[(10, 30), (10, 40), (12, 50)], &[10, 20, 52]),
        (&[(1, 4), (1, 5), (3, 9), (3, 18)], &[1, 2, 7, 18]),
    ];
    for (times, expected) in known {
        let expected: Vec<_> = expected.iter().map(|&answer| Some(answer)).collect();
        assert_eq!(answers(&ordered(times)), expected, "{times:?}");
    }
    let missed = all(&ordered(&[(10, 30), (10, 40), (12, 50)]));
    assert!(!missed[2].holds());
    assert_eq!(missed[2].slack_ns(), Some(-2));
}

/// The Generic Avionics Platform as Audsley analysed it, in microseconds: execution, period,
/// blocking, jitter, deadline (0: the period), response.
const GENERIC_AVIONICS: [(u64, u64, u64, u64, u64, u64); 18] = [
    (51, 1000, 0, 0, 0, 51),
    (3000, 2_000_000, 300, 0, 5000, 3504),
    (2000, 25_000, 600, 0, 0, 5906),
    (5000, 25_000, 900, 0, 0, 11_512),
    (1000, 40_000, 1350, 0, 0, 13_064),
    (3000, 50_000, 1350, 0, 0, 16_217),
    (5000, 50_000, 750, 0, 0, 20_821),
    (8000, 59_000, 750, 0, 0, 36_637),
    (9000, 80_000, 1350, 0, 0, 47_798),
    (2000, 80_000, 450, 0, 0, 48_949),
    (5000, 100_000, 1050, 0, 0, 99_150),
    (1000, 200_000, 450, 1000, 0, 99_550 + 1000),
    (3000, 200_000, 450, 0, 0, 140_641),
    (1000, 200_000, 450, 0, 0, 141_692),
    (1000, 200_000, 1350, 0, 0, 143_694),
    (3000, 1_000_000, 0, 0, 0, 145_446),
    (1000, 1_000_000, 0, 0, 0, 146_497),
    (1000, 1_000_000, 0, 0, 0, 147_548),
];

#[test]
fn the_generic_avionics_platform() {
    let times: Vec<_> = GENERIC_AVIONICS.iter().map(|row| (row.0, row.1)).collect();
    let mut set = ordered(&times);
    for (task, row) in set.iter_mut().zip(&GENERIC_AVIONICS) {
        (task.blocking_ns, task.jitter_ns) = (row.2, row.3);
        if row.4 > 0 {
            task.deadline_ns = row.4;
        }
    }
    let expected: Vec<_> = GENERIC_AVIONICS.iter().map(|row| Some(row.5)).collect();
    assert_eq!(answers(&set), expected);
}

#[test]
fn the_pieces_add_up_to_the_response() {
    let mut set = ordered(&[(3, 7), (3, 12), (5, 20)]);
    set[2].jitter_ns = 2;
    set[2].blocking_ns = 1;
    let mut later_job = ordered(&[(26, 70), (62, 100)]);
    later_job[1].deadline_ns = 120;
    for bound in all(&set).into_iter().chain(all(&later_job)) {
        let sum: i128 = bound.made_of.iter().map(Part::signed_ns).sum();
        assert_eq!(Some(sum), bound.response_ns.map(i128::from), "{bound:?}");
    }
    let second = &all(&set)[1];
    let preempted = Part {
        what: What::Preemption { by: 0, jobs: 1 },
        ns: 3,
    };
    assert!(second.made_of.contains(&preempted), "{second:?}");
}

#[test]
fn a_deadline_beyond_the_period_needs_later_jobs_of_the_window() {
    // Lehoczky 1990: (26, 70), (62, 100). The fifth job of the window is the worst: 118.
    let mut set = ordered(&[(26, 70), (62, 100)]);
    set[1].deadline_ns = 120;
    assert_eq!(answers(&set), [Some(26), Some(118)]);
    assert!(all(&set)[1].holds());
}

#[test]
fn more_work_than_time_has_no_bound() {
    let set = ordered(&[(3, 4), (3, 6), (1, 100)]);
    assert_eq!(answers(&set), [Some(3), None, None]);
}

#[test]
fn a_task_that_can_t_be_preempted_blocks_and_is_safe_once_it_runs() {
    // Three messages on a bus (Davis et al. 2007): all (1, 2.5), (1, 3.5), (1, 3.5), scaled by 2.
    let mut set = ordered(&[(2, 5), (2, 7), (2, 7)]);
    for task in &mut set {
        task.non_preemptive_ns = task.execution_ns;
    }
    let (first, third) = (all(&set)[0].clone(), all(&set)[2].clone());
    assert_eq!(
        first.response_ns,
        Some(3),
        "own, and one that had begun 1 before"
    );
    // Their second instance is late: 7 after its due time, in units of half a bus time.
    assert_eq!(third.response_ns, Some(7));
}

#[test]
fn a_task_that_sleeps_in_its_job_comes_closer_to_its_next_one() {
    let mut set = ordered(&[(2, 10), (5, 20)]);
    set[0].suspension_ns = 4;
    // Its jobs may be as close as 10 - (6 - 2): 2 + 2 + 5.
    assert_eq!(answers(&set), [Some(6), Some(9)]);
}

#[test]
fn two_of_one_priority_are_refused() {
    let mut set = ordered(&[(1, 10), (1, 10)]);
    set[1].priority = set[0].priority;
    let error = responses(&set, &[0, 1], &[]).expect_err("ambiguous");
    assert!(
        error
            .to_string()
            .contains("task 0 and task 1 both have priority 2")
    );
}

#[test]
fn times_that_overflow_are_an_error_and_no_small_number() {
    let mut set = ordered(&[(u64::MAX / 2, u64::MAX), (u64::MAX / 3, u64::MAX)]);
    set[0].jitter_ns = u64::MAX / 2;
    assert_eq!(responses(&set, &[0, 1], &[]), Err(Impossible::Overflow));
}

#[test]
fn audsley_finds_an_order_that_no_rule_of_thumb_has() {
    // Deadlines beyond periods: neither rate- nor deadline-monotonic order is the best.
    let mut set = ordered(&[(52, 100), (52, 140)]);
    set[0].deadline_ns = 110;
    set[1].deadline_ns = 154;
    let by_deadline = all(&set);
    assert!(!by_deadline[1].holds(), "{by_deadline:?}");
    assign(&mut set, &[0, 1], &[], 10).expect("there is an order");
    assert!(set[1].priority > set[0].priority);
    assert!(all(&set).iter().all(Bound::holds));
}

#[test]
fn a_burst_counts_as_often_as_it_comes() {
    let mut set = ordered(&[(1, 10), (5, 30)]);
    set[0].arrivals = Arrivals::Distances(vec![0, 0, 30]);
    assert_eq!(answers(&set), [Some(3), Some(8)]);
}
