//! One task of a set: its execution, arrivals and scheduling.

use crate::document::Node;
use crate::error::Findings;
use crate::keys::form::{Form, List, Name, TEXT, between, size, time, whole};
use crate::keys::period::RateWithin;
use crate::keys::shape::Shape;
use crate::keys::visitor::{Context, Keys, described, read};
use crate::task_set::{Executions, MeasuredExecution};
use crate::units::Rate;
use wakepath_schedulability::{Arrivals, Method, Reservation, Task};

const ARRIVAL_KEYS: &[&str] = &["period", "rate", "distances", "after"];
const EXECUTION: &str =
    "give a time such as \"3 ms\", or { run = \"PATH\", section = \"control\" }";

/// Context that a task's keys depend on.
pub(super) struct Terms<'a> {
    pub(super) method: Option<Method>,
    pub(super) cpus: u16,
    pub(super) assigned: bool,
    pub(super) reservations: &'a [Reservation],
    pub(super) executions: &'a Executions<'a>,
}

/// A task as it is read.
pub(crate) struct SetTask {
    pub(super) task: Task,
    /// Whether it has its own deadline.
    pub(super) has_deadline: bool,
    pub(super) note: Option<String>,
}

impl From<Task> for SetTask {
    fn from(task: Task) -> Self {
        Self {
            task,
            has_deadline: true,
            note: None,
        }
    }
}

impl SetTask {
    pub(super) fn blank() -> Self {
        Task::new("", 0, 1).into()
    }
}

pub(super) fn declare(
    keys: &mut Keys<'_>,
    own: &mut SetTask,
    earlier: &[SetTask],
    terms: &Terms<'_>,
) {
    keys.title(
        "a task of a task set",
        "A sequence of jobs. Name, execution and period are required; P-FP and G-FP also need a priority.",
    );
    let SetTask {
        task,
        has_deadline,
        note,
    } = own;
    keys.required("name", Name("imu"), "Its name.", &mut task.name);
    let twice = earlier.iter().any(|other| other.task.name == task.name);
    keys.refuse_twice(twice, "task");
    execution_key(keys, task, note, terms.executions);
    arrivals(keys, task, terms);
    let mut deadline_ns = Some(task.deadline_ns);
    keys.optional(
        "deadline",
        time("3 ms"),
        "the period",
        "Time from a job's due time to the required end of its work.",
        &mut deadline_ns,
    );
    *has_deadline = deadline_ns.is_some();
    task.deadline_ns = deadline_ns.unwrap_or_else(|| task.period_ns());
    keys.optional(
        "offset",
        time("3 ms"),
        "unknown: jobs of all tasks can be due at the same time",
        "Due time of the first job, on a clock shared by all tasks with an offset; such a task is strictly periodic.",
        &mut task.offset_ns,
    );
    let mut part = |name, about, field: &mut u64| keys.or(name, time("3 ms"), 0, about, field);
    part(
        "jitter",
        "Maximum delay of a job's release after its due time, in addition to overheads.",
        &mut task.jitter_ns,
    );
    part(
        "blocking",
        "Maximum time that tasks of lower priority run while a job of this task, or of one with higher priority, \
         waits for a lock.",
        &mut task.blocking_ns,
    );
    part(
        "suspension",
        "Maximum time that a job sleeps between its start and its end.",
        &mut task.suspension_ns,
    );
    part(
        "non-preemptive",
        "Longest non-preemptible section of a job; if equal to the execution, the job can't be preempted at all.",
        &mut task.non_preemptive_ns,
    );
    keys.or(
        "working-set",
        size(0, u64::MAX),
        0,
        "Memory that a job works on, for the cache-related delay.",
        &mut task.working_set_bytes,
    );
    scheduling(keys, task, earlier, terms);
    keys.optional(
        "runtime",
        time("3 ms"),
        "the execution with its overheads",
        "SCHED_DEADLINE's runtime; only with that policy.",
        &mut task.runtime_ns,
    );
}

/// A time, or a run to take it from.
fn execution_key(
    keys: &mut Keys<'_>,
    task: &mut Task,
    note: &mut Option<String>,
    executions: &Executions<'_>,
) {
    let name = task.name.clone();
    keys.nested(
        "execution",
        (
            Err(EXECUTION),
            "Maximum CPU time of a job, without interrupts; or a recorded run to take it from.",
        ),
        &mut task.execution_ns,
        || {
            let table = described(execution_blank(), execution);
            Shape::Either(vec![time("").shape(), Shape::Table(Box::new(table))])
        },
        |node, context, findings| {
            if node.as_text().is_some() {
                return findings.keep(time("3 ms").read(node));
            }
            let (ns, from) = read_execution(node, context, executions, findings)?;
            let name = if name.is_empty() { "a task" } else { &name };
            *note = Some(format!("{name}: {from}"));
            Some(ns)
        },
        |ns| Some(time("").write(ns)),
    );
}

fn read_execution(
    node: &Node<'_>,
    context: Context<'_>,
    executions: &Executions<'_>,
    findings: &mut Findings,
) -> Option<(u64, String)> {
    let table = findings.keep(node.table(EXECUTION))?;
    let wanted = read(&table, context, findings, execution_blank(), execution)?;
    match executions(&wanted) {
        Ok(found) => Some((found.ns, found.from)),
        Err(why) => {
            let problem = format!("is not available: {why}");
            findings.push(node.refuse(problem, "give a run that has it, or a time"));
            None
        }
    }
}

pub(crate) fn execution_blank() -> MeasuredExecution {
    MeasuredExecution {
        run: String::new(),
        section: String::new(),
        quantile: None,
        confidence: None,
    }
}

pub(crate) fn execution(keys: &mut Keys<'_>, wanted: &mut MeasuredExecution) {
    keys.title(
        "an execution from a run",
        "CPU time from a recorded run; if the run has none, elapsed time, which includes preemptions. An \
         observation is not a bound.",
    );
    keys.required(
        "run",
        TEXT,
        "The run's directory; a relative one counts from the task set's file.",
        &mut wanted.run,
    );
    keys.required(
        "section",
        TEXT,
        "Name of the thread, or of a section of its work.",
        &mut wanted.section,
    );
    keys.optional(
        "quantile",
        between(0.0, 1.0),
        "the largest that was observed",
        "Quantile of the observed times to use, such as 0.9999.",
        &mut wanted.quantile,
    );
    keys.optional(
        "confidence",
        between(0.0, 1.0),
        "the quantile as observed",
        "With `quantile`: confidence of an upper bound on that quantile, such as 0.95, by order statistics of \
         independent times.",
        &mut wanted.confidence,
    );
    if keys.complete() && wanted.quantile.is_none() && wanted.confidence.is_some() {
        let problem = "needs the quantile that it bounds";
        keys.refuse_value("confidence", problem, "give a quantile, such as 0.9999");
    }
}

/// `period`, `rate`, `distances` and `after`, of which one is needed.
fn arrivals(keys: &mut Keys<'_>, task: &mut Task, terms: &Terms<'_>) {
    const NEEDED: &str = "one of `period`, `rate`, `distances` and `after` is needed";
    let (mut period, mut rate, mut distances) = (None, None, None);
    match &task.arrivals {
        _ if task.after.is_some() => {}
        Arrivals::Sporadic(period_ns) => period = Some(*period_ns),
        Arrivals::Distances(list) => distances = Some(list.clone()),
    }
    keys.optional(
        "period",
        time("3 ms").above_0(),
        NEEDED,
        "Minimum time between two jobs.",
        &mut period,
    );
    keys.optional(
        "rate",
        RateWithin(1, u64::MAX),
        NEEDED,
        "The highest rate of its jobs.",
        &mut rate,
    );
    keys.optional(
        "distances",
        List {
            item: time("20 ms"),
            least: 1,
            most: 64,
        },
        NEEDED,
        "For jobs that arrive in bursts: the minimum times in which 2, 3, 4 … of them can arrive, such as [\"0 \
         ns\", \"0 ns\", \"20 ms\"] for bursts of three. Only P-FP supports two at once.",
        &mut distances,
    );
    keys.optional(
        "after",
        Name("imu"),
        NEEDED,
        "Predecessor: the end of each of its jobs releases a job of this task. Deadline and response count from the \
         due time of the first task of the chain. Only with P-FP.",
        &mut task.after,
    );
    if keys.given("after").is_some() {
        refuse_after(keys, terms);
        // Those of the first of the tasks that release each other: known once all are read.
        task.arrivals = Arrivals::Sporadic(1);
        return;
    }
    keys.exactly_one(
        ARRIVAL_KEYS,
        "conflicts with another key that sets how often jobs arrive",
        "give period = \"4 ms\", rate = \"250 Hz\", distances or after",
    );
    // Rounded down: a shorter period is the safe side.
    let down = |rate: Rate| rate.period_ns.saturating_sub(u64::from(!rate.exact));
    if let Some(list) = distances {
        let rises = list.last().is_some_and(|last| *last >= list.len() as u64)
            && list.windows(2).all(|two| two[0] <= two[1]);
        if !rises {
            let problem = "is not a list of distances between jobs";
            keys.refuse_value("distances", problem, "give times above 0 that don't fall");
        }
        task.arrivals = Arrivals::Distances(list);
    } else if let Some(period_ns) = period.or(rate.map(down)) {
        task.arrivals = Arrivals::Sporadic(period_ns);
    }
}

fn refuse_after(keys: &mut Keys<'_>, terms: &Terms<'_>) {
    let others = ["period", "rate", "distances", "offset"];
    if let Some(key) = others.iter().find(|key| keys.given(key).is_some()) {
        let problem = "conflicts with after, which sets when jobs arrive";
        keys.refuse_key(key, problem, "give one of the two");
        return;
    }
    match terms.method {
        Some(method) if method != Method::PartitionedFixedPriority => {
            let problem = format!("is not analysed under {method}");
            let remedy = "give policy = \"P-FP\", under which it is analysed, or a period";
            keys.refuse_value("after", problem, remedy);
        }
        _ if keys.given("reservation").is_some() => {
            let problem = "is not analysed in a reservation";
            keys.refuse_value("after", problem, "give the task a period");
        }
        _ => {}
    }
}

/// `priority`, `cpu` and `reservation`.
fn scheduling(keys: &mut Keys<'_>, task: &mut Task, earlier: &[SetTask], terms: &Terms<'_>) {
    let mut priority = Some(task.priority).filter(|priority| *priority > 0);
    keys.optional(
        "priority",
        whole(1, 99),
        "needed by P-FP and G-FP, except with `--assign`",
        "As in SCHED_FIFO: the greater number first.",
        &mut priority,
    );
    task.priority = priority.unwrap_or(0);
    keys.optional(
        "cpu",
        whole(0, 1023),
        "needed by P-FP and P-EDF with several CPUs, except with `--assign`",
        "CPU to pin the task to, from 0; with C-EDF any CPU of its cluster.",
        &mut task.cpu,
    );
    let mut name = task.reservation.as_ref().map(|own| own.name.clone());
    keys.optional(
        "reservation",
        Name("vision"),
        "none: it competes for the whole CPU",
        "Reservation to run in, by priority among its tasks.",
        &mut name,
    );
    let Some((_, method)) = keys.reading().zip(terms.method) else {
        return;
    };
    let reserved = name.is_some();
    if let Some(name) = name {
        let mut known = terms.reservations.iter();
        task.reservation = known.find(|known| known.name == name).cloned();
        if task.reservation.is_none() {
            let remedy = "give it in [[reservations]], with budget and period";
            keys.refuse_value("reservation", "is not a reservation of this set", remedy);
        }
    }
    let needed = reserved || method.by_priority() && !terms.assigned;
    if needed && keys.given("priority").is_none() {
        keys.missing("priority", "give a number from 1 to 99, the greater first");
    }
    let name = |task: &Task| task.reservation.as_ref().map(|own| own.name.clone());
    let same = earlier.iter().map(|other| &other.task).find(|other| {
        other.priority == task.priority
            && name(other) == name(task)
            && (method == Method::GlobalFixedPriority || other.cpu == task.cpu)
    });
    if let Some(same) = same.filter(|_| needed && task.priority > 0) {
        let problem = format!("is the priority of {} too", same.name);
        keys.refuse_value("priority", problem, "give each task of a CPU its own");
    }
    let one_each = method.cluster_size(terms.cpus) < terms.cpus && !reserved;
    if one_each && !terms.assigned && keys.given("cpu").is_none() {
        let remedy = "give the CPU that the task is pinned to, or let it be found with --assign";
        keys.missing("cpu", remedy);
    }
    if let Some(cpu) = task.cpu.filter(|cpu| *cpu >= terms.cpus) {
        let remedy = format!("give 0 to {}, or cpus = {}", terms.cpus - 1, cpu + 1);
        keys.refuse_value("cpu", "is beyond the last CPU", remedy);
    }
}
