//! Sets whose old answers were not safe, each with a schedule that a machine can run.

use super::Dice;
use super::machine::{Entity, Job, Kernel, Machine, Thread};
use wakepath_schedulability::overheads::Costs;
use wakepath_schedulability::{
    Method, NotAnalysed, Outcome, Question, Reservation, Server, Task, analyse,
};

fn question<'a>(tasks: &'a [Task], method: Method, costs: Option<&'a Costs>) -> Question<'a> {
    Question {
        tasks,
        method,
        cpus: method.cluster_size(2),
        overheads: costs.map(|costs| costs as _),
    }
}

fn refused(tasks: &[Task], method: Method) -> String {
    let refused = analyse(&question(tasks, method, None)).expect_err("no proof");
    assert!(matches!(refused, NotAnalysed::Refused(_)), "{refused}");
    refused.to_string()
}

const FP: Method = Method::PartitionedFixedPriority;
const EDF: Method = Method::PartitionedEdf;

fn thread(priority: u32, deadline: u64, jobs: &[(u64, &[(u64, u64)])]) -> Thread {
    let jobs = jobs.iter().map(|(due, parts)| Job {
        due: *due,
        lag: 0,
        timer: 0,
        parts: parts.to_vec(),
    });
    Thread {
        priority,
        deadline,
        jobs: jobs.collect(),
        after: None,
        whole: false,
        stretch: 0,
        cold: 0,
    }
}

/// The longest response of the first thread, alone or next to others on one CPU.
fn longest(by_priority: bool, threads: Vec<Thread>, entities: Vec<Entity>, section: u64) -> u64 {
    let machine = Machine {
        cpus: 1,
        by_priority,
        pinned: vec![Some(0); entities.len()],
        entities,
        threads,
        kernel: Kernel {
            section,
            ..Kernel::default()
        },
        held: 100,
    };
    let most = (0..64).map(|seed| {
        let done = machine.play(100_000, &mut Dice::new(seed));
        let responses = done[0].iter().map(|job| job.end - job.due);
        responses.max().unwrap_or(0)
    });
    most.max().unwrap_or(0)
}

#[test]
fn a_kernel_section_delays_the_task_with_the_latest_deadline() {
    let mut only = Task::new("only", 500, 2000);
    only.deadline_ns = 550;
    let costs = Costs {
        section_ns: 100,
        ..Costs::default()
    };
    let own = thread(1, 550, &[(1000, &[(500, 0)])]);
    let played = longest(false, vec![own], vec![Entity::Plain { thread: 0 }], 100);
    assert_eq!(played, 599);
    for method in [EDF, Method::Deadline(1)] {
        let set = [only.clone()];
        let found = analyse(&question(&set, method, Some(&costs))).expect("right");
        assert_eq!(found.outcome, Outcome::NotProvable, "{method}");
        assert_eq!(found.tasks[0].bound.response_ns, Some(599), "{method}");
    }
}

#[test]
fn the_kernel_takes_no_deadline_beyond_the_period() {
    let (mut x, mut y) = (Task::new("x", 900, 1000), Task::new("y", 400, 10_000));
    (x.deadline_ns, y.deadline_ns) = (2000, 1200);
    let set = [x, y];
    let found = analyse(&question(&set, Method::Deadline(1), None)).expect("right");
    assert_eq!(found.outcome, Outcome::NotProvable);
    let asked = found.tasks[0].parameters.expect("DEADLINE");
    assert_eq!(asked.deadline_ns, 999);
    let y = thread(1, 1200, &[(0, &[(400, 0)])]);
    let x = thread(1, 2000, &[(0, &[(900, 0)]), (1000, &[(900, 0)])]);
    let server = |thread, runtime, deadline, period| Entity::Bandwidth {
        thread,
        runtime,
        deadline,
        period,
        kernel: false,
    };
    let servers = vec![server(0, 400, 1200, 10_000), server(1, 900, 1000, 1000)];
    let played = longest(false, vec![y, x], servers, 0);
    assert_eq!(played, 1300);
    assert!(!found.tasks[1].schedulable);
    assert!(
        found.tasks[1]
            .bound
            .response_ns
            .is_none_or(|bound| bound >= played)
    );
}

#[test]
fn a_thread_that_sleeps_has_its_deadline_postponed_by_the_kernel() {
    let mut a = Task::new("a", 4000, 10_000);
    a.suspension_ns = 100;
    let set = [a, Task::new("b", 2360, 4000)];
    let line = refused(&set, Method::Deadline(1));
    let expected =
        "a: suspension is not analysed under SCHED_DEADLINE, one CPU: the kernel may postpone";
    assert!(line.starts_with(expected), "{line}");
    // Played: after its sleep its deadline counts from the wake-up, and it misses its own.
    let a = thread(1, 10_000, &[(0, &[(2000, 100), (2000, 0)])]);
    let each: &[(u64, u64)] = &[(2360, 0)];
    let jobs: Vec<_> = (0..5).map(|job| (4000 * job, each)).collect();
    let b = thread(1, 4000, &jobs);
    let server = |thread, runtime, period| Entity::Bandwidth {
        thread,
        runtime,
        deadline: period,
        period,
        kernel: false,
    };
    let servers = vec![server(0, 4000, 10_000), server(1, 2360, 4000)];
    let played = longest(false, vec![a, b], servers, 0);
    assert!(played > 10_000, "{played}");
}

#[test]
fn a_job_that_sleeps_is_blocked_again_when_it_wakes() {
    let (mut high, mut low) = (Task::new("high", 200, 4000), Task::new("low", 300, 500));
    (high.deadline_ns, high.suspension_ns, high.priority) = (800, 200, 2);
    (low.deadline_ns, low.non_preemptive_ns, low.priority) = (2000, 300, 1);
    let set = [high, low];
    for method in [FP, EDF] {
        let line = refused(&set, method);
        assert!(
            line.contains("high: suspension with non-preemptive (low)"),
            "{line}"
        );
    }
    let high = thread(2, 800, &[(1, &[(100, 200), (100, 0)])]);
    let each: &[(u64, u64)] = &[(300, 0)];
    let jobs: Vec<_> = (0..3).map(|job| (500 * job, each)).collect();
    let mut low = thread(1, 2000, &jobs);
    (low.whole, low.stretch) = (true, 300);
    let plain = vec![Entity::Plain { thread: 0 }, Entity::Plain { thread: 1 }];
    assert_eq!(longest(true, vec![high, low], plain, 0), 899);
}

#[test]
fn a_stretch_in_a_reservation_outlasts_it() {
    let reservation = Reservation {
        name: "r".into(),
        server: Server::Periodic,
        budget_ns: 500,
        period_ns: 2000,
        priority: 5,
        cpu: None,
    };
    let (mut first, mut inside) = (Task::new("hp", 100, 1000), Task::new("in", 500, 4000));
    (first.deadline_ns, first.priority) = (200, 9);
    (inside.non_preemptive_ns, inside.priority) = (500, 1);
    inside.reservation = Some(reservation);
    let line = refused(&[first, inside], FP);
    assert!(
        line.starts_with("in: non-preemptive in a reservation is not analysed under P-FP: "),
        "{line}"
    );
}

#[test]
fn stretches_on_several_cpus_refute_nothing() {
    let task = |name: &str, execution, period, deadline, priority| {
        let mut task = Task::new(name, execution, period);
        (task.deadline_ns, task.priority) = (deadline, priority);
        task.non_preemptive_ns = execution;
        task
    };
    let set = [
        task("a", 200, 400, 400, 3),
        task("b", 200, 400, 400, 2),
        task("l", 300, 2000, 500, 1),
    ];
    let line = refused(&set, Method::GlobalFixedPriority);
    assert!(
        line.starts_with("a: non-preemptive is not analysed under G-FP: "),
        "{line}"
    );
}

#[test]
fn a_stretch_that_saves_its_own_job_refutes_no_set_on_one_cpu() {
    // Preempted, the low one would take 8; it never is, and takes 6. The first is blocked too long by the
    // kernel's section only.
    let (mut high, mut low) = (Task::new("high", 2, 5), Task::new("low", 4, 40));
    (high.deadline_ns, high.priority) = (6, 2);
    (low.deadline_ns, low.priority, low.non_preemptive_ns) = (7, 1, 4);
    let costs = Costs {
        section_ns: 6,
        ..Costs::default()
    };
    let set = [high, low];
    let bare = analyse(&question(&set, FP, None)).expect("right");
    assert_eq!(bare.outcome, Outcome::Schedulable);
    let found = analyse(&question(&set, FP, Some(&costs))).expect("right");
    assert_eq!(found.outcome, Outcome::NotProvable);
}

#[test]
fn without_a_proof_for_all_global_edf_bounds_none() {
    // Three tasks of two thirds on two CPUs, and one that is small.
    let mut set: Vec<Task> = (0..3)
        .map(|rank| Task::new(format!("{rank}"), 20, 30))
        .collect();
    set.push(Task::new("small", 1, 300));
    let found = analyse(&question(&set, Method::GlobalEdf, None)).expect("right");
    assert_ne!(found.outcome, Outcome::Schedulable);
    for task in &found.tasks {
        assert_eq!((task.bound.response_ns, task.schedulable), (None, false));
        assert!(task.bound.made_of.is_empty());
    }
}
