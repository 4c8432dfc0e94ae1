//! A file with a task set for schedulability analysis: text to data. It is analysed elsewhere.

use crate::error::{Findings, ScenarioErrors};
use crate::read;
use crate::units::format_size;
use serde::Serialize;
use std::collections::BTreeMap;
use wakepath_schedulability::{Arrivals, Method, Task};
use wakepath_timeline::duration::exact_ascii as toml_duration;

/// A task set as its file says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskSet {
    /// How it is scheduled.
    pub method: Method,
    /// On how many CPUs.
    pub cpus: u16,
    /// The tasks, in the order of the file. A priority of 0 was not given.
    pub tasks: Vec<Task>,
    /// Overheads given by hand.
    pub overheads: Option<SetOverheads>,
}

/// Overheads as a file gives them, in nanoseconds; `None`: not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SetOverheads {
    /// Δev.
    pub event_ns: Option<u64>,
    /// Δrel.
    pub release_ns: Option<u64>,
    /// Δsch.
    pub scheduling_ns: Option<u64>,
    /// Δcxs.
    pub switch_ns: Option<u64>,
    /// Δipi.
    pub ipi_ns: Option<u64>,
    /// Δtick.
    pub tick_ns: Option<u64>,
    /// Q.
    pub tick_period_ns: Option<u64>,
    /// B.
    pub section_ns: Option<u64>,
    /// Δcpd of every task.
    pub cache_delay_ns: Option<u64>,
}

impl TaskSet {
    /// Reads a task set's file. `assigned`: priorities and CPUs will be found, so none need be there.
    ///
    /// # Errors
    /// Everything found wrong, each in one line with its place in the file.
    pub fn parse(text: &str, source_name: &str, assigned: bool) -> Result<Self, ScenarioErrors> {
        let mut findings = Findings::default();
        let set = read::task_set_file(text, assigned, &mut findings);
        findings.or(set, source_name, text)
    }
}

/// The file's form, for writing.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct WrittenSet<'a> {
    policy: String,
    cpus: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<u16>,
    tasks: Vec<WrittenTask<'a>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    overheads: BTreeMap<&'static str, String>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct WrittenTask<'a> {
    name: &'a str,
    execution: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    period: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    distances: Option<Vec<String>>,
    deadline: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    jitter: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocking: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suspension: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    non_preemptive: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    working_set: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu: Option<u16>,
}

impl<'a> WrittenTask<'a> {
    fn of(task: &'a Task) -> Self {
        let given = |ns: u64| (ns > 0).then(|| toml_duration(ns));
        let (period, distances) = match &task.arrivals {
            Arrivals::Sporadic(period_ns) => (Some(toml_duration(*period_ns)), None),
            Arrivals::Distances(list) => (
                None,
                Some(list.iter().map(|ns| toml_duration(*ns)).collect()),
            ),
        };
        Self {
            name: &task.name,
            execution: toml_duration(task.execution_ns),
            period,
            distances,
            deadline: toml_duration(task.deadline_ns),
            jitter: given(task.jitter_ns),
            blocking: given(task.blocking_ns),
            suspension: given(task.suspension_ns),
            non_preemptive: given(task.non_preemptive_ns),
            working_set: (task.working_set_bytes > 0).then(|| format_size(task.working_set_bytes)),
            priority: (task.priority > 0).then_some(task.priority),
            cpu: task.cpu,
        }
    }
}

impl TaskSet {
    /// The set as a file that [`TaskSet::parse`] reads back.
    pub fn to_toml(&self) -> String {
        let overheads = self.overheads.unwrap_or_default();
        let costs = [
            ("event", overheads.event_ns),
            ("release", overheads.release_ns),
            ("scheduling", overheads.scheduling_ns),
            ("switch", overheads.switch_ns),
            ("ipi", overheads.ipi_ns),
            ("tick", overheads.tick_ns),
            ("tick-period", overheads.tick_period_ns),
            ("section", overheads.section_ns),
            ("cache-delay", overheads.cache_delay_ns),
        ];
        let written = WrittenSet {
            policy: self.method.to_string(),
            cpus: self.cpus,
            cluster: match self.method {
                Method::ClusteredEdf(size) => Some(size),
                _ => None,
            },
            tasks: self.tasks.iter().map(WrittenTask::of).collect(),
            overheads: costs
                .into_iter()
                .filter_map(|(name, ns)| Some((name, toml_duration(ns?))))
                .collect(),
        };
        // Text, numbers and lists: nothing of it can't be written.
        toml::to_string(&written).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: &str = "\
policy = \"P-FP\"

[[tasks]]
name = \"imu\"
execution = \"3 ms\"
period = \"7 ms\"
priority = 3
";

    fn said(text: &str) -> String {
        TaskSet::parse(text, "set.toml", false)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn a_set_by_hand_is_short() {
        let set = TaskSet::parse(SHORT, "set.toml", false).expect("right");
        assert_eq!(
            (set.method, set.cpus),
            (Method::PartitionedFixedPriority, 1)
        );
        let mut imu = Task::new("imu", 3_000_000, 7_000_000);
        imu.priority = 3;
        assert_eq!(set.tasks, [imu]);
        assert_eq!(set.overheads, None);
    }

    #[test]
    fn everything_can_be_said() {
        let text = "policy = \"C-EDF\"\ncpus = 4\ncluster = 4\n[[tasks]]\nname = \"a\"\n\
                    execution = \"1 ms\"\ndistances = [\"0 ns\", \"20 ms\"]\ndeadline = \"9 ms\"\n\
                    jitter = \"10 us\"\nblocking = \"20 us\"\nsuspension = \"30 us\"\n\
                    non-preemptive = \"40 us\"\nworking-set = \"64 KiB\"\ncpu = 2\n\
                    [overheads]\nevent = \"10 us\"\ntick-period = \"4 ms\"\n";
        let set = TaskSet::parse(text, "set.toml", false).expect("right");
        assert_eq!(set.method, Method::ClusteredEdf(4));
        let task = &set.tasks[0];
        assert_eq!(task.arrivals, Arrivals::Distances(vec![0, 20_000_000]));
        assert_eq!((task.jitter_ns, task.blocking_ns), (10_000, 20_000));
        assert_eq!(
            (task.suspension_ns, task.non_preemptive_ns),
            (30_000, 40_000)
        );
        assert_eq!((task.working_set_bytes, task.cpu), (65_536, Some(2)));
        let overheads = set.overheads.expect("given");
        assert_eq!(overheads.event_ns, Some(10_000));
        assert_eq!(overheads.release_ns, None);
        let again = TaskSet::parse(&set.to_toml(), "written.toml", false).expect("reads back");
        assert_eq!(again, set);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line_key_and_remedy() {
        let wrong = [
            (
                "priority = 3",
                "priority = -3",
                "set.toml:7:12: tasks[0].priority = -3 is less than 1",
            ),
            (
                "\"3 ms\"",
                "3",
                "tasks[0].execution = 3 is a bare number; give a time",
            ),
            (
                "\"3 ms\"",
                "\"8 ms\"",
                "execution = \"8 ms\" is longer than the deadline",
            ),
            ("\"3 ms\"", "\"0 ms\"", "execution = \"0 ms\" is no time"),
            ("period", "periot", "did you mean \"period\"?"),
            (
                "P-FP",
                "FIFO",
                "policy = \"FIFO\" is no policy that can be analysed",
            ),
            ("priority = 3\n", "", "tasks[0].priority is missing"),
            ("priority = 3", "priority = 3\njitter = \"-1 us\"", "jitter"),
            (
                "priority = 3",
                "priority = 3\ncpu = 1",
                "cpu = 1 is beyond the last CPU",
            ),
        ];
        for (from, to, expected) in wrong {
            let line = said(&SHORT.replacen(from, to, 1));
            assert!(line.contains(expected), "{line}");
        }
    }

    #[test]
    fn two_of_one_name_or_priority_are_refused_where_the_second_stands() {
        let second = SHORT.split_once("[[tasks]]").expect("one").1;
        let twice = format!("{SHORT}[[tasks]]{second}");
        let lines = said(&twice);
        assert!(lines.contains("set.toml:9:8: tasks[1].name"), "{lines}");
        let other = twice.replacen("[[tasks]]\nname = \"imu\"\nexecution = \"3 ms\"\nperiod = \"7 ms\"\npriority = 3\n[[tasks]]\nname = \"imu\"", "[[tasks]]\nname = \"imu\"\nexecution = \"3 ms\"\nperiod = \"7 ms\"\npriority = 3\n[[tasks]]\nname = \"gps\"", 1);
        let lines = said(&other);
        assert!(
            lines.contains("tasks[1].priority = 3 is the priority of imu too"),
            "{lines}"
        );
    }

    #[test]
    fn work_beyond_the_cpus_is_the_analysis_to_refute_and_no_mistake_of_the_file() {
        let heavy = SHORT.replacen("\"3 ms\"", "\"7 ms\"", 1);
        let second = heavy.split_once("[[tasks]]").expect("one").1;
        let twice = format!(
            "{heavy}[[tasks]]{}",
            second.replace("imu", "gps").replace("= 3", "= 2")
        );
        assert!(TaskSet::parse(&twice, "set.toml", false).is_ok());
    }
}
