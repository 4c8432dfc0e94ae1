//! Tasks that release each other, and values that are handed on.

use crate::fixed_priority::ordered;
use wakepath_schedulability::overheads::Costs;
use wakepath_schedulability::{
    Chain, Method, NotAnalysed, Outcome, Question, Task, analyse, end_to_end,
};

fn question(tasks: &[Task]) -> Question<'_> {
    Question {
        tasks,
        method: Method::PartitionedFixedPriority,
        cpus: 2,
        overheads: None,
    }
}

/// A on CPU 0 releases B on CPU 1, where C of higher priority runs every 4.
fn released() -> Vec<Task> {
    let mut set = ordered(&[(1, 4), (2, 10), (3, 10)]);
    for (task, (name, cpu)) in set.iter_mut().zip([("c", 1), ("a", 0), ("b", 1)]) {
        task.name = name.into();
        task.cpu = Some(cpu);
    }
    set[2].after = Some("a".into());
    set
}

#[test]
fn a_released_task_is_as_late_as_what_releases_it() {
    let set = released();
    let analysis = analyse(&question(&set)).expect("right");
    let responses: Vec<_> = analysis
        .tasks
        .iter()
        .map(|task| task.bound.response_ns)
        .collect();
    // 2 of A, then 3 + 1 of C.
    assert_eq!(responses, [Some(1), Some(2), Some(6)]);
    assert_eq!(analysis.outcome, Outcome::Schedulable);
    let chain = Chain {
        name: "sense-act".into(),
        tasks: vec![1, 2],
        deadline_ns: None,
    };
    let found = end_to_end(&set, &analysis, &chain)
        .expect("fits")
        .expect("bounded");
    assert_eq!((found.latency_ns, found.reaction_ns), (6, 16));
    let costs = Costs {
        ipi_ns: 2,
        ..Costs::default()
    };
    let told = Question {
        overheads: Some(&costs),
        ..question(&set)
    };
    let analysis = analyse(&told).expect("right");
    assert_eq!(analysis.tasks[2].bound.response_ns, Some(8));
}

#[test]
fn values_that_are_read_wait_for_a_period_at_most() {
    let mut set = ordered(&[(2, 10), (5, 20)]);
    set[0].cpu = Some(0);
    set[1].cpu = Some(1);
    let analysis = analyse(&question(&set)).expect("right");
    let chain = Chain {
        name: "log".into(),
        tasks: vec![0, 1],
        deadline_ns: None,
    };
    let found = end_to_end(&set, &analysis, &chain)
        .expect("fits")
        .expect("bounded");
    // 2, then up to 20 until it is read, and 5.
    assert_eq!((found.latency_ns, found.reaction_ns), (27, 37));
}

#[test]
fn a_mixed_chain_counts_each_release_once() {
    let mut set = released();
    let mut reader = Task::new("d", 1, 8);
    (reader.cpu, reader.priority) = (Some(0), 9);
    set.push(reader);
    let analysis = analyse(&question(&set)).expect("right");
    let chain = Chain {
        name: "all".into(),
        tasks: vec![3, 1, 2],
        deadline_ns: None,
    };
    let found = end_to_end(&set, &analysis, &chain)
        .expect("fits")
        .expect("bounded");
    // D is done after 1, A reads within its period, and B ends 7 after A was due.
    let b = analysis.tasks[2].bound.response_ns.expect("bounded");
    assert_eq!(found.latency_ns, 1 + 10 + b);
}

#[test]
fn circles_and_names_that_are_not_there_are_refused() {
    let mut set = released();
    set[1].after = Some("b".into());
    let refused = analyse(&question(&set)).expect_err("a circle");
    assert!(matches!(refused, NotAnalysed::Circle(_)), "{refused}");
    set[1].after = Some("nobody".into());
    let refused = analyse(&question(&set)).expect_err("nobody");
    assert!(
        matches!(refused, NotAnalysed::NoSuchTask { .. }),
        "{refused}"
    );
    set[1].after = None;
    let edf = Question {
        method: Method::PartitionedEdf,
        ..question(&set)
    };
    let refused = analyse(&edf).expect_err("EDF");
    assert_eq!(
        refused.to_string(),
        "b: after is not analysed under P-EDF: only P-FP analyses tasks that release each other; give \
         it a period"
    );
}

#[test]
fn a_chain_that_feeds_its_own_lateness_has_no_bound() {
    // Two chains cross: each is before the other's end, and both CPUs are almost full.
    let mut set = ordered(&[(5, 10), (5, 10), (5, 10), (5, 10)]);
    for (task, (name, cpu, priority)) in
        set.iter_mut()
            .zip([("a1", 0, 1), ("a2", 1, 9), ("b1", 1, 1), ("b2", 0, 9)])
    {
        task.name = name.into();
        (task.cpu, task.priority) = (Some(cpu), priority);
    }
    set[1].after = Some("a1".into());
    set[3].after = Some("b1".into());
    let analysis = analyse(&question(&set)).expect("right");
    assert_eq!(analysis.outcome, Outcome::NotProvable);
    assert!(analysis.tasks.iter().all(|task| !task.schedulable));
}
