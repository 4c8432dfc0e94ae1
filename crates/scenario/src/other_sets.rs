//! Task sets from other files: a scenario's tasks, and a table of tasks that share one loop.
//!
//! Execution times are never guessed.

use crate::keys::parse_task_table;
use crate::{Scenario, TableTask, TaskSet, Work};
use wakepath_schedulability::sched_deadline::KernelLimit;
use wakepath_schedulability::{Method, Task};
use wakepath_timeline::Policy;
use wakepath_timeline::duration::exact;

/// Kind of a file with `[[tasks]]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetFile {
    /// A task set for analysis.
    Set,
    /// A scenario.
    Scenario,
    /// A table of tasks that share one loop.
    Table,
}

impl SetFile {
    /// Decides by the keys that only one of them has; the task set's reader reports invalid TOML.
    pub fn new(text: &str) -> Self {
        let Ok(file) = text.parse::<toml::Table>() else {
            return Self::Set;
        };
        let tasks = file.get("tasks").and_then(|tasks| tasks.as_array());
        let any_has =
            |key: &str| tasks.is_some_and(|tasks| tasks.iter().any(|task| task.get(key).is_some()));
        let has = |key: &str| file.contains_key(key);
        if has("policy") && !has("cycles") && !has("duration") {
            Self::Set
        } else if any_has("budget") {
            Self::Table
        } else if ["cycles", "duration", "policies", "phases", "criterion"]
            .into_iter()
            .any(has)
        {
            Self::Scenario
        } else {
            Self::Set
        }
    }
}

/// Reasons why a scenario isn't a task set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoSet {
    /// Work whose time nobody knows yet.
    #[error(
        "{0}: the execution time of its work is unknown; run the scenario, and give that run with --from"
    )]
    UnknownWork(String),
    /// A policy that is not analysed.
    #[error(
        "{task}: runs under {policy}, which no analysis bounds; give it FIFO or DEADLINE in the scenario"
    )]
    Policy {
        /// The task.
        task: String,
        /// Its policy.
        policy: String,
    },
    /// Policies side by side.
    #[error("a mix of FIFO and DEADLINE is not analysed; use one of them for all tasks")]
    Mixed,
    /// An invalid table.
    #[error("{0}")]
    Table(String),
}

impl TaskSet {
    /// A table of tasks that share one loop: none is preempted, the lowest number runs first, and
    /// each takes its budget.
    ///
    /// # Errors
    /// [`NoSet::Table`] with every faulty line.
    pub fn of_table(text: &str, source_name: &str) -> Result<Self, NoSet> {
        let table = parse_task_table(text, source_name)
            .map_err(|errors| NoSet::Table(errors.to_string()))?;
        let most = table.iter().map(|task| task.priority).max().unwrap_or(0);
        let task = |own: &TableTask| {
            let mut task = Task::new(&own.name, own.budget_ns, own.period_ns);
            task.non_preemptive_ns = task.execution_ns;
            task.priority = most - own.priority + 1;
            task.working_set_bytes = own.bytes;
            task
        };
        Ok(Self {
            method: Method::PartitionedFixedPriority,
            cpus: 1,
            tasks: table.iter().map(task).collect(),
            chains: Vec::new(),
            admission: KernelLimit::default(),
            overheads: None,
            notes: vec![
                "a table of tasks that share one loop: none is preempted, each takes its budget"
                    .into(),
            ],
        })
    }

    /// A scenario's tasks, each under its own policy or the scenario's first.
    ///
    /// # Errors
    /// [`NoSet`].
    pub fn of_scenario(scenario: &Scenario, cpus: u16) -> Result<Self, NoSet> {
        let mut notes = vec![format!("the tasks of the scenario {}", scenario.name)];
        let first = scenario.policies.first().copied();
        if scenario.policies.len() > 1
            && let Some(first) = first
        {
            notes.push(format!("under {first}, the first of its policies"));
        }
        let mut tasks = Vec::with_capacity(scenario.tasks.len());
        let mut by_deadline = Vec::with_capacity(scenario.tasks.len());
        for own in &scenario.tasks {
            let Work::Busy { ns } = own.work else {
                return Err(NoSet::UnknownWork(own.name.clone()));
            };
            let mut task = Task::new(&own.name, ns, own.period_ns);
            match own.policy.or(first) {
                Some(Policy::Fifo { priority }) => {
                    task.priority = priority.into();
                    by_deadline.push(false);
                }
                Some(Policy::Deadline {
                    runtime_ns,
                    deadline_ns,
                    ..
                }) => {
                    task.deadline_ns = deadline_ns;
                    task.runtime_ns = Some(runtime_ns);
                    by_deadline.push(true);
                }
                other => {
                    return Err(NoSet::Policy {
                        task: own.name.clone(),
                        policy: other.map_or_else(|| "no policy".into(), |own| own.to_string()),
                    });
                }
            }
            task.cpu = match own.cpus.as_ref().map(|cpus| cpus.numbers()) {
                Some([only]) => Some(*only),
                _ => None,
            };
            notes.push(format!(
                "{}: computes for {} in each cycle",
                own.name,
                exact(ns)
            ));
            tasks.push(task);
        }
        let method = match (by_deadline.contains(&true), by_deadline.contains(&false)) {
            (true, true) => return Err(NoSet::Mixed),
            (true, false) => Method::Deadline(u16::MAX),
            _ if tasks.iter().all(|task| task.cpu.is_some()) => Method::PartitionedFixedPriority,
            _ => Method::GlobalFixedPriority,
        };
        Ok(Self {
            method,
            cpus,
            tasks,
            chains: Vec::new(),
            admission: KernelLimit::default(),
            overheads: None,
            notes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KnownCpus;

    #[test]
    fn files_are_told_apart_by_their_keys() {
        let set = "policy = \"P-FP\"\n[[tasks]]\nname = \"a\"\n";
        let scenario = "cycles = 10\n[[tasks]]\nname = \"a\"\n";
        let table = "[[tasks]]\nname = \"a\"\nbudget = \"1 ms\"\n";
        assert_eq!(SetFile::new(set), SetFile::Set);
        assert_eq!(SetFile::new(scenario), SetFile::Scenario);
        assert_eq!(SetFile::new(table), SetFile::Table);
        assert_eq!(SetFile::new("[[tasks"), SetFile::Set);
    }

    #[test]
    fn a_table_of_one_loop_is_not_preempted_and_has_the_least_number_first() {
        let entry = |name, priority| {
            format!(
                "[[tasks]]\nname = \"{name}\"\nrate = \"50 Hz\"\nbudget = \"75 us\"\npriority = {priority}\n"
            )
        };
        let text = entry("rc", 3) + &entry("gps", 9);
        let set = TaskSet::of_table(&text, "copter").expect("right");
        assert_eq!((set.tasks[0].priority, set.tasks[1].priority), (7, 1));
        assert_eq!(set.tasks[0].non_preemptive_ns, 75_000);
        assert!(TaskSet::of_table("", "none").is_err());
    }

    #[test]
    fn a_scenario_s_busy_tasks_are_a_set_and_others_are_refused() {
        let text = "name = \"set\"\ncycles = 100\n[[tasks]]\nname = \"imu\"\nperiod = \"4 ms\"\n\
                    policy = \"FIFO 80\"\ncpu = 1\nwork = { kind = \"busy\", time = \"1 ms\" }\n";
        let known = KnownCpus::first(2);
        let scenario = Scenario::parse(text, "set", &known).expect("right");
        let set = TaskSet::of_scenario(&scenario, 2).expect("known");
        assert_eq!(set.method, Method::PartitionedFixedPriority);
        let imu = &set.tasks[0];
        assert_eq!(
            (imu.execution_ns, imu.priority, imu.cpu),
            (1_000_000, 80, Some(1))
        );
        let other = text.replace("{ kind = \"busy\", time = \"1 ms\" }", "\"nothing\"");
        let scenario = Scenario::parse(&other, "set", &known).expect("right");
        let refused = TaskSet::of_scenario(&scenario, 2);
        assert_eq!(refused, Err(NoSet::UnknownWork("imu".into())));
    }
}
