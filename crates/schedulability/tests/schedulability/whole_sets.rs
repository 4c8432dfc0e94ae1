//! Whole sets on whole machines: outcomes, limits and placements that can be worked out by hand.

use crate::fixed_priority::ordered;
use wakepath_schedulability::global::GlobalTask;
use wakepath_schedulability::overheads::Costs;
use wakepath_schedulability::simulate::{Rule, play};
use wakepath_schedulability::sweep::Random;
use wakepath_schedulability::{
    Fit, Method, NotAnalysed, NotPlaced, Outcome, Question, Refuted, Task, analyse, limits, place,
    prove,
};

fn question(tasks: &[Task], method: Method, cpus: u16) -> Question<'_> {
    Question {
        tasks,
        method,
        cpus,
        overheads: None,
    }
}

fn outcome(tasks: &[Task], method: Method, cpus: u16) -> Outcome {
    analyse(&question(tasks, method, cpus))
        .expect("right question")
        .outcome
}

const FP: Method = Method::PartitionedFixedPriority;
const EDF: Method = Method::PartitionedEdf;

#[test]
fn what_fixed_priorities_can_t_earliest_deadline_can() {
    let set = ordered(&[(2, 5), (4, 7)]);
    assert_eq!(
        outcome(&set, FP, 1),
        Outcome::NotSchedulable(Refuted::Response { task: 1 })
    );
    assert_eq!(outcome(&set, EDF, 1), Outcome::Schedulable);
}

#[test]
fn overheads_make_a_set_not_provable_and_do_not_refute_it() {
    let set = ordered(&[
        (3_000_000, 7_000_000),
        (3_000_000, 12_000_000),
        (5_000_000, 20_000_000),
    ]);
    let costs = Costs {
        scheduling_ns: 50_000,
        switch_ns: 50_000,
        ..Costs::default()
    };
    let asked = Question {
        overheads: Some(&costs),
        ..question(&set, FP, 1)
    };
    let analysis = analyse(&asked).expect("right question");
    assert_eq!(analysis.outcome, Outcome::NotProvable);
    // The bound continues past the deadline, so that a user sees how far away it is.
    assert!(analysis.tasks[2].bound.response_ns > Some(20_000_000));
    assert_eq!(analysis.tasks[0].bound.response_ns, Some(3_200_000));
    let pieces = |place: usize| -> i128 {
        analysis.tasks[place]
            .bound
            .made_of
            .iter()
            .map(|part| part.signed_ns())
            .sum()
    };
    for (place, answer) in analysis.tasks.iter().enumerate() {
        assert_eq!(
            Some(pieces(place)),
            answer.bound.response_ns.map(i128::from)
        );
    }
}

#[test]
fn more_work_than_cpus_is_refuted_everywhere() {
    let set = ordered(&[(3, 4), (3, 4), (3, 4)]);
    for (method, cpus) in [
        (FP, 1),
        (EDF, 1),
        (Method::GlobalEdf, 2),
        (Method::GlobalFixedPriority, 2),
    ] {
        let found = outcome(&set, method, cpus);
        assert_eq!(
            found,
            Outcome::NotSchedulable(Refuted::Overload),
            "{method}"
        );
    }
}

#[test]
fn jitter_on_a_cpu_that_is_just_full_is_no_overload() {
    let mut set = ordered(&[(2, 4), (2, 4)]);
    set[0].jitter_ns = 1;
    set[1].deadline_ns = 100;
    assert_eq!(outcome(&set, FP, 1), Outcome::NotProvable);
}

#[test]
fn a_global_set_that_misses_when_played_is_refuted_by_that() {
    let set = ordered(&[(2, 3), (2, 3), (2, 3)]);
    assert_eq!(
        outcome(&set, Method::GlobalEdf, 2),
        Outcome::NotSchedulable(Refuted::Played {
            task: 2,
            deadline_ns: 3,
            offsets_ns: vec![(0, 0), (1, 0), (2, 0)],
        })
    );
    let analysis = analyse(&question(&set, Method::GlobalEdf, 2)).expect("right");
    assert_eq!(analysis.tasks[0].tardiness_ns, Some(2));
    // Without the search all else is the same, and more work than CPUs is still refuted.
    let proved = |set: &[Task]| prove(&question(set, Method::GlobalEdf, 2)).expect("right");
    assert_eq!(proved(&set).tasks, analysis.tasks);
    assert_eq!(proved(&set).outcome, Outcome::NotProvable);
    assert_eq!(
        proved(&ordered(&[(3, 3), (3, 3), (1, 3)])).outcome,
        Outcome::NotSchedulable(Refuted::Overload)
    );
    assert_eq!(outcome(&set, Method::GlobalEdf, 3), Outcome::Schedulable);
}

#[test]
fn a_miss_that_a_common_release_does_not_show_is_found_with_its_releases() {
    let mut random = Random::new(7, 0, 0);
    let mut apart = 0;
    for _ in 0..2000 {
        if apart == 3 {
            break;
        }
        let mut draw = |below: f64| (random.unit() * below) as u64;
        let sizes: Vec<(u64, u64)> = (0..4)
            .map(|_| {
                let period = 4 + draw(12.0);
                (1 + draw(period as f64 * 0.7), period)
            })
            .collect();
        let set = ordered(&sizes);
        let Outcome::NotSchedulable(Refuted::Played {
            task,
            deadline_ns,
            offsets_ns,
        }) = outcome(&set, Method::GlobalEdf, 2)
        else {
            continue;
        };
        apart += u32::from(offsets_ns.iter().any(|(_, offset_ns)| *offset_ns > 0));
        // Played again, it shows the same miss.
        let tasks: Vec<_> = set
            .iter()
            .map(|task| GlobalTask::new(task).unwrap())
            .collect();
        let offsets: Vec<u64> = offsets_ns.iter().map(|(_, offset_ns)| *offset_ns).collect();
        let until = deadline_ns + 1;
        let miss = play(&tasks, &offsets, 2, Rule::EarliestDeadline, until, true).first_miss;
        let miss = miss.expect("played again");
        assert_eq!((miss.task, miss.deadline_ns), (task, deadline_ns));
    }
    assert_eq!(apart, 3);
}

#[test]
fn clusters_are_analysed_apart() {
    let mut set = ordered(&[(2, 3), (2, 3), (2, 3), (2, 3)]);
    for (task, cpu) in set.iter_mut().zip([0, 1, 2, 3]) {
        task.cpu = Some(cpu);
    }
    assert_eq!(
        outcome(&set, Method::ClusteredEdf(2), 4),
        Outcome::Schedulable
    );
    set[2].cpu = Some(0);
    assert!(matches!(
        outcome(&set, Method::ClusteredEdf(2), 4),
        Outcome::NotSchedulable(_)
    ));
}

#[test]
fn limits_are_the_last_that_hold() {
    let set = ordered(&[(3, 7), (3, 12), (5, 20)]);
    let found = limits(&question(&set, FP, 1)).expect("right question");
    assert_eq!(found[2].longest_execution_ns, Some(5));
    assert_eq!(found[0].longest_execution_ns, Some(3));
    for (place, limits) in found.iter().enumerate() {
        let mut more = set.clone();
        more[place].execution_ns = limits.longest_execution_ns.expect("holds") + 1;
        assert_ne!(outcome(&more, FP, 1), Outcome::Schedulable);
    }
    // Alone on a CPU a task can run all the time.
    let alone = ordered(&[(3, 7)]);
    let found = limits(&question(&alone, FP, 1)).expect("right question");
    assert_eq!(found[0].longest_execution_ns, Some(7));
    assert_eq!(found[0].shortest_period_ns, Some(3));
}

#[test]
fn tasks_are_placed_first_best_and_worst() {
    let set = ordered(&[(6, 10), (5, 10), (3, 10), (2, 10)]);
    let cpus = |fit| -> Vec<Option<u16>> {
        let placed = place(&question(&set, EDF, 3), fit, 1).expect("fits");
        placed.iter().map(|task| task.cpu).collect()
    };
    assert_eq!(cpus(Fit::First), [Some(0), Some(1), Some(0), Some(1)]);
    assert_eq!(cpus(Fit::Best), [Some(0), Some(1), Some(0), Some(1)]);
    assert_eq!(cpus(Fit::Worst), [Some(0), Some(1), Some(2), Some(2)]);
}

#[test]
fn placing_gives_priorities_that_hold_and_says_what_has_no_room() {
    let mut set = ordered(&[(3, 7), (3, 12), (5, 20), (6, 10)]);
    for task in &mut set {
        task.priority = 0;
    }
    let placed = place(&question(&set, FP, 2), Fit::First, 50).expect("fits");
    assert_eq!(outcome(&placed, FP, 2), Outcome::Schedulable);
    assert!(placed.iter().all(|task| task.priority >= 50));
    let too_much = ordered(&[(6, 10), (6, 10), (6, 10)]);
    let refused = place(&question(&too_much, FP, 2), Fit::First, 1);
    assert_eq!(refused, Err(NotPlaced::NoRoom("task 2".into())));
}

#[test]
fn questions_that_are_wrong_are_told_from_sets_that_miss() {
    let mut set = ordered(&[(1, 4), (1, 4)]);
    let refused = analyse(&question(&set, FP, 2)).expect_err("where?");
    assert!(matches!(refused, NotAnalysed::NoCpu { .. }));
    set[0].cpu = Some(7);
    let refused = analyse(&question(&set, FP, 2)).expect_err("where?");
    assert_eq!(
        refused.to_string(),
        "task 0: is on CPU 7, and the CPUs are 0 to 1; give one of those"
    );
    set[0].deadline_ns = 0;
    let refused = analyse(&question(&set, FP, 2)).expect_err("never");
    assert!(refused.to_string().contains("give a later deadline"));
}

#[test]
fn a_job_released_as_late_as_the_next_is_due_has_no_bound_on_several_cpus() {
    let mut set = ordered(&[(1, 10), (1, 10), (1, 10)]);
    set[0].jitter_ns = 10;
    for method in [Method::GlobalEdf, Method::GlobalFixedPriority] {
        let found = analyse(&question(&set, method, 2)).expect("right question");
        assert_eq!(found.tasks[0].bound.response_ns, None);
        assert_eq!(found.tasks[0].tardiness_ns, None);
        assert_ne!(found.outcome, Outcome::Schedulable);
    }
    // The kernel's clock, which begins with the wake-up, has no period left either.
    for method in [Method::Deadline(1), Method::Deadline(2)] {
        let found = analyse(&question(&set, method, 2));
        assert!(found.is_err() || found.is_ok_and(|found| found.outcome != Outcome::Schedulable));
    }
}
