//! The worst window, played through, is as long as the bound says.

use crate::fixed_priority::ordered;
use wakepath_schedulability::overheads::Costs;
use wakepath_schedulability::sweep::Random;
use wakepath_schedulability::{
    Arrivals, Method, Part, Question, Runs, Stretch, Task, What, analyse, worst_window,
};

fn question<'a>(tasks: &'a [Task], costs: Option<&'a Costs>) -> Question<'a> {
    Question {
        tasks,
        method: Method::PartitionedFixedPriority,
        cpus: 1,
        overheads: costs.map(|costs| costs as _),
    }
}

#[test]
fn the_window_of_burns_and_wellings_is_full_to_the_deadline() {
    let set = ordered(&[(3, 7), (3, 12), (5, 20)]);
    let asked = question(&set, None);
    let analysis = analyse(&asked).expect("right");
    let window = worst_window(&asked, &analysis, 2)
        .expect("right")
        .expect("one");
    let stretch = |task, from_ns, to_ns| Stretch {
        what: Runs::Task(task),
        from_ns,
        to_ns,
    };
    let expected = [
        stretch(0, 0, 3),
        stretch(1, 3, 6),
        stretch(2, 6, 7),
        stretch(0, 7, 10),
        stretch(2, 10, 12),
        stretch(1, 12, 14),
        stretch(0, 14, 17),
        stretch(1, 17, 18),
        stretch(2, 18, 20),
    ];
    assert_eq!(window.stretches, expected);
    assert_eq!((window.end_ns, window.response_ns()), (20, 20));
}

#[test]
fn every_window_is_as_long_as_its_bound() {
    let mut random = Random::new(3, 0, 0);
    let mut next = |below: u64| random.bits() % below;
    let costs = Costs {
        event_ns: 3,
        release_ns: 1,
        scheduling_ns: 1,
        switch_ns: 1,
        tick_ns: 2,
        tick_period_ns: 97,
        section_ns: 4,
        ipi_ns: 0,
    };
    let mut seen = 0;
    for round in 0..2000 {
        let times: Vec<(u64, u64)> = (0..2 + next(4))
            .map(|_| {
                let period = 40 + next(200);
                (1 + next(period / 4), period)
            })
            .collect();
        let mut set = ordered(&times);
        for task in &mut set {
            task.jitter_ns = next(10) * next(2);
            task.blocking_ns = next(6) * next(2);
            task.deadline_ns *= 3;
            task.non_preemptive_ns = match next(4) {
                0 => task.execution_ns,
                1 => next(task.execution_ns),
                _ => 0,
            };
        }
        if let Arrivals::Sporadic(period) = set[0].arrivals {
            set[0].arrivals = Arrivals::Distances(vec![period / 3, period * 2]);
        }
        let costs = (round % 2 == 0).then_some(&costs);
        let asked = question(&set, costs);
        let analysis = analyse(&asked).expect("right");
        for (place, found) in analysis.tasks.iter().enumerate() {
            let window = worst_window(&asked, &analysis, place).expect("right");
            let Some(window) = window else { continue };
            let bound = found.bound.response_ns.map(i128::from);
            assert_eq!(Some(window.response_ns()), bound, "{place} of {set:?}");
            assert_eq!(window.stretches[0].from_ns, 0);
            assert!(
                window
                    .stretches
                    .windows(2)
                    .all(|two| two[0].to_ns == two[1].from_ns)
            );
            seen += 1;
        }
    }
    assert!(seen > 2000, "{seen}");
}

/// Random sets for one CPU with jitter, blocking and stretches that can't be preempted.
fn drawn(next: &mut impl FnMut(u64) -> u64) -> Vec<Task> {
    let times: Vec<(u64, u64)> = (0..2 + next(4))
        .map(|_| {
            let period = 40 + next(200);
            (1 + next(period / 4), period)
        })
        .collect();
    let mut set = ordered(&times);
    for task in &mut set {
        task.jitter_ns = next(10) * next(2);
        task.blocking_ns = next(6) * next(2);
        task.deadline_ns += next(100);
        task.non_preemptive_ns = next(task.execution_ns) * next(2);
    }
    set
}

#[test]
fn a_published_set_under_earliest_deadline_first_is_played_as_by_hand() {
    let set = ordered(&[(3, 12), (2, 4)]);
    let asked = Question {
        method: Method::PartitionedEdf,
        ..question(&set, None)
    };
    let analysis = analyse(&asked).expect("right");
    let part = |what, ns| Part { what, ns };
    let own = part(What::Own { earlier: 0 }, 3);
    let other = part(What::Preemption { by: 1, jobs: 2 }, 4);
    assert_eq!(analysis.tasks[0].bound.made_of, [own, other]);
    let window = worst_window(&asked, &analysis, 0)
        .expect("right")
        .expect("one");
    let runs = window.stretches.iter();
    let runs: Vec<(&Runs, u64, u64)> = runs
        .map(|one| (&one.what, one.from_ns, one.to_ns))
        .collect();
    let [own, other] = [0, 1].map(Runs::Task);
    let expected = [(&other, 0, 2), (&own, 2, 4), (&other, 4, 6), (&own, 6, 7)];
    assert_eq!(runs, expected);
    assert_eq!((window.due_ns, window.deadline_ns), (0, 12));
}

#[test]
fn under_earliest_deadline_first_pieces_and_windows_are_as_long_as_their_bounds() {
    let mut random = Random::new(11, 0, 0);
    let mut next = |below: u64| random.bits() % below;
    let costs = Costs {
        event_ns: 3,
        release_ns: 1,
        scheduling_ns: 1,
        switch_ns: 1,
        tick_ns: 2,
        tick_period_ns: 97,
        section_ns: 4,
        ipi_ns: 0,
    };
    let (mut seen, mut asked_for) = (0, 0);
    for round in 0..2000_u32 {
        let set = drawn(&mut next);
        let asked = Question {
            method: match round % 3 {
                0 => Method::Deadline(1),
                _ => Method::PartitionedEdf,
            },
            ..question(&set, (round % 2 == 0).then_some(&costs))
        };
        let Ok(analysis) = analyse(&asked) else {
            continue;
        };
        for (place, found) in analysis.tasks.iter().enumerate() {
            let Some(bound) = found.bound.response_ns.map(i128::from) else {
                continue;
            };
            let pieces: i128 = found.bound.made_of.iter().map(Part::signed_ns).sum();
            assert_eq!(pieces, bound, "{place} of {set:?}");
            asked_for += 1;
            let window = worst_window(&asked, &analysis, place).expect("right");
            let Some(window) = window else { continue };
            assert_eq!(window.response_ns(), bound, "{place} of {set:?}");
            let joined = |two: &[Stretch]| two[0].to_ns == two[1].from_ns;
            assert!(window.stretches.windows(2).all(joined));
            seen += 1;
        }
    }
    assert!(seen == asked_for && seen > 2000, "{seen} of {asked_for}");
}
