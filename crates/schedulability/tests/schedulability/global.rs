//! Several CPUs: known sets, and the tests against a schedule that is played through.

use wakepath_schedulability::global::{
    GlobalTask, Order, density_holds, responses, shares, tardiness_bounds,
};
use wakepath_schedulability::simulate::{Rule, play};
use wakepath_schedulability::sweep::Random;

fn tasks(times: &[(u64, u64, u64)]) -> Vec<GlobalTask> {
    let task = |&(execution_ns, period_ns, deadline_ns): &(u64, u64, u64)| GlobalTask {
        execution_ns,
        period_ns,
        deadline_ns,
        latest_deadline_ns: deadline_ns,
    };
    times.iter().map(task).collect()
}

fn all_bounded(set: &[GlobalTask], cpus: u32, order: Order) -> bool {
    responses(set, cpus, order).iter().all(Option::is_some)
}

#[test]
fn three_tasks_of_two_thirds() {
    let set = tasks(&[(2, 3, 3); 3]);
    assert!(!density_holds(&set, 2));
    assert!(!all_bounded(&set, 2, Order::EarliestDeadline));
    assert_eq!(tardiness_bounds(&set, 2), Some(vec![2; 3]));
    assert!(density_holds(&set, 3));
    assert!(all_bounded(&set, 3, Order::EarliestDeadline));
    assert_eq!(tardiness_bounds(&set, 1), None);
}

#[test]
fn what_others_do_and_the_job_itself_add_up_to_the_response() {
    // On two CPUs the job of 4 waits while both others run: (min(6, 4) + min(6, 4)) / 2 at most.
    let set = tasks(&[(3, 10, 10), (3, 10, 10), (4, 20, 20)]);
    let found = responses(&set, 2, Order::FixedPriority);
    assert_eq!(found, [Some(3), Some(3), Some(7)]);
    let parts = shares(&set, 2, Order::FixedPriority, &found);
    assert_eq!(parts[2].iter().map(|part| part.1).sum::<u64>(), 3);
    let mut told = 0;
    for (draw, order) in (0..3000_u64).zip(
        [Order::EarliestDeadline, Order::FixedPriority]
            .iter()
            .cycle(),
    ) {
        let mut random = wakepath_schedulability::sweep::Random::new(7, 3, draw);
        let mut below = |most: u64| (random.unit() * most as f64) as u64;
        let cpus = 2 + below(3) as u32;
        let times: Vec<(u64, u64, u64)> = (0..3 + below(6))
            .map(|_| {
                let period = 20 + below(200);
                (1 + below(period / 2), period, period)
            })
            .collect();
        let set = tasks(&times);
        let found = responses(&set, cpus, *order);
        for (place, parts) in shares(&set, cpus, *order, &found).iter().enumerate() {
            let Some(response_ns) = found[place].filter(|_| !parts.is_empty()) else {
                continue;
            };
            let waited: u64 = parts.iter().map(|part| part.1).sum();
            assert_eq!(
                set[place].execution_ns + waited,
                response_ns,
                "{place} of {set:?}"
            );
            assert!(parts.iter().all(|part| part.0 != place));
            told += 1;
        }
    }
    assert!(told > 3000, "{told}");
}

#[test]
fn dhalls_set_is_refused_and_does_miss() {
    for cpus in 2..6_u32 {
        let mut times = vec![(2, 99, 99); cpus as usize];
        times.push((100, 100, 100));
        let set = tasks(&times);
        assert!(!all_bounded(&set, cpus, Order::EarliestDeadline));
        let played = play(&set, &[], cpus, Rule::EarliestDeadline, 1000, true);
        let miss = played.first_miss.expect("a miss");
        assert_eq!((miss.task, miss.deadline_ns), (cpus as usize, 100));
    }
}

#[test]
fn one_cpu_played_through_is_as_the_literature_says() {
    let set = tasks(&[(1, 4, 4), (1, 5, 5), (3, 9, 9), (3, 18, 18)]);
    let played = play(&set, &[], 1, Rule::FixedPriority, 360, false);
    assert_eq!(played.longest_ns, [1, 2, 7, 18]);
    assert_eq!(played.first_miss, None);
}

#[test]
fn a_job_does_not_run_on_two_cpus_at_once() {
    let set = tasks(&[(5, 4, 4)]);
    let played = play(&set, &[], 2, Rule::FixedPriority, 40, false);
    assert!(played.first_miss.is_some());
    assert!(played.longest_ns[0] > 5, "{played:?}");
}

/// A set that a test accepts never misses in simulation, from a common release or from any.
#[test]
fn what_is_accepted_never_misses() {
    none_misses(11, 30_000);
}

#[test]
#[ignore = "takes minutes: `cargo xtask test --deep`"]
fn what_is_accepted_of_a_million_sets_never_misses() {
    none_misses(12, 1_000_000);
}

fn none_misses(seed: u64, sets: u32) {
    let mut random = Random::new(seed, 0, 0);
    let mut next = |below: u64| random.bits() % below;
    let mut accepted = [0_u32; 3];
    for _ in 0..sets {
        let cpus = 2 + next(3) as u32;
        let count = u64::from(cpus) + 1 + next(4);
        let set: Vec<GlobalTask> = (0..count)
            .map(|_| {
                let period_ns = 3 + next(12);
                let execution_ns = 1 + next(period_ns);
                let deadline_ns = execution_ns + next(period_ns - execution_ns + 1);
                GlobalTask {
                    execution_ns,
                    period_ns,
                    deadline_ns,
                    latest_deadline_ns: deadline_ns,
                }
            })
            .collect();
        let offsets: Vec<u64> = (0..count).map(|_| next(8) * next(2)).collect();
        let verdicts = [
            (density_holds(&set, cpus), Rule::EarliestDeadline),
            (
                all_bounded(&set, cpus, Order::EarliestDeadline),
                Rule::EarliestDeadline,
            ),
            (
                all_bounded(&set, cpus, Order::FixedPriority),
                Rule::FixedPriority,
            ),
        ];
        for (place, (holds, rule)) in verdicts.into_iter().enumerate() {
            if !holds {
                continue;
            }
            accepted[place] += 1;
            let played = play(&set, &offsets, cpus, rule, 500, true);
            assert_eq!(played.first_miss, None, "{set:?} on {cpus}, {rule:?}");
            let order = match rule {
                Rule::EarliestDeadline => Order::EarliestDeadline,
                Rule::FixedPriority => Order::FixedPriority,
            };
            if place > 0 {
                let bounds = responses(&set, cpus, order);
                for (bound, seen) in bounds.iter().zip(&played.longest_ns) {
                    assert!(
                        bound.expect("accepted") >= *seen,
                        "{set:?} on {cpus}, {rule:?}"
                    );
                }
            }
        }
    }
    assert!(accepted.iter().all(|count| *count > 100), "{accepted:?}");
}
