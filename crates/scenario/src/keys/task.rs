//! The loop's threads: one loop, several with stepped periods, or a task set.

use super::form::{Name, Words, per_cpu, time};
use super::scenario::OVERRUNS;
use super::visitor::Keys;
use super::{cpus, period, policies, work};
use crate::units::LONGEST_PERIOD_NS;
use crate::{Task, Work};
use serde_json::json;
use wakepath_timeline::CpuSet;
use wakepath_timeline::duration::exact;

pub(super) const MOST_TASKS: usize = 256;

pub(crate) fn blank() -> Task {
    Task {
        name: String::new(),
        period_ns: 0,
        cpus: None,
        policy: None,
        overrun: None,
        work: Work::Nothing,
        response_bound_ns: None,
    }
}

pub(crate) fn declare(keys: &mut Keys<'_>, task: &mut Task, earlier: &[Task]) {
    keys.title("a task", "One thread of a task set.");
    keys.required(
        "name",
        Name("control"),
        "Name shown in tables.",
        &mut task.name,
    );
    keys.refuse_twice(earlier.iter().any(|other| other.name == task.name), "task");
    period::declare(keys, true, &mut task.period_ns);
    keys.context.period_ns = task.period_ns;
    policies::key(keys, &mut task.policy);
    cpus::declare(keys, NO_CPU, &mut task.cpus);
    work::key(keys, &mut task.work);
    keys.optional(
        "overrun",
        Words(OVERRUNS),
        "the scenario's `overrun`",
        "Reaction when the task's work continues past its next due time. For your own program, give the value that \
         its loop was created with.",
        &mut task.overrun,
    );
    keys.optional(
        "response-bound",
        time("3 ms"),
        "no bound to check",
        "Bound on the response time from an analysis (`wakepath schedulability --scenario` writes it). A longer \
         response contradicts the analysis, and the run fails.",
        &mut task.response_bound_ns,
    );
}

/// What holds without `cpu` and `cpus`.
const NO_CPU: &str = "wakepath takes the highest CPU";

/// The scenario's keys for one loop, and `tasks`.
pub(super) fn loop_or_tasks(keys: &mut Keys<'_>, tasks: &mut Vec<Task>) {
    let before = keys.failures();
    let single = match tasks.as_slice() {
        [task] if is_single_loop(task) => Some(task.clone()),
        _ => None,
    };
    let is_single = single.is_some();
    let mut one = None;
    if !keys.is_writing() || is_single {
        one = Some(Loop::declare(keys, single.unwrap_or_else(blank)));
    }
    if !keys.is_writing() || !is_single {
        const REMEDY: &str = "give [[tasks]], each with a name and a rate or period";
        keys.tables(
            "tasks",
            (
                Ok("the one loop described by the keys above"),
                "A task set: threads with different periods.",
            ),
            tasks,
            ((1, MOST_TASKS), REMEDY),
            blank,
            declare,
        );
    }
    if let Some(one) = one.filter(|_| keys.given("tasks").is_none()) {
        period::exactly_one(keys, &["rate", "period", "tasks"]);
        keys.context.period_ns = one.task.period_ns;
        if keys.failures() == before {
            *tasks = one.threads(keys);
        }
        return;
    }
    keys.not_both(&OF_ONE_LOOP.map(|key| ("tasks", key)));
    for name in ["rate", "period"].into_iter().chain(OF_ONE_LOOP) {
        if keys.given(name).is_some() {
            let problem = "conflicts with tasks, which set it for each thread";
            keys.refuse_key(name, problem, "give it in each task");
        }
    }
    let shortest = tasks.iter().map(|task| task.period_ns).min();
    keys.context.period_ns = shortest.unwrap_or(0);
}

const OF_ONE_LOOP: [&str; 5] = ["cpu", "cpus", "threads", "period-step", "work"];

fn is_single_loop(task: &Task) -> bool {
    task.name == "loop"
        && task.policy.is_none()
        && task.overrun.is_none()
        && task.response_bound_ns.is_none()
}

/// One loop as the scenario's own keys describe it.
struct Loop {
    task: Task,
    /// 0: one for each CPU.
    threads: u32,
    step_ns: u64,
}

impl Loop {
    fn declare(keys: &mut Keys<'_>, mut task: Task) -> Self {
        period::declare_maybe(keys, true, &mut task.period_ns);
        cpus::declare(keys, NO_CPU, &mut task.cpus);
        let (mut threads, mut step_ns) = (None, None);
        keys.or_nothing(
            "threads",
            per_cpu(MOST_TASKS as i64),
            1,
            "Loop threads; \"per-cpu\" runs one on each CPU (of `cpus` if given), pinned \
             there.",
            &mut threads,
        );
        keys.or_nothing(
            "period-step",
            time("500 us"),
            0,
            "Added to the period of each further thread. Only with several threads.",
            &mut step_ns,
        );
        keys.rule(|| {
            json!({
                "if": { "required": ["period-step"] },
                "then": { "required": ["threads"], "properties": { "threads": { "not": { "const": 1 } } } },
            })
        });
        work::key(keys, &mut task.work);
        Self {
            task,
            threads: threads.unwrap_or(1),
            step_ns: step_ns.unwrap_or(0),
        }
    }

    /// The threads; they take the condition's policy.
    fn threads(self, keys: &mut Keys<'_>) -> Vec<Task> {
        let Self {
            task,
            threads,
            step_ns,
        } = self;
        let placements: Vec<(String, Option<CpuSet>)> = match (threads, keys.context.known) {
            (0, Some(known)) => {
                let on = task.cpus.as_ref().unwrap_or(known.cpus());
                let cpus = on.numbers().iter();
                cpus.map(|cpu| (format!("cpu{cpu}"), Some(CpuSet::from_iter([*cpu]))))
                    .collect()
            }
            (0 | 1, _) => vec![("loop".to_owned(), task.cpus.clone())],
            _ => (0..threads)
                .map(|index| (format!("loop{index}"), task.cpus.clone()))
                .collect(),
        };
        if placements.len() > MOST_TASKS {
            let problem = format!("makes {} threads", placements.len());
            let remedy = format!("give cpus with at most {MOST_TASKS} of them");
            keys.refuse_key("threads", problem, remedy);
        }
        if keys.given("period-step").is_some() {
            if threads == 1 {
                let remedy = "give threads = \"per-cpu\" or leave it out";
                keys.refuse_value("period-step", "needs more than one thread", remedy);
            }
            let steps = placements.len() as u128 - 1;
            let longest = u128::from(task.period_ns) + u128::from(step_ns) * steps;
            if longest > u128::from(LONGEST_PERIOD_NS) {
                let most = exact(LONGEST_PERIOD_NS);
                let problem = format!("makes the last thread's period longer than {most}");
                keys.refuse_value("period-step", problem, "give a shorter step");
                return Vec::new();
            }
        }
        let thread = |(index, (name, cpus))| Task {
            name,
            period_ns: task.period_ns + step_ns * index as u64,
            cpus,
            ..task.clone()
        };
        placements.into_iter().enumerate().map(thread).collect()
    }
}
