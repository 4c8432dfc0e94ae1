//! Options of the command line written into a scenario's text, which is then checked, recorded and shown
//! like any scenario. It reads no file.

use crate::option_value::Shown;
use std::fmt;
use wakepath_scenario::{parse_policy, units};
use wakepath_timeline::Policy;

/// Options that replace parts of a scenario.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScenarioOverrides<'a> {
    /// Rate of the loop.
    pub rate: Option<&'a str>,
    /// CPU of the loop.
    pub cpu: Option<u16>,
    /// Whose rate and CPU these are, where the text has tasks.
    pub task: Option<&'a str>,
    /// Instead of the text's, unless there are none.
    pub policies: &'a [String],
    /// Limits that take the place of the text's.
    pub criterion: Option<&'a toml::Table>,
    /// Reservations that are not replaced keep their share of this period, in nanoseconds.
    pub reserved_for: Option<u64>,
}

/// Why the options don't fit the scenario.
#[derive(Debug, thiserror::Error)]
pub enum OverrideError {
    /// The rate can't be parsed.
    #[error("--rate {shown} {1}", shown = Shown(.0))]
    Rate(String, units::Complaint),
    /// A policy can't be parsed.
    #[error("--policy {shown} {1}", shown = Shown(.0))]
    Policy(String, units::Complaint),
    /// Several tasks, and none is named.
    #[error("the scenario's tasks have their own {what}; name one with --task: {there}")]
    WhichTask {
        /// The property that each of them has.
        what: &'static str,
        /// Names of the tasks.
        there: String,
    },
    /// No such task.
    #[error("--task {asked}: no task of the scenario; there are {there}")]
    UnknownTask {
        /// The name on the command line.
        asked: String,
        /// Names of the tasks.
        there: String,
    },
    /// A task is named, but the scenario has none.
    #[error("--task {0}: the scenario has one loop and no tasks; leave it out")]
    NoTasks(String),
    /// A task is named without a change.
    #[error("--task {0}: give what to change: --rate, --cpu or both")]
    NothingOfTask(String),
    /// The text is no TOML.
    #[error(transparent)]
    Toml(#[from] toml::de::Error),
    /// The changed text can't be written as TOML.
    #[error(transparent)]
    Written(#[from] toml::ser::Error),
}

impl ScenarioOverrides<'_> {
    /// Whether there are any.
    pub fn is_empty(&self) -> bool {
        self.rate.is_none()
            && self.cpu.is_none()
            && self.task.is_none()
            && self.policies.is_empty()
            && self.criterion.is_none()
    }

    /// The text with them.
    ///
    /// # Errors
    /// In one line, naming the option.
    pub fn apply_to(&self, text: &str) -> Result<String, OverrideError> {
        let mut table: toml::Table = text.parse()?;
        // Where the text says the period, reservations are held against it when it is read.
        let mut period_ns = u64::from(u32::MAX);
        if let Some(text) = self.rate {
            let complaint = |complaint| OverrideError::Rate(text.to_owned(), complaint);
            period_ns = units::parse_rate(text).map_err(complaint)?.period_ns;
        }
        if let Some(of_loop) = self.of_which_loop(&mut table)? {
            if let Some(text) = self.rate {
                of_loop.remove("period");
                of_loop.insert("rate".into(), text.into());
            }
            if let Some(cpu) = self.cpu {
                of_loop.remove("cpus");
                of_loop.insert("cpu".into(), i64::from(cpu).into());
            }
        }
        if let Some(limits) = self.criterion {
            let own = table
                .entry("criterion")
                .or_insert_with(|| toml::Table::new().into());
            if let Some(own) = own.as_table_mut() {
                own.extend(limits.clone());
            }
        }
        if !self.policies.is_empty() {
            for policy in self.policies {
                let complaint = |complaint| OverrideError::Policy(policy.clone(), complaint);
                parse_policy(policy, period_ns).map_err(complaint)?;
            }
            table.insert("policies".into(), self.policies.to_vec().into());
        } else if let Some(before_ns) = self.reserved_for.filter(|&before| before != period_ns) {
            for policy in policies_of(&mut table) {
                scale_reservation(policy, before_ns, period_ns);
            }
        }
        Ok(toml::to_string(&table)?)
    }

    /// The table whose rate and CPU are to be other, if any of them is: the scenario itself, or one
    /// of its tasks.
    fn of_which_loop<'t>(
        &self,
        table: &'t mut toml::Table,
    ) -> Result<Option<&'t mut toml::Table>, OverrideError> {
        let what = match (self.rate, self.cpu, self.task) {
            (None, None, None) => return Ok(None),
            (None, None, Some(task)) => return Err(OverrideError::NothingOfTask(task.to_owned())),
            (Some(_), ..) => "rates",
            (None, Some(_), _) => "CPUs",
        };
        if !table.contains_key("tasks") {
            return match self.task {
                Some(task) => Err(OverrideError::NoTasks(task.to_owned())),
                None => Ok(Some(table)),
            };
        }
        let tasks = table.get_mut("tasks").and_then(toml::Value::as_array_mut);
        let tasks = tasks.into_iter().flatten();
        let mut tasks: Vec<_> = tasks.filter_map(toml::Value::as_table_mut).collect();
        let name = |task: &toml::Table| {
            let name = task.get("name").and_then(toml::Value::as_str);
            name.unwrap_or_default().to_owned()
        };
        let names: Vec<String> = tasks.iter().map(|task| name(task)).collect();
        let there = names.join(", ");
        let Some(asked) = self.task else {
            return Err(OverrideError::WhichTask { what, there });
        };
        match names.iter().position(|name| name == asked) {
            Some(place) => Ok(Some(tasks.swap_remove(place))),
            None => Err(OverrideError::UnknownTask {
                asked: asked.to_owned(),
                there,
            }),
        }
    }
}

impl fmt::Display for ScenarioOverrides<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = self.rate.map(|rate| format!("--rate '{rate}'"));
        let cpu = self.cpu.map(|cpu| format!("--cpu {cpu}"));
        let policies = self.policies.iter().map(|of| format!("--policy '{of}'"));
        let task = self.task.map(|task| format!("--task {task}"));
        let limits = self
            .criterion
            .into_iter()
            .flatten()
            .map(|(key, value)| match value {
                toml::Value::String(text) => format!("--criterion '{key} {text}'"),
                value => format!("--criterion '{key} {value}'"),
            });
        let of_loop = rate.into_iter().chain(cpu).chain(task);
        let all: Vec<String> = of_loop.chain(policies).chain(limits).collect();
        f.write_str(&all.join(" "))
    }
}

fn policies_of(table: &mut toml::Table) -> impl Iterator<Item = &mut toml::Value> {
    let policies = table
        .get_mut("policies")
        .and_then(toml::Value::as_array_mut);
    policies.into_iter().flatten()
}

/// A DEADLINE runtime keeps its share of the period: 400 µs of 4 ms are 100 µs of 1 ms. An invalid
/// policy is refused when the scenario is read.
fn scale_reservation(policy: &mut toml::Value, before_ns: u64, period_ns: u64) {
    let written = policy.as_str().unwrap_or_default();
    if let Ok(Policy::Deadline { runtime_ns, .. }) = parse_policy(written, before_ns) {
        let share = u128::from(runtime_ns) * u128::from(period_ns) / u128::from(before_ns);
        *policy = format!("DEADLINE {share} ns").into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_changed_is_changed_and_the_rest_stays() {
        let policies = ["FIFO 80".to_owned()];
        let overrides = ScenarioOverrides {
            rate: Some("1kHz"),
            cpu: Some(1),
            task: None,
            policies: &policies,
            criterion: None,
            reserved_for: None,
        };
        let text = overrides
            .apply_to("name = \"x\"\nperiod = \"4 ms\"\nwork = { kind = \"none\" }\n")
            .unwrap();
        let table: toml::Table = text.parse().unwrap();
        assert_eq!(table["rate"].as_str(), Some("1kHz"));
        assert!(!table.contains_key("period"));
        assert_eq!(table["cpu"].as_integer(), Some(1));
        assert_eq!(table["policies"][0].as_str(), Some("FIFO 80"));
        assert_eq!(table["work"]["kind"].as_str(), Some("none"));
        assert_eq!(
            overrides.to_string(),
            "--rate '1kHz' --cpu 1 --policy 'FIFO 80'"
        );
    }

    const TASKS: &str = "name = \"x\"\n[[tasks]]\nname = \"imu\"\nperiod = \"1 ms\"\n\
                         [[tasks]]\nname = \"control\"\nperiod = \"4 ms\"\ncpus = [0, 1]\n";

    #[test]
    fn of_tasks_the_one_that_is_named_is_changed() {
        let overrides = ScenarioOverrides {
            rate: Some("500 Hz"),
            cpu: Some(1),
            task: Some("control"),
            ..ScenarioOverrides::default()
        };
        let table: toml::Table = overrides.apply_to(TASKS).unwrap().parse().unwrap();
        assert_eq!(table["tasks"][0]["period"].as_str(), Some("1 ms"));
        let control = table["tasks"][1].as_table().unwrap();
        assert_eq!(control["rate"].as_str(), Some("500 Hz"));
        assert_eq!(control["cpu"].as_integer(), Some(1));
        assert!(!control.contains_key("period") && !control.contains_key("cpus"));
        assert!(!table.contains_key("rate") && !table.contains_key("cpu"));
    }

    #[test]
    fn which_task_is_meant_must_be_told_and_must_be_there() {
        let refused = |rate, cpu, task, text| {
            let overrides = ScenarioOverrides {
                rate,
                cpu,
                task,
                ..ScenarioOverrides::default()
            };
            overrides.apply_to(text).unwrap_err().to_string()
        };
        assert_eq!(
            refused(Some("1kHz"), None, None, TASKS),
            "the scenario's tasks have their own rates; name one with --task: imu, control"
        );
        assert_eq!(
            refused(None, Some(1), None, TASKS),
            "the scenario's tasks have their own CPUs; name one with --task: imu, control"
        );
        assert_eq!(
            refused(Some("1kHz"), None, Some("gps"), TASKS),
            "--task gps: no task of the scenario; there are imu, control"
        );
        assert_eq!(
            refused(
                Some("1kHz"),
                None,
                Some("imu"),
                "name = \"x\"\nrate = \"1 kHz\"\n"
            ),
            "--task imu: the scenario has one loop and no tasks; leave it out"
        );
        assert_eq!(
            refused(None, None, Some("imu"), TASKS),
            "--task imu: give what to change: --rate, --cpu or both"
        );
    }
}
