//! A file with a task set for schedulability analysis: text to data. It is analysed elsewhere.

use crate::error::{Findings, ScenarioErrors};
use crate::keys::{task_set_file, task_set_table};
use wakepath_schedulability::sched_deadline::KernelLimit;
use wakepath_schedulability::{Chain, Method, Task};

/// A task set as written in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskSet {
    /// How it is scheduled.
    pub method: Method,
    /// Number of CPUs.
    pub cpus: u16,
    /// The tasks, in the order of the file. A priority of 0 was not given.
    pub tasks: Vec<Task>,
    /// Tasks that hand a value on.
    pub chains: Vec<Chain>,
    /// The kernel's limits for SCHED_DEADLINE.
    pub admission: KernelLimit,
    /// Overheads given by hand.
    pub overheads: Option<SetOverheads>,
    /// Values that were taken from runs or guessed, a sentence each.
    pub notes: Vec<String>,
}

/// An execution time to take from a recorded run.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredExecution {
    /// The run's directory, as written in the file.
    pub run: String,
    /// A thread's name, or that of a part of its work.
    pub section: String,
    /// Which quantile, 0 to 1 exclusive; `None`: the largest observed.
    pub quantile: Option<f64>,
    /// The confidence of the quantile's upper bound, 0 to 1 exclusive; `None`: as observed.
    pub confidence: Option<f64>,
}

/// An execution time from a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToldExecution {
    /// The time, in nanoseconds.
    pub ns: u64,
    /// Description of the time.
    pub from: String,
}

/// Finds the execution in a recorded run; reading runs is not this crate's work, nor are its errors.
pub type Executions<'a> =
    dyn Fn(&MeasuredExecution) -> Result<ToldExecution, Box<dyn std::error::Error>> + 'a;

/// Overheads as a file gives them, in nanoseconds; `None`: not given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
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
    /// Δcpd by working set: bytes and nanoseconds, both ascending.
    pub cache_delays: Vec<(u64, u64)>,
}

impl TaskSet {
    /// Reads a task set's file. `assigned`: priorities and CPUs will be assigned later, so they are
    /// optional. `executions` finds the times to take from runs.
    ///
    /// # Errors
    /// Every fault found, each in one line with its place in the file.
    pub fn parse(
        text: &str,
        source_name: &str,
        assigned: bool,
        executions: &Executions<'_>,
    ) -> Result<Self, ScenarioErrors> {
        let mut findings = Findings::default();
        let set = task_set_file(text, assigned, executions, &mut findings);
        findings.or(set, source_name, text)
    }

    /// The set as a file that [`TaskSet::parse`] reads back.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        for note in &self.notes {
            text += &format!("# {}\n", wakepath_timeline::one_line(note));
        }
        text + &toml::to_string(&task_set_table(self)).expect("a table is TOML")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_schedulability::{Arrivals, Server};

    const SHORT: &str = "\
policy = \"P-FP\"

[[tasks]]
name = \"imu\"
execution = \"3 ms\"
period = \"7 ms\"
priority = 3
";

    fn parsed(text: &str) -> Result<TaskSet, ScenarioErrors> {
        TaskSet::parse(
            text,
            "set.toml",
            false,
            &|wanted| match wanted.section.as_str() {
                "control" => Ok(ToldExecution {
                    ns: 2_000_000,
                    from: format!("{:?} of {}", wanted.quantile, wanted.run),
                }),
                other => Err(format!("no thread is called {other}").into()),
            },
        )
    }

    fn said(text: &str) -> String {
        parsed(text).unwrap_err().to_string()
    }

    #[test]
    fn a_set_by_hand_is_short() {
        let set = parsed(SHORT).expect("right");
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
        let set = parsed(text).expect("right");
        assert_eq!(set.method, Method::ClusteredEdf(4));
        let task = &set.tasks[0];
        assert_eq!(task.arrivals, Arrivals::Distances(vec![0, 20_000_000]));
        assert_eq!((task.jitter_ns, task.blocking_ns), (10_000, 20_000));
        assert_eq!(
            (task.suspension_ns, task.non_preemptive_ns),
            (30_000, 40_000)
        );
        assert_eq!((task.working_set_bytes, task.cpu), (65_536, Some(2)));
        let overheads = set.overheads.clone().expect("given");
        assert_eq!(overheads.event_ns, Some(10_000));
        assert_eq!(overheads.release_ns, None);
        let again = parsed(&set.to_toml()).expect("reads back");
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
            ("\"3 ms\"", "\"0 ms\"", "execution = \"0 ms\" is not a time"),
            ("period", "periot", "did you mean \"period\"?"),
            (
                "P-FP",
                "FIFO",
                "policy = \"FIFO\" is not a policy that can be analysed",
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
        assert!(parsed(&twice).is_ok());
    }

    const RICH: &str = "\
policy = \"P-FP\"
cpus = 2

[[tasks]]
name = \"imu\"
execution = { run = \"runs/a\", section = \"control\", quantile = 0.9999 }
period = \"10 ms\"
offset = \"1 ms\"
priority = 3
cpu = 0

[[tasks]]
name = \"control\"
execution = \"1 ms\"
after = \"imu\"
priority = 2
cpu = 1

[[tasks]]
name = \"vision\"
execution = \"1 ms\"
period = \"50 ms\"
priority = 1
reservation = \"slow\"

[[chains]]
name = \"sense-act\"
tasks = [\"imu\", \"control\"]
deadline = \"9 ms\"

[[reservations]]
name = \"slow\"
budget = \"2 ms\"
period = \"10 ms\"
priority = 1
cpu = 1

[admission]
runtime = \"1 s\"
server-runtime = \"50 ms\"

[overheads]
cache-delays = [{ working-set = \"64 KiB\", delay = \"20 us\" }]
";

    #[test]
    fn chains_reservations_and_runs_are_read_and_written() {
        let set = parsed(RICH).expect("right");
        assert_eq!(set.tasks[0].execution_ns, 2_000_000);
        assert_eq!(set.notes, ["imu: Some(0.9999) of runs/a"]);
        // A released task has the period and deadline of the task that releases it.
        assert_eq!(set.tasks[1].arrivals, Arrivals::Sporadic(10_000_000));
        assert_eq!(set.tasks[1].deadline_ns, 10_000_000);
        let slow = set.tasks[2].reservation.as_ref().expect("reserved");
        assert_eq!((slow.budget_ns, slow.server), (2_000_000, Server::Periodic));
        assert_eq!(set.chains[0].tasks, [0, 1]);
        assert_eq!(set.chains[0].deadline_ns, Some(9_000_000));
        // The whole period means no limit.
        assert_eq!(set.admission.runtime_ns, None);
        assert_eq!(set.admission.server, Some((50_000_000, 1_000_000_000)));
        let mut again = parsed(&set.to_toml()).expect("reads back");
        assert!(set.to_toml().starts_with("# imu: "), "{}", set.to_toml());
        again.notes.clone_from(&set.notes);
        assert_eq!(again, set);
    }

    #[test]
    fn what_is_wrong_with_chains_reservations_and_runs_is_said_with_its_place() {
        let wrong = [
            (
                "section = \"control\"",
                "section = \"gps\"",
                "set.toml:6:13: tasks[0].execution is not available: no thread is called gps",
            ),
            (
                "quantile = 0.9999",
                "quantile = 1.5",
                "set.toml:6:63: tasks[0].execution.quantile = 1.5 is out of range",
            ),
            (
                "quantile = 0.9999",
                "confidence = 0.95",
                "confidence = 0.95 needs the quantile",
            ),
            (
                "after = \"imu\"",
                "after = \"gps\"",
                "set.toml:15:9: tasks[1].after = \"gps\" is not a task of this set",
            ),
            (
                "period = \"10 ms\"\noffset = \"1 ms\"",
                "after = \"control\"",
                "makes a cycle",
            ),
            (
                "after = \"imu\"",
                "after = \"imu\"\nperiod = \"5 ms\"",
                "tasks[1].period conflicts with after",
            ),
            (
                "[\"imu\", \"control\"]",
                "[\"imu\", \"control\", \"imu\"]",
                "chains[0].tasks[2] = \"imu\" appears twice in its chain",
            ),
            (
                "[\"imu\", \"control\"]",
                "[\"imu\", \"gps\"]",
                "chains[0].tasks[1] = \"gps\" is not a task of this set",
            ),
            (
                "budget = \"2 ms\"",
                "budget = \"11 ms\"",
                "reservations[0].budget = \"11 ms\" is not a budget within its period",
            ),
            (
                "reservation = \"slow\"",
                "reservation = \"fast\"",
                "tasks[2].reservation = \"fast\" is not a reservation of this set",
            ),
            (
                "[admission]\nruntime = \"1 s\"",
                "[admission]\nruntime = \"2 s\"",
                "admission.runtime = \"2 s\" is longer than its period",
            ),
            (
                "offset = \"1 ms\"",
                "jitter = \"-1 ms\"",
                "tasks[0].jitter = \"-1 ms\"",
            ),
            (
                "offset = \"1 ms\"",
                "runtime = \"1 ms\"",
                "tasks[0].runtime = \"1 ms\" is below the execution",
            ),
            ("budget", "budjet", "did you mean \"budget\"?"),
            (
                "delay = \"20 us\" }",
                "delay = \"20 us\" }, { working-set = \"1 KiB\", delay = \"30 us\" }",
                "overheads.cache-delays[1] does not go up",
            ),
            (
                "period = \"10 ms\"\noffset",
                "period = \"99999999999 h\"\noffset",
                "tasks[0].period",
            ),
        ];
        for (from, to, expected) in wrong {
            assert!(RICH.contains(from), "{from}");
            let lines = said(&RICH.replacen(from, to, 1));
            assert!(lines.contains(expected), "{expected}\n{lines}");
        }
        let circle = RICH.replacen(
            "period = \"10 ms\"\noffset = \"1 ms\"",
            "after = \"control\"",
            1,
        );
        assert_eq!(said(&circle).lines().count(), 1, "{}", said(&circle));
    }
}
