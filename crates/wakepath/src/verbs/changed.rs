//! A scenario's text with what the command line changes in it, so that what that means is checked,
//! recorded and shown like any scenario. It reads no file.

use std::fmt;
use wakepath_scenario::{parse_policy, units};
use wakepath_timeline::Policy;

/// What is to be other than the text says.
#[derive(Debug, Clone, Copy, Default)]
pub struct Changes<'a> {
    pub rate: Option<&'a str>,
    pub cpu: Option<u16>,
    /// Instead of the text's, unless there are none.
    pub policies: &'a [String],
    /// Reservations that are not replaced keep their share of this period, in nanoseconds.
    pub reserved_for: Option<u64>,
}

/// Why a text can't be changed so.
#[derive(Debug, thiserror::Error)]
pub enum Unchangeable {
    #[error("--rate {0}: {1}")]
    Rate(String, units::Complaint),
    #[error("--policy '{0}': {1}")]
    Policy(String, units::Complaint),
    #[error(
        "{option}: the scenario's tasks have {what} of their own; change them in its file, or take a \
         scenario with one loop"
    )]
    Tasks {
        option: &'static str,
        what: &'static str,
    },
    #[error(transparent)]
    Toml(#[from] toml::de::Error),
    #[error(transparent)]
    Written(#[from] toml::ser::Error),
}

impl Changes<'_> {
    /// Whether there are any.
    pub fn are_none(&self) -> bool {
        self.rate.is_none() && self.cpu.is_none() && self.policies.is_empty()
    }

    /// The text with them.
    ///
    /// # Errors
    /// In one line, naming the option.
    pub fn made_in(&self, text: &str) -> Result<String, Unchangeable> {
        let mut table: toml::Table = text.parse()?;
        let has_tasks = table.contains_key("tasks");
        let refused = |option, what| Unchangeable::Tasks { option, what };
        if self.rate.is_some() && has_tasks {
            return Err(refused("--rate", "periods"));
        }
        if self.cpu.is_some() && has_tasks {
            return Err(refused("--cpu", "CPUs"));
        }
        // Where the text says the period, reservations are held against it when it is read.
        let mut period_ns = u64::from(u32::MAX);
        if let Some(text) = self.rate {
            let complaint = |complaint| Unchangeable::Rate(text.to_owned(), complaint);
            period_ns = units::parse_rate(text).map_err(complaint)?.period_ns;
            table.remove("period");
            table.insert("rate".into(), text.into());
        }
        if let Some(cpu) = self.cpu {
            table.insert("cpu".into(), i64::from(cpu).into());
        }
        if !self.policies.is_empty() {
            for policy in self.policies {
                let complaint = |complaint| Unchangeable::Policy(policy.clone(), complaint);
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
}

impl fmt::Display for Changes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = self.rate.map(|rate| format!("--rate '{rate}'"));
        let cpu = self.cpu.map(|cpu| format!("--cpu {cpu}"));
        let policies = self.policies.iter().map(|of| format!("--policy '{of}'"));
        let all: Vec<String> = rate.into_iter().chain(cpu).chain(policies).collect();
        f.write_str(&all.join(" "))
    }
}

fn policies_of(table: &mut toml::Table) -> impl Iterator<Item = &mut toml::Value> {
    let policies = table
        .get_mut("policies")
        .and_then(toml::Value::as_array_mut);
    policies.into_iter().flatten()
}

/// A DEADLINE runtime keeps its share of the period: 400 µs of 4 ms are 100 µs of 1 ms. What is no
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
        let changes = Changes {
            rate: Some("1kHz"),
            cpu: Some(1),
            policies: &policies,
            reserved_for: None,
        };
        let text = changes
            .made_in("name = \"x\"\nperiod = \"4 ms\"\nwork = { kind = \"none\" }\n")
            .unwrap();
        let table: toml::Table = text.parse().unwrap();
        assert_eq!(table["rate"].as_str(), Some("1kHz"));
        assert!(!table.contains_key("period"));
        assert_eq!(table["cpu"].as_integer(), Some(1));
        assert_eq!(table["policies"][0].as_str(), Some("FIFO 80"));
        assert_eq!(table["work"]["kind"].as_str(), Some("none"));
        assert_eq!(
            changes.to_string(),
            "--rate '1kHz' --cpu 1 --policy 'FIFO 80'"
        );
    }

    #[test]
    fn a_set_of_tasks_has_no_one_rate() {
        let changes = Changes {
            rate: Some("1kHz"),
            ..Changes::default()
        };
        let tasks = "name = \"x\"\n[[tasks]]\nname = \"a\"\nperiod = \"1 ms\"\n";
        let said = changes.made_in(tasks).unwrap_err().to_string();
        assert!(
            said.starts_with("--rate: ") && said.contains("tasks"),
            "{said}"
        );
    }
}
