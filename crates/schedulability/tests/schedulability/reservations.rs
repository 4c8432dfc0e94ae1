//! Reservations: what they give at least, and what runs in them.

use crate::fixed_priority::ordered;
use wakepath_schedulability::overheads::Costs;
use wakepath_schedulability::reservation::{Supply, responses_within};
use wakepath_schedulability::{
    Method, NotAnalysed, Outcome, Question, Reservation, Server, Task, What, analyse,
};

#[test]
fn the_least_supply_is_that_of_the_worst_of_all_patterns() {
    for (budget_ns, within_ns, period_ns) in [(2, 4, 5), (3, 5, 5), (1, 4, 4), (2, 2, 4)] {
        let supply = Supply {
            budget_ns,
            period_ns,
            within_ns,
        };
        // Every way to give the budget within each of three periods.
        let ways: Vec<u32> = (0_u32..1 << within_ns)
            .filter(|way| u64::from(way.count_ones()) == budget_ns)
            .collect();
        for length in 0..=2 * period_ns {
            let mut least = u64::MAX;
            for first in &ways {
                for second in &ways {
                    for third in &ways {
                        let slots: u64 = u64::from(*first)
                            | u64::from(*second) << period_ns
                            | u64::from(*third) << (2 * period_ns);
                        for start in 0..=period_ns {
                            let window = slots >> start & ((1 << length) - 1);
                            least = least.min(u64::from(window.count_ones()));
                        }
                    }
                }
            }
            assert_eq!(supply.least_in(length), least, "{supply:?} {length}");
        }
        for needed in 1..20 {
            let length = supply.long_enough_for(needed).expect("small");
            assert!(supply.least_in(length) >= needed);
            assert!(supply.least_in(length - 1) < needed);
        }
    }
}

#[test]
fn a_task_waits_for_the_blackout_and_those_before_it() {
    // 2 of 5: nothing for 6 at worst.
    let supply = Supply {
        budget_ns: 2,
        period_ns: 5,
        within_ns: 5,
    };
    let set = ordered(&[(1, 20), (2, 40)]);
    let found = responses_within(&set, &supply, "vision", &[]).expect("fits");
    // 6 + 1; then 3 needed: 6 + 5 + 1.
    assert_eq!(found[0].response_ns, Some(7));
    assert_eq!(found[1].response_ns, Some(12));
    let pieces: i128 = found[1].made_of.iter().map(|part| part.signed_ns()).sum();
    assert_eq!(pieces, 12);
    assert!(found[1].made_of.iter().any(|part| part.ns == 9
        && part.what
            == What::Reservation {
                name: "vision".into(),
                budgets: 0
            }));
    // More work than the reservation gives has no bound.
    let heavy = ordered(&[(3, 6)]);
    let found = responses_within(&heavy, &supply, "vision", &[]).expect("fits");
    assert_eq!(found[0].response_ns, None);
}

fn reserved(server: Server, priority: u32) -> Vec<Task> {
    let mut set = ordered(&[(2, 10), (2, 40), (4, 40)]);
    set[0].priority = 9;
    let reservation = Reservation {
        name: "vision".into(),
        server,
        budget_ns: 2,
        period_ns: 10,
        priority,
        cpu: None,
    };
    for task in &mut set[1..] {
        task.reservation = Some(reservation.clone());
    }
    set
}

fn question(tasks: &[Task], method: Method) -> Question<'_> {
    Question {
        tasks,
        method,
        cpus: 1,
        overheads: None,
    }
}

const FP: Method = Method::PartitionedFixedPriority;

#[test]
fn a_reservation_is_a_task_among_the_others_and_a_cpu_for_those_in_it() {
    let set = reserved(Server::Sporadic, 5);
    let analysis = analyse(&question(&set, FP)).expect("right");
    let responses: Vec<_> = analysis
        .tasks
        .iter()
        .map(|task| task.bound.response_ns)
        .collect();
    // Blackout 16; 2 and then 2 + 4 needed: 16 + 2, 16 + 2 · 10 + 2.
    assert_eq!(responses, [Some(2), Some(18), Some(38)]);
    assert_eq!(analysis.outcome, Outcome::Schedulable);
    // A periodic server that responds within 4 gives its budget by then: (10 − 2) + (4 − 2).
    let set = reserved(Server::Periodic, 5);
    let analysis = analyse(&question(&set, FP)).expect("right");
    assert_eq!(analysis.tasks[1].bound.response_ns, Some(12));
    // Above the first task it runs first, and the first sees its budget and not its tasks.
    let set = reserved(Server::Sporadic, 50);
    let analysis = analyse(&question(&set, FP)).expect("right");
    assert_eq!(analysis.tasks[0].bound.response_ns, Some(4));
    assert!(analysis.tasks[0].bound.made_of.iter().any(|part| part.what
        == What::Reservation {
            name: "vision".into(),
            budgets: 1
        }));
}

#[test]
fn overheads_shorten_what_a_reservation_gives() {
    let mut set = reserved(Server::Sporadic, 5);
    for task in &mut set {
        task.execution_ns *= 1000;
        let (period_ns, deadline_ns) = (task.period_ns() * 1000, task.deadline_ns * 2000);
        task.arrivals = wakepath_schedulability::Arrivals::Sporadic(period_ns);
        task.deadline_ns = deadline_ns;
        if let Some(reservation) = &mut task.reservation {
            reservation.budget_ns *= 1000;
            reservation.period_ns *= 1000;
        }
    }
    let free = analyse(&question(&set, FP)).expect("right");
    let costs = Costs {
        switch_ns: 10,
        release_ns: 5,
        event_ns: 7,
        ..Costs::default()
    };
    let asked = Question {
        overheads: Some(&costs),
        ..question(&set, FP)
    };
    let costly = analyse(&asked).expect("right");
    for (free, costly) in free.tasks.iter().zip(&costly.tasks) {
        assert!(costly.bound.response_ns > free.bound.response_ns);
    }
    // A budget that switches use up leaves nothing to prove.
    let costs = Costs {
        switch_ns: 500,
        ..costs
    };
    let asked = Question {
        overheads: Some(&costs),
        ..question(&set, FP)
    };
    let costly = analyse(&asked).expect("right");
    assert_eq!(costly.tasks[1].bound.response_ns, None);
    assert_eq!(costly.outcome, Outcome::NotProvable);
}

#[test]
fn the_kernel_s_server_holds_one_thread() {
    let set = reserved(Server::ConstantBandwidth, 5);
    let refused = analyse(&question(&set, Method::Deadline(1))).expect_err("two threads");
    assert!(matches!(refused, NotAnalysed::OneThread(_)));
    let mut set = set;
    set.pop();
    let analysis = analyse(&question(&set, Method::Deadline(1))).expect("right");
    assert_eq!(analysis.outcome, Outcome::Schedulable);
    let parameters = analysis.tasks[1].parameters.expect("DEADLINE");
    assert_eq!((parameters.runtime_ns, parameters.period_ns), (2, 10));
    let set = reserved(Server::Periodic, 5);
    let refused = analyse(&question(&set, Method::Deadline(1))).expect_err("no such server");
    assert!(matches!(refused, NotAnalysed::NoServerUnder { .. }));
}
