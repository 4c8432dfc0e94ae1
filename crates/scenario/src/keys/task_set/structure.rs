//! Chains, reservations and the kernel's limits of a task set.

use super::MOST_TASKS;
use crate::keys::form::{List, Name, Words, time, whole};
use crate::keys::visitor::Keys;
use wakepath_schedulability::sched_deadline::KernelLimit;
use wakepath_schedulability::{Method, Reservation, Server};

const SERVERS: &[(&str, Server)] = &[
    ("periodic", Server::Periodic),
    ("sporadic", Server::Sporadic),
    ("constant-bandwidth", Server::ConstantBandwidth),
];

pub(crate) fn reservation_blank() -> Reservation {
    Reservation {
        name: String::new(),
        server: Server::Periodic,
        budget_ns: 0,
        period_ns: 0,
        priority: 0,
        cpu: None,
    }
}

pub(crate) fn reservation(
    keys: &mut Keys<'_>,
    own: &mut Reservation,
    earlier: &[Reservation],
    method: Option<Method>,
    cpus: u16,
) {
    keys.title(
        "a reservation",
        "Reserved CPU time: a budget in each period, and no more.",
    );
    keys.required("name", Name("vision"), "Its name.", &mut own.name);
    let twice = earlier.iter().any(|other| other.name == own.name);
    keys.refuse_twice(twice, "reservation");
    keys.required(
        "budget",
        time("3 ms"),
        "CPU time in each period.",
        &mut own.budget_ns,
    );
    keys.required("period", time("10 ms"), "Its period.", &mut own.period_ns);
    if keys.complete() && (own.budget_ns == 0 || own.budget_ns > own.period_ns) {
        let remedy = "give a time above 0 and at most the period";
        keys.refuse_value("budget", "is not a budget within its period", remedy);
    }
    let mut server = Some(own.server);
    keys.optional(
        "server",
        Words(SERVERS),
        "\"periodic\"; \"constant-bandwidth\" with SCHED_DEADLINE",
        "Replenishment of the budget. A periodic server gets it at the start of each period, and loses what is not \
         used. A constant-bandwidth server holds one thread, as with SCHED_DEADLINE. A sporadic server is refused: \
         no proof is built in.",
        &mut server,
    );
    own.server = server.unwrap_or(match method {
        Some(Method::Deadline(_)) => Server::ConstantBandwidth,
        _ => Server::Periodic,
    });
    let mut priority = Some(own.priority).filter(|priority| *priority > 0);
    keys.optional(
        "priority",
        whole(1, 99),
        "needed by P-FP and G-FP",
        "Priority among the other tasks of its CPU; the greater number first.",
        &mut priority,
    );
    own.priority = priority.unwrap_or(0);
    keys.optional(
        "cpu",
        whole(0, 1023),
        "needed by P-FP and P-EDF with several CPUs",
        "Its CPU.",
        &mut own.cpu,
    );
    if method.is_some_and(Method::by_priority) && keys.given("priority").is_none() {
        keys.missing("priority", "give a number from 1 to 99, the greater first");
    }
    let apart = method.is_some_and(|method| method.cluster_size(cpus) < cpus);
    if apart && keys.given("cpu").is_none() {
        keys.missing("cpu", "give the CPU that the reservation is on");
    }
    if own.cpu.is_some_and(|cpu| cpu >= cpus) {
        let remedy = format!("give 0 to {}", cpus - 1);
        keys.refuse_value("cpu", "is beyond the last CPU", remedy);
    }
}

/// A chain by the names of its tasks.
#[derive(Clone, Default)]
pub(crate) struct NamedChain {
    pub(super) name: String,
    pub(super) tasks: Vec<String>,
    pub(super) deadline_ns: Option<u64>,
}

/// A chain; `names`: of the set's tasks.
pub(crate) fn chain(keys: &mut Keys<'_>, own: &mut NamedChain, names: Option<&[&str]>) {
    keys.title(
        "a chain",
        "Tasks that pass a value on, in order. A task that is not released by its predecessor reads the value at \
         its own next release.",
    );
    let tasks = List {
        item: Name("imu"),
        least: 2,
        most: MOST_TASKS,
    };
    keys.required("name", Name("sense-act"), "Its name.", &mut own.name);
    let remedy = "give names of tasks, such as [\"imu\", \"control\"]";
    let given = keys.given("tasks");
    keys.required(
        "tasks",
        tasks,
        "Names of its tasks, in order; none twice.",
        &mut own.tasks,
    );
    let items = given.and_then(|node| node.items(MOST_TASKS, remedy).ok());
    let items = items.unwrap_or_default();
    if let (Some(names), true) = (names, items.len() == own.tasks.len()) {
        for (index, (item, name)) in items.iter().zip(&own.tasks).enumerate() {
            if !names.contains(&name.as_str()) {
                keys.refuse(item.refuse("is not a task of this set", remedy));
            } else if own.tasks[..index].contains(name) {
                let problem = "appears twice in its chain, and a circular chain has no end";
                keys.refuse(item.refuse(problem, "leave it out, or make two chains of it"));
            }
        }
    }
    keys.optional(
        "deadline",
        time("20 ms"),
        "none: the bound is reported",
        "From the first task's due time to the end of the last.",
        &mut own.deadline_ns,
    );
}

const SECOND_NS: u64 = 1_000_000_000;

pub(crate) fn admission(keys: &mut Keys<'_>, limit: &mut KernelLimit) {
    keys.title(
        "admission",
        "The kernel's limits for SCHED_DEADLINE, on each CPU.",
    );
    let mut runtime_ns = limit.runtime_ns.unwrap_or(limit.period_ns);
    let (mut server_ns, mut server_period_ns) = limit.server.unwrap_or((0, SECOND_NS));
    keys.or(
        "runtime",
        time("950 ms"),
        SECOND_NS / 1000 * 950,
        "`kernel.sched_rt_runtime_us`; as long as the period for no limit.",
        &mut runtime_ns,
    );
    keys.or(
        "period",
        time("1 s").above_0(),
        SECOND_NS,
        "`kernel.sched_rt_period_us`.",
        &mut limit.period_ns,
    );
    keys.or(
        "server-runtime",
        time("50 ms"),
        0,
        "The kernel's server for ordinary threads (Linux 6.12 and later: 50 ms), from \
         `/sys/kernel/debug/sched/fair_server`.",
        &mut server_ns,
    );
    keys.or(
        "server-period",
        time("1 s").above_0(),
        SECOND_NS,
        "Its period.",
        &mut server_period_ns,
    );
    for (key, part, whole) in [
        ("runtime", runtime_ns, limit.period_ns),
        ("server-runtime", server_ns, server_period_ns),
    ] {
        if keys.complete() && part > whole {
            keys.refuse_value(key, "is longer than its period", "give at most the period");
        }
    }
    // The whole period means no limit: sched_rt_runtime_us = -1.
    limit.runtime_ns = Some(runtime_ns).filter(|runtime| *runtime < limit.period_ns);
    limit.server = (server_ns > 0).then_some((server_ns, server_period_ns));
}
