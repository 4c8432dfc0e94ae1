//! Tasks with offsets on a common clock: exact where a schedule can be played through.

use crate::fixed_priority::ordered;
use wakepath_schedulability::fixed_priority::{responses, responses_with_offsets};
use wakepath_schedulability::global::GlobalTask;
use wakepath_schedulability::simulate::{Rule, play};
use wakepath_schedulability::sweep::Random;
use wakepath_schedulability::{Method, Outcome, Question, Task, analyse, limits};

/// Small numbers, the same on every machine.
fn numbers(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut random = Random::new(seed, 0, 0);
    move |below| random.bits() % below
}

#[test]
fn two_tasks_that_never_come_together_do_not_delay_each_other() {
    let mut set = ordered(&[(2, 4), (2, 4)]);
    (set[0].offset_ns, set[1].offset_ns) = (Some(0), Some(2));
    let found = responses_with_offsets(&set, &[])
        .expect("fits")
        .expect("offsets");
    let found: Vec<_> = found.iter().map(|bound| bound.response_ns).collect();
    assert_eq!(found, [Some(2), Some(2)]);
    // Without offsets the second waits for the first.
    let free = responses(&set, &[0, 1], &[]).expect("fits");
    assert_eq!(free[1].response_ns, Some(4));
    // Jitter brings them together again: the first's job comes late, and its next one in time.
    set[0].jitter_ns = 3;
    set[1].execution_ns = 1;
    let found = responses_with_offsets(&set, &[])
        .expect("fits")
        .expect("offsets");
    assert_eq!(found[1].response_ns, Some(5));
}

#[test]
fn offsets_that_save_a_set_are_no_ground_to_refute_it_and_its_limits_hold_anywhere() {
    let mut set = ordered(&[(2, 4), (2, 4)]);
    set[1].deadline_ns = 2;
    let asked = |set: &[Task]| {
        let question = Question {
            tasks: set,
            method: Method::PartitionedFixedPriority,
            cpus: 1,
            overheads: None,
        };
        (
            analyse(&question).expect("right").outcome,
            limits(&question).expect("right"),
        )
    };
    assert!(matches!(asked(&set).0, Outcome::NotSchedulable(_)));
    (set[0].offset_ns, set[1].offset_ns) = (Some(0), Some(2));
    let (outcome, limits) = asked(&set);
    assert_eq!(outcome, Outcome::Schedulable);
    assert_eq!(limits[0].longest_execution_ns, Some(2));
    // With any other period the two meet: the deadline of 2 holds with none up to ten times.
    assert_eq!(limits[0].shortest_period_ns, None);
    set[1].offset_ns = Some(1);
    assert!(matches!(asked(&set).0, Outcome::NotSchedulable(_)));
}

#[test]
fn bounds_are_what_a_schedule_played_through_shows() {
    let mut next = numbers(11);
    let (mut tighter, mut played_sets) = (0, 0);
    for _ in 0..3000 {
        let set: Vec<(u64, u64)> = (0..2 + next(3))
            .map(|_| {
                let period_ns = [4, 6, 8, 12, 24][next(5) as usize];
                (1 + next(period_ns / 3), period_ns)
            })
            .collect();
        let mut set = ordered(&set);
        for task in &mut set {
            task.offset_ns = Some(next(task.period_ns()));
        }
        let bounds = responses_with_offsets(&set, &[])
            .expect("fits")
            .expect("offsets");
        if bounds.iter().any(|bound| bound.response_ns.is_none()) {
            continue;
        }
        let tasks: Vec<GlobalTask> = set
            .iter()
            .map(|task| GlobalTask::new(task).expect("plain"))
            .collect();
        let offsets: Vec<u64> = set.iter().filter_map(|task| task.offset_ns).collect();
        let played = play(&tasks, &offsets, 1, Rule::FixedPriority, 24 * 8, false);
        let found: Vec<u64> = bounds
            .iter()
            .filter_map(|bound| bound.response_ns)
            .collect();
        // Jobs of one task run one after the other in either: deadlines beyond periods too.
        assert_eq!(found, played.longest_ns, "{set:?}");
        let places: Vec<usize> = (0..set.len()).collect();
        let free = responses(&set, &places, &[]).expect("fits");
        for (bound, free) in bounds.iter().zip(&free) {
            assert!(bound.response_ns <= free.response_ns, "{set:?}");
            tighter += u32::from(bound.response_ns < free.response_ns);
            let pieces: i128 = bound.made_of.iter().map(|part| part.signed_ns()).sum();
            assert_eq!(Some(pieces), bound.response_ns.map(i128::from), "{bound:?}");
        }
        played_sets += 1;
    }
    assert!(
        played_sets > 1000 && tighter > 500,
        "{played_sets} {tighter}"
    );
}

#[test]
fn with_jitter_no_played_schedule_is_above_the_bound_and_some_reach_it() {
    let mut next = numbers(5);
    let mut reached = 0;
    for _ in 0..150 {
        let mut set = ordered(&[(1 + next(3), 6), (1 + next(3), 8), (1 + next(4), 12)]);
        for task in &mut set {
            task.offset_ns = Some(next(task.period_ns()));
            task.jitter_ns = next(4);
        }
        let bounds = responses_with_offsets(&set, &[])
            .expect("fits")
            .expect("offsets");
        if bounds.iter().any(|bound| bound.response_ns.is_none()) {
            continue;
        }
        let mut longest = vec![0; set.len()];
        for _ in 0..400 {
            for (most, seen) in longest.iter_mut().zip(played_with_jitter(&set, &mut next)) {
                *most = seen.max(*most);
            }
        }
        for (bound, seen) in bounds.iter().zip(&longest) {
            assert!(
                Some(*seen) <= bound.response_ns,
                "{set:?} {bound:?} {longest:?}"
            );
            reached += u32::from(Some(*seen) == bound.response_ns);
        }
    }
    assert!(reached > 200, "{reached}");
}

/// The longest responses of one random choice of every release's lag, slot by slot.
fn played_with_jitter(set: &[Task], next: &mut impl FnMut(u64) -> u64) -> Vec<u64> {
    // (task, due, released, left), by due time within each task.
    let mut jobs: Vec<(usize, u64, u64, u64)> = Vec::new();
    for (place, task) in set.iter().enumerate() {
        for number in 0..48 / task.period_ns() {
            let due = task.offset_ns.unwrap_or(0) + number * task.period_ns();
            let lag = match next(3) {
                0 => 0,
                1 => task.jitter_ns,
                _ => next(task.jitter_ns + 1),
            };
            jobs.push((place, due, due + lag, task.execution_ns));
        }
    }
    let mut longest = vec![0; set.len()];
    for now in 0..200 {
        let ready = jobs
            .iter_mut()
            .filter(|(_, _, released, left)| *released <= now && *left > 0)
            .min_by_key(|(place, due, ..)| (*place, *due));
        if let Some((place, due, _, left)) = ready {
            *left -= 1;
            if *left == 0 {
                longest[*place] = (now + 1 - *due).max(longest[*place]);
            }
        }
    }
    longest
}

#[test]
fn a_common_period_with_too_many_jobs_falls_back_to_any_offset() {
    let mut set = ordered(&[(1, 1_000_003), (1, 1_000_033)]);
    (set[0].offset_ns, set[1].offset_ns) = (Some(0), Some(7));
    assert_eq!(responses_with_offsets(&set, &[]), Ok(None));
}
