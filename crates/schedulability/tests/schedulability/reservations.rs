//! Reservations: their minimum supply, and the tasks that run in them.

use crate::fixed_priority::ordered;
use wakepath_schedulability::overheads::Costs;
use wakepath_schedulability::reservation::{Supply, responses_within};
use wakepath_schedulability::{
    Arrivals, Method, NotAnalysed, Outcome, Overheads, Question, Reservation, Server, Task, What,
    analyse,
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
    // Nor has it one where each round asks for twice as much: no sum is worked out that doesn't fit.
    let heavy = ordered(&[(1, 20), (16, 20), (1, 200)]);
    let found = responses_within(&heavy, &supply, "vision", &[]).expect("fits");
    let found = found.iter().map(|bound| bound.response_ns);
    assert_eq!(found.collect::<Vec<_>>(), [Some(7), None, None]);
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
    let responses = |set: &[Task], method| {
        let analysis = analyse(&question(set, method)).expect("right");
        assert_eq!(analysis.outcome, Outcome::Schedulable);
        let tasks = analysis.tasks.iter();
        tasks.map(|task| task.bound.response_ns).collect::<Vec<_>>()
    };
    // A periodic server that responds within 4 gives its budget by then, so that nothing is given for
    // (10 − 2) + (4 − 2); 2 and then 2 + 4 needed: 10 + 2, 10 + 2 · 10 + 2.
    let set = reserved(Server::Periodic, 5);
    assert_eq!(responses(&set, FP), [Some(2), Some(12), Some(32)]);
    // A constant-bandwidth server may give its budget at its period's end: 16 + 2.
    let mut set = reserved(Server::ConstantBandwidth, 0);
    set.pop();
    let found = responses(&set, Method::PartitionedEdf);
    assert_eq!(found, [None, Some(18)]);
    // Above the first task it runs first, and the first sees its budget and not its tasks.
    let set = reserved(Server::Periodic, 50);
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
    let mut set = in_microseconds(reserved(Server::Periodic, 5));
    for task in &mut set {
        task.deadline_ns *= 2;
    }
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
    let responses: Vec<_> = costly
        .tasks
        .iter()
        .map(|task| task.bound.response_ns)
        .collect();
    // Late by 7 + 5 each. The first: 2000 + 20, a release of each of the other two, of the server and
    // of itself. Each budget: 2000 − 3 · 20 = 1940, for the first, once late and once not, comes twice in
    // its period. The server ends within 2 · 2020 and four releases, late by 12: 4072, with a blackout of
    // 8060 + 2132. The second: 2020, a release of each of the two within and
    // three of the first take two budgets, of the second 105. The third: 4020, two of 2020, two releases
    // of each within and six of the first are 8110: five budgets, of the fifth 350.
    let expected = [
        2020 + 20 + 12,
        10_192 + 10_000 + 105 + 12,
        10_192 + 40_000 + 350 + 12,
    ];
    assert_eq!(responses, expected.map(Some));
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

/// Only the cache cost of a preemption.
struct Caches(u64);

impl Overheads for Caches {
    fn costs(&self, _tasks: usize) -> Costs {
        Costs::default()
    }

    fn cache_delay_ns(&self, working_set_bytes: u64, _moves: bool) -> u64 {
        if working_set_bytes == 0 { 0 } else { self.0 }
    }
}

/// A job of `needs` in a periodic server of 2000 in 10 000, which arrives when the server has idled its first budget
/// away; before it comes another of 100 in each `often`, with work from the second budget on. Each time that one has
/// worked, the job fetches its caches again for `lost`. The job's response, played step by step.
fn played(often: u64, lost: u64, needs: u64) -> u64 {
    const STEP: u64 = 10;
    let (mut own, mut other, mut others_work) = (0, 0, 2000);
    let (mut arrived, mut done, mut cold, mut evicted) = (None, 0, 0, false);
    for at in (0..1_000_000).step_by(STEP as usize) {
        if at % often == 0 {
            other = 100;
        }
        if at % 10_000 == 0 {
            own = 2000;
        }
        if other > 0 {
            other -= STEP;
            if at >= 10_000 && others_work > 0 {
                others_work -= STEP;
                evicted = done > 0;
            }
        } else if own > 0 {
            own -= STEP;
            let Some(arrived) = arrived else {
                continue;
            };
            if std::mem::take(&mut evicted) {
                cold = lost;
            }
            match cold {
                0 => done += STEP,
                _ => cold -= STEP,
            }
            if done == needs {
                return at + STEP - arrived;
            }
        } else if arrived.is_none() {
            arrived = Some(at);
        }
    }
    panic!("never done")
}

#[test]
fn a_budget_that_comes_back_preempts_as_a_job_does() {
    let mut bounded = 0;
    for often in [500, 1000, 2000, 4000] {
        for lost in [20, 40, 80, 160] {
            let needs = 2000 - 2 * lost;
            let server = |name: &str, budget_ns, period_ns, priority| Reservation {
                name: name.into(),
                server: Server::Periodic,
                budget_ns,
                period_ns,
                priority,
                cpu: None,
            };
            let mut own = Task::new("own", needs, 200_000);
            own.reservation = Some(server("own", 2000, 10_000, 5));
            own.working_set_bytes = 1;
            let mut other = Task::new("other", 2000, 200_000);
            other.reservation = Some(server("other", 100, often, 9));
            let set = [own, other];
            let caches = Caches(lost);
            let asked = Question {
                overheads: Some(&caches),
                ..question(&set, FP)
            };
            let analysis = analyse(&asked).expect("right");
            // No bound is no promise.
            if let Some(bound) = analysis.tasks[0].bound.response_ns {
                let response = played(often, lost, needs);
                assert!(
                    bound >= response,
                    "bound {bound}, played {response}: every {often}, {lost} lost"
                );
                bounded += 1;
            }
        }
    }
    assert!(bounded >= 8, "{bounded} sets have a bound");
}

#[test]
fn servers_without_a_proof_are_refused_by_name() {
    let refused = |server, method| {
        let mut set = reserved(server, 5);
        set.pop();
        let refused = analyse(&question(&set, method)).expect_err("no proof");
        assert!(matches!(refused, NotAnalysed::Refused(_)), "{refused}");
        refused.to_string()
    };
    let sporadic = refused(Server::Sporadic, FP);
    let expected =
        "vision: a sporadic server is not analysed under P-FP: published replenishment rules";
    assert!(sporadic.starts_with(expected), "{sporadic}");
    let by_priority = refused(Server::ConstantBandwidth, FP);
    assert!(
        by_priority.contains("a deadline and no priority"),
        "{by_priority}"
    );
    let by_kernel = refused(Server::Periodic, Method::Deadline(1));
    assert!(
        by_kernel.contains("constant-bandwidth servers only"),
        "{by_kernel}"
    );
}

#[test]
fn the_kernel_s_server_holds_one_thread() {
    let set = reserved(Server::ConstantBandwidth, 5);
    let refused = analyse(&question(&set, Method::Deadline(1))).expect_err("two threads");
    assert!(matches!(refused, NotAnalysed::OneThread(_)));
    let mut set = in_microseconds(set);
    set.pop();
    let analysis = analyse(&question(&set, Method::Deadline(1))).expect("right");
    assert_eq!(analysis.outcome, Outcome::Schedulable);
    let parameters = analysis.tasks[1].parameters.expect("DEADLINE");
    assert_eq!(
        (parameters.runtime_ns, parameters.period_ns),
        (2000, 10_000)
    );
    // The kernel compares budgets in units of 1024 ns, and so late can one end: a blackout of
    // 8000 + 9024, and 2000.
    assert_eq!(analysis.tasks[1].bound.response_ns, Some(19_024));
}

/// Times a thousand: the kernel's own shortest runtime is 1024 ns.
fn in_microseconds(mut set: Vec<Task>) -> Vec<Task> {
    for task in &mut set {
        let period_ns = task.period_ns() * 1000;
        task.execution_ns *= 1000;
        task.deadline_ns *= 1000;
        task.arrivals = Arrivals::Sporadic(period_ns);
        if let Some(reservation) = &mut task.reservation {
            reservation.budget_ns *= 1000;
            reservation.period_ns *= 1000;
        }
    }
    set
}

#[test]
fn a_release_within_a_reservation_interrupts_once() {
    let mut set = in_microseconds(reserved(Server::Periodic, 5));
    set.pop();
    set[1].execution_ns = 1000;
    let costs = Costs {
        release_ns: 5,
        event_ns: 7,
        ..Costs::default()
    };
    let responses = |tasks: &[Task], cpus| {
        let asked = Question {
            overheads: Some(&costs),
            cpus,
            ..question(tasks, FP)
        };
        let analysis = analyse(&asked).expect("right");
        let responses = analysis.tasks.iter();
        responses
            .map(|task| task.bound.response_ns)
            .collect::<Vec<_>>()
    };
    // The first: its own 2000, three releases of 5 (its own, the server's, that of the task within),
    // late by 7 + 5. The server ends within 4015 + 12. The one within: a blackout of 8000 + 2027, its
    // own 1000, its release once and the first's twice in 11 042, late by 7 + 5.
    assert_eq!(responses(&set, 1), [Some(2027), Some(11_054)]);
    // What another CPU does is no matter here, in a reservation or out of one.
    for task in &mut set {
        task.cpu = Some(0);
    }
    set[1].reservation.as_mut().expect("reserved").cpu = Some(0);
    let mut busy = Task::new("busy", 100, 1000);
    (busy.cpu, busy.priority) = (Some(1), 3);
    let mut apart = busy.clone();
    (apart.name, apart.priority) = ("apart".into(), 4);
    apart.reservation = Some(Reservation {
        name: "elsewhere".into(),
        server: Server::Periodic,
        budget_ns: 500,
        period_ns: 1000,
        priority: 9,
        cpu: Some(1),
    });
    set.extend([busy, apart]);
    assert_eq!(responses(&set, 2)[..2], [Some(2027), Some(11_054)]);
}

#[test]
fn switches_of_another_cpu_take_nothing_of_a_budget() {
    let mut set = in_microseconds(reserved(Server::Periodic, 5));
    set.pop();
    let costs = Costs {
        switch_ns: 10,
        ..Costs::default()
    };
    for task in &mut set {
        task.cpu = Some(0);
    }
    set[1].reservation.as_mut().expect("reserved").cpu = Some(0);
    let mut busy = Task::new("busy", 100, 1000);
    (busy.cpu, busy.priority) = (Some(1), 3);
    set.push(busy);
    let asked = Question {
        overheads: Some(&costs),
        cpus: 2,
        ..question(&set, FP)
    };
    // 20 for the budget's own switches and 20 for the first task's: 1960 are left, so that 2020 take
    // two budgets: a blackout of 8040 + (4040 − 1960), a period, and the 60 that are left.
    let analysis = analyse(&asked).expect("right");
    assert_eq!(analysis.tasks[1].bound.response_ns, Some(20_180));
}

#[test]
fn what_holds_with_overheads_under_earliest_deadline_first_is_schedulable() {
    let mut set = in_microseconds(reserved(Server::Periodic, 5));
    set.pop();
    let costs = Costs {
        switch_ns: 10,
        ..Costs::default()
    };
    let asked = |tasks: &[Task]| {
        let asked = Question {
            overheads: Some(&costs),
            ..question(tasks, Method::PartitionedEdf)
        };
        analyse(&asked).expect("right")
    };
    // Budget and first task take 2020 of 10 000 each. The budget gives 2000 − 2 · 20 = 1960, the task
    // needs 2000 + 20: a blackout of 8040 + (4040 − 1960), a period, and 60.
    let analysis = asked(&set);
    assert_eq!(analysis.tasks[1].bound.response_ns, Some(20_180));
    assert_eq!(analysis.outcome, Outcome::Schedulable);
    assert!(analysis.tasks.iter().all(|task| task.schedulable));
    // Due within 20 µs it is not shown to be in time.
    set[1].deadline_ns = 20_000;
    assert_eq!(asked(&set).outcome, Outcome::NotProvable);
}

#[test]
fn a_reservation_asks_the_kernel_whether_or_not_its_tasks_hold() {
    let mut set = reserved(Server::ConstantBandwidth, 5);
    set.remove(0);
    for (place, task) in set.iter_mut().enumerate() {
        let reservation = task.reservation.as_mut().expect("reserved");
        reservation.name = format!("server {place}");
        reservation.budget_ns = 6;
    }
    let analysis = analyse(&question(&set, Method::Deadline(1))).expect("right");
    for task in &analysis.tasks {
        assert_eq!(task.bound.response_ns, None);
        let parameters = task.parameters.expect("DEADLINE");
        assert_eq!((parameters.runtime_ns, parameters.period_ns), (6, 10));
    }
}
