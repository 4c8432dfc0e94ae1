//! Policies of LITMUS^RT as text, each only with its own plugin's parameters, checked against the
//! core's rules.
//!
//! `partitions` checks the threads' CPUs.

mod partitions;

use crate::units::{Complaint, parse_duration};
use wakepath_timeline::duration::exact;
use wakepath_timeline::{
    Enforcement, JobRelease, LitmusPlugin, LitmusTask, MOST_CPUS, Policy, quoted,
};

pub(crate) use partitions::check_partitions;

const FORM: &str = "give \"LITMUS P-FP N\" with N from 1 to 511, \"LITMUS PSN-EDF\", \"LITMUS GSN-EDF\" or \
                    \"LITMUS C-EDF\"";
pub(crate) const LOWEST_PRIORITY: u16 = 511;

/// The words after the plugin, before they are checked against it.
#[derive(Default)]
struct Given {
    priority: Option<u16>,
    partition: Option<u16>,
    task: LitmusTask,
}

/// Reads the words after LITMUS: `P-FP 10, budget 400us`.
pub(crate) fn parse(text: &str, period_ns: u64) -> Result<Policy, Complaint> {
    let text = text.to_lowercase();
    let mut parts = text.split(',').map(str::trim);
    let head = parts.next().unwrap_or_default();
    let (name, behind) = head.split_once(' ').unwrap_or((head, ""));
    let Some(plugin) = LitmusPlugin::named(name) else {
        let problem = if name.is_empty() {
            "names no plugin after LITMUS".to_owned()
        } else {
            format!("names an unknown LITMUS^RT plugin, {}", quoted(name))
        };
        return Err(Complaint::new(problem, FORM));
    };
    let mut given = Given {
        priority: priority(plugin, behind.trim())?,
        ..Given::default()
    };
    let mut seen: Vec<&str> = Vec::new();
    for part in parts {
        let (word, value) = part.split_once(' ').unwrap_or((part, ""));
        if seen.contains(&word) {
            return Err(Complaint::new(
                format!("gives {} twice", quoted(word)),
                "give it once",
            ));
        }
        seen.push(word);
        given.take(plugin, word, value.trim())?;
    }
    given.task = checked(given.task, period_ns).map_err(|(_, complaint)| complaint)?;
    Ok(given.policy(plugin))
}

fn priority(plugin: LitmusPlugin, text: &str) -> Result<Option<u16>, Complaint> {
    let remedy = "give \"LITMUS P-FP N\" with N from 1 (highest) to 511";
    match (plugin, text.parse::<u16>()) {
        (LitmusPlugin::PFp, Ok(priority @ 1..=LOWEST_PRIORITY)) => Ok(Some(priority)),
        (LitmusPlugin::PFp, Ok(0)) => Err(Complaint::new(
            "has priority 0, which the core reserves",
            remedy,
        )),
        (LitmusPlugin::PFp, _) if text.is_empty() => {
            Err(Complaint::new("has no priority after P-FP", remedy))
        }
        (LitmusPlugin::PFp, _) => Err(Complaint::new("has a priority out of range", remedy)),
        (_, _) if text.is_empty() => Ok(None),
        (edf, Ok(_)) => Err(Complaint::new(
            format!("gives {edf} a priority"),
            format!("{edf} schedules by deadlines: give \"LITMUS {edf}\""),
        )),
        (edf, Err(_)) => Err(Complaint::new(
            format!("has unknown text after {edf}"),
            format!("put a comma between: \"LITMUS {edf}, {text}\""),
        )),
    }
}

impl Given {
    fn take(&mut self, plugin: LitmusPlugin, word: &str, value: &str) -> Result<(), Complaint> {
        let time = || {
            let read = parse_duration(value);
            read.map(Some).map_err(|complaint| {
                let problem = format!(
                    "has a {word} of {}, which {}",
                    quoted(value),
                    complaint.problem
                );
                Complaint::new(problem, complaint.remedy)
            })
        };
        let other = |known: &str| {
            let problem = format!("has {} after {word}", quoted(value));
            Complaint::new(problem, format!("give {known}"))
        };
        match word {
            "budget" => self.task.budget_ns = time()?,
            "period" => self.task.period_ns = time()?,
            "deadline" => self.task.deadline_ns = time()?,
            "partition" if plugin == LitmusPlugin::GsnEdf => {
                return Err(Complaint::new(
                    "gives GSN-EDF a partition",
                    "GSN-EDF schedules on all CPUs: leave it out, or give \"LITMUS PSN-EDF\"",
                ));
            }
            "partition" => match value.parse::<u16>() {
                Ok(cpu) if usize::from(cpu) < usize::from(MOST_CPUS) => self.partition = Some(cpu),
                _ => return Err(other("the number of a CPU")),
            },
            "enforce" => {
                let found = named(value, ENFORCEMENTS);
                self.task.enforcement =
                    found.ok_or_else(|| other("\"enforce none\", \"quantum\" or \"precise\""))?;
            }
            "release" => {
                let found = named(value, RELEASES);
                self.task.release = found.ok_or_else(|| other("\"release job\" or \"sleep\""))?;
            }
            "priority" => {
                return Err(Complaint::new("has a comma before the priority", FORM));
            }
            unknown => {
                return Err(Complaint::new(
                    format!("has a parameter unknown to LITMUS^RT, {}", quoted(unknown)),
                    "its parameters are budget, period, deadline, partition, enforce and release",
                ));
            }
        }
        Ok(())
    }

    fn policy(self, plugin: LitmusPlugin) -> Policy {
        let Self {
            priority,
            partition,
            task,
        } = self;
        match plugin {
            LitmusPlugin::PFp => Policy::LitmusPFp {
                priority: priority.unwrap_or(LOWEST_PRIORITY),
                partition,
                task,
            },
            LitmusPlugin::PsnEdf => Policy::LitmusPsnEdf { partition, task },
            LitmusPlugin::GsnEdf => Policy::LitmusGsnEdf { task },
            LitmusPlugin::CEdf => Policy::LitmusCEdf { partition, task },
        }
    }
}

pub(crate) const ENFORCEMENTS: &[(&str, Enforcement)] = &[
    ("none", Enforcement::None),
    ("quantum", Enforcement::Quantum),
    ("precise", Enforcement::Precise),
];
pub(crate) const RELEASES: &[(&str, JobRelease)] =
    &[("job", JobRelease::Job), ("sleep", JobRelease::Sleep)];

/// The value of a word.
fn named<T: Copy>(word: &str, all: &[(&str, T)]) -> Option<T> {
    let found = all.iter().find(|(known, _)| *known == word);
    found.map(|(_, value)| *value)
}

/// The task, if a loop with this period can have it (`litmus_admit_task` requires 0 < budget ≤
/// deadline, period), or the parameter at fault. A period of 0 is not known yet.
pub(crate) fn checked(
    task: LitmusTask,
    loop_ns: u64,
) -> Result<LitmusTask, (&'static str, Complaint)> {
    let wrong = |part: &'static str, problem: String, remedy: &str| {
        Err((part, Complaint::new(problem, remedy)))
    };
    if task.enforcement != Enforcement::None && task.budget_ns.is_none() {
        let problem = "enforces a budget that is not given".to_owned();
        return wrong("enforce", problem, "give one, such as \"budget 400us\"");
    }
    for (part, value) in [
        ("budget", task.budget_ns),
        ("period", task.period_ns),
        ("deadline", task.deadline_ns),
    ] {
        if value == Some(0) {
            return wrong(
                part,
                format!("has a {part} of nothing"),
                "give a time such as \"400us\"",
            );
        }
    }
    if loop_ns == 0 {
        return Ok(task);
    }
    let period = task.period_ns.unwrap_or(loop_ns);
    let its = exact(loop_ns);
    match task.release {
        JobRelease::Job if period != loop_ns => {
            let problem = format!(
                "has a period of {}, and a job is released in each cycle of {its}",
                exact(period)
            );
            return wrong("period", problem, "leave it out, or add \"release sleep\"");
        }
        JobRelease::Sleep if period > loop_ns => {
            let problem = format!(
                "has a period of {}, which is longer than the loop's ({its})",
                exact(period)
            );
            return wrong("period", problem, &format!("give at most {its}"));
        }
        _ => {}
    }
    let whole = task.of_a_loop(loop_ns);
    let deadline = whole.deadline_ns.unwrap_or(period);
    let budget = whole.budget_ns.unwrap_or(period);
    if budget > deadline.min(period) {
        let (name, limit) = if deadline < period {
            ("deadline", deadline)
        } else {
            ("period", period)
        };
        let problem = format!(
            "has a budget of {}, which is longer than the {name} ({})",
            exact(budget),
            exact(limit)
        );
        return wrong("budget", problem, &format!("give at most {}", exact(limit)));
    }
    Ok(task)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_policy;

    const PERIOD_NS: u64 = 1_000_000;

    fn refused(text: &str) -> String {
        let complaint = parse_policy(text, PERIOD_NS).unwrap_err();
        let line = complaint.to_string();
        assert!(!line.contains('\n'), "{line}");
        line
    }

    #[test]
    fn each_plugin_takes_its_own_parameters() {
        let task = LitmusTask::default();
        for (text, policy) in [
            (
                "LITMUS P-FP 10",
                Policy::LitmusPFp {
                    priority: 10,
                    partition: None,
                    task,
                },
            ),
            (
                "litmus psn-edf",
                Policy::LitmusPsnEdf {
                    partition: None,
                    task,
                },
            ),
            ("LITMUS GSN-EDF", Policy::LitmusGsnEdf { task }),
            (
                "LITMUS C-EDF, partition 1",
                Policy::LitmusCEdf {
                    partition: Some(1),
                    task,
                },
            ),
        ] {
            assert_eq!(parse_policy(text, PERIOD_NS), Ok(policy), "{text}");
        }
        let whole = "LITMUS P-FP 3, partition 2, budget 200 us, deadline 500us, enforce precise, release sleep";
        let read = parse_policy(whole, PERIOD_NS).unwrap();
        let Policy::LitmusPFp { task, .. } = read else {
            panic!("{read}");
        };
        assert_eq!(
            (task.budget_ns, task.deadline_ns),
            (Some(200_000), Some(500_000))
        );
        assert_eq!(
            (task.enforcement, task.release),
            (Enforcement::Precise, JobRelease::Sleep)
        );
        for written in [read.to_string(), read.in_full()] {
            assert_eq!(parse_policy(&written, PERIOD_NS), Ok(read), "{written}");
        }
    }

    #[test]
    fn what_the_core_would_refuse_is_refused_in_a_line_that_says_what_is_right() {
        for (text, said) in [
            ("LITMUS", "no plugin"),
            ("LITMUS FIFO", "unknown"),
            ("LITMUS P-FP", "no priority"),
            ("LITMUS P-FP 0", "priority 0"),
            ("LITMUS P-FP 512", "out of range"),
            ("LITMUS PSN-EDF 10", "gives PSN-EDF a priority"),
            ("LITMUS PSN-EDF budget 1ms", "put a comma between"),
            ("LITMUS GSN-EDF, partition 1", "schedules on all CPUs"),
            ("LITMUS C-EDF, cluster L2", "unknown to LITMUS^RT"),
            ("LITMUS PSN-EDF, partition x", "number of a CPU"),
            (
                "LITMUS PSN-EDF, budget 2ms",
                "longer than the period (1 ms)",
            ),
            (
                "LITMUS PSN-EDF, budget 2ms, deadline 1500us",
                "longer than the period",
            ),
            (
                "LITMUS PSN-EDF, budget 600us, deadline 500us",
                "longer than the deadline (500 µs)",
            ),
            ("LITMUS PSN-EDF, budget 400", "budget of"),
            ("LITMUS PSN-EDF, budget 0us", "of nothing"),
            (
                "LITMUS PSN-EDF, period 500us",
                "released in each cycle of 1 ms",
            ),
            (
                "LITMUS PSN-EDF, period 2ms, release sleep",
                "longer than the loop's",
            ),
            ("LITMUS PSN-EDF, enforce precise", "not given"),
            ("LITMUS PSN-EDF, enforce hard", "\"quantum\""),
            ("LITMUS PSN-EDF, release early", "\"release job\""),
            ("LITMUS PSN-EDF, budget 1us, budget 2us", "twice"),
        ] {
            let line = refused(text);
            assert!(line.contains(said), "{text}: {line}");
        }
    }
}
