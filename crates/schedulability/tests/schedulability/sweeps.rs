//! Sweeps: the quick forms that judge random sets against the analyses that answer for one set.

use wakepath_schedulability::overheads::Costs;
use wakepath_schedulability::sweep::{
    Distribution, Generator, Judge, Plan, Profile, Random, Stop, Tally, Work,
};
use wakepath_schedulability::{Fit, Method, Question, Task, place};

const COSTS: Costs = Costs {
    event_ns: 20_000,
    release_ns: 8_000,
    scheduling_ns: 6_000,
    switch_ns: 4_000,
    ipi_ns: 5_000,
    tick_ns: 3_000,
    tick_period_ns: 4_000_000,
    section_ns: 0,
};

/// The command's answer for the set: whether tasks can be placed so that all is proved.
fn answered(set: &[Task], method: Method, cpus: u16, costs: Option<&Costs>) -> bool {
    let question = Question {
        tasks: set,
        method,
        cpus,
        overheads: costs.map(|costs| costs as _),
    };
    match method {
        Method::GlobalEdf => wakepath_schedulability::analyse(&question)
            .is_ok_and(|found| found.outcome == wakepath_schedulability::Outcome::Schedulable),
        _ => place(&question, Fit::Worst, 1).is_ok(),
    }
}

#[test]
fn a_sweep_judges_each_set_as_the_analysis_of_that_set_does() {
    let with_sections = Costs {
        section_ns: 60_000,
        ..COSTS
    };
    let kernels = [None, Some(COSTS), Some(with_sections)];
    let methods = [
        Method::PartitionedFixedPriority,
        Method::PartitionedEdf,
        Method::GlobalEdf,
        Method::ClusteredEdf(2),
    ];
    let mut judge = Judge::default();
    let (mut values, mut drawn) = (Vec::new(), Vec::new());
    for method in methods {
        for costs in &kernels {
            let profile = match costs {
                None => Profile::ideal(),
                Some(costs) => Profile::new("costly", costs, 40),
            };
            let mut found = [0_u32; 2];
            for index in 0..40 {
                let mut random = Random::new(9, 1, index);
                let sum = 1.2 + 2.8 * random.unit();
                Generator::new(&Distribution::medium(), sum, 1_000_000, 50_000_000).draw(
                    &mut random,
                    &mut values,
                    &mut drawn,
                );
                let tasks: Vec<Task> = drawn
                    .iter()
                    .enumerate()
                    .map(|(place, task)| {
                        Task::new(format!("task {place}"), task.execution_ns, task.period_ns)
                    })
                    .collect();
                let quick = judge.holds(&drawn, method, 4, &profile);
                let slow = answered(&tasks, method, 4, costs.as_ref());
                assert_eq!(quick, slow, "{method} {costs:?} {tasks:?}");
                found[usize::from(quick)] += 1;
            }
            // No test of several CPUs knows of kernel sections.
            let sections = costs.is_some_and(|costs| costs.section_ns > 0);
            if sections && method.cluster_size(4) > 1 {
                assert_eq!(found, [40, 0], "{method}")
            } else {
                assert!(
                    found.iter().all(|count| *count > 1),
                    "{method} {costs:?} {found:?}"
                )
            }
        }
    }
}

fn plan() -> Plan {
    Plan {
        cpus: 2,
        seed: 1,
        methods: vec![Method::PartitionedEdf, Method::GlobalEdf],
        profiles: vec![Profile::ideal(), Profile::new("costly", &COSTS, 40)],
        distributions: vec![Distribution::light(), Distribution::medium()],
        utilizations: vec![500, 800, 1000],
        periods_ns: (1_000_000, 100_000_000),
        stop: Stop {
            half_width: 0.03,
            most: 1200,
        },
    }
}

#[test]
fn a_block_is_the_same_whatever_was_judged_before_it() {
    let plan = plan();
    let points = plan.points();
    assert_eq!((points.len(), plan.curves().len()), (6, 4));
    let after = |sets| Tally {
        sets,
        ..Tally::default()
    };
    let fresh = |number: usize, done| {
        plan.block(
            &mut Work::default(),
            number,
            &plan.generator(&points[number]),
            &after(done),
        )
    };
    let mut used = Work::default();
    for number in [4, 1, 5] {
        for done in [1000, 0] {
            let generator = plan.generator(&points[number]);
            let again = plan.block(&mut used, number, &generator, &after(done));
            assert_eq!(again, fresh(number, done));
        }
    }
    assert_eq!(
        fresh(4, 1000).sets,
        200,
        "no more sets than the plan allows"
    );
    assert_ne!(fresh(4, 0), fresh(4, 500));
}

#[test]
fn a_point_is_known_when_its_widest_interval_is_narrow_or_the_sets_are_spent() {
    let plan = plan();
    let tally = |sets, held: [u64; 4]| Tally {
        sets,
        judged: vec![sets; 4],
        held: held.to_vec(),
    };
    assert!(!plan.is_known(&tally(0, [0; 4])));
    // All or nothing: half of z² / (n + z²), 0.004 after 500.
    assert!(plan.is_known(&tally(500, [0, 500, 500, 0])));
    // Half and half: about 0.044 after 500, 0.031 after 1000, 0.028 after 1200.
    assert!(!plan.is_known(&tally(500, [0, 500, 250, 0])));
    assert!(!plan.is_known(&tally(1000, [0, 1000, 500, 0])));
    assert!(plan.is_known(&tally(1200, [0, 1200, 600, 0])));
    let (low, high) = tally(1000, [0, 1000, 500, 0]).interval(2);
    assert!(
        (low - 0.469).abs() < 5e-4 && (high - 0.531).abs() < 5e-4,
        "{low} {high}"
    );
}

#[test]
fn a_curve_that_is_known_judges_no_further_sets_and_says_how_many_it_judged() {
    let plan = plan();
    let number = 1;
    let generator = plan.generator(&plan.points()[number]);
    let mut work = Work::default();
    let first = plan.block(&mut work, number, &generator, &Tally::default());
    assert_eq!(first.judged, [500; 4]);
    let mut known = first.clone();
    // As if the second had held for none, and the others for half.
    known.held = vec![250, 0, 250, 250];
    let next = plan.block(&mut work, number, &generator, &known);
    assert_eq!(next.judged, [500, 0, 500, 500]);
    assert_eq!(next.held[1], 0);
    known.add(&next);
    assert_eq!(
        (known.sets, known.judged[1], known.judged[0]),
        (1000, 500, 1000)
    );
    assert_eq!(
        known.interval(1),
        Tally {
            sets: 500,
            judged: vec![500; 4],
            held: vec![0; 4]
        }
        .interval(1)
    );
}
