//! A process: its CPUs, its policy, its rights. By default it is the reading one; a loop started elsewhere
//! (a unit, a container) can have others.

use serde::{Deserialize, Serialize};

use super::{Capabilities, Limits};
use crate::{Misread, Reading, Root};
use wakepath_timeline::CpuSet;

/// A process, as its directory in `/proc` shows it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Process {
    /// The CPUs it may run on.
    pub affinity: Reading<CpuSet>,
    /// Effective capabilities.
    pub capabilities: Reading<Capabilities>,
    /// Whether it lives in a user namespace of its own: capabilities then do not count.
    pub own_user_namespace: Reading<bool>,
    /// 0 none, 1 strict, 2 filter: a filter may refuse calls that the rights would allow.
    pub seccomp: Reading<u32>,
    /// Soft resource limits.
    pub limits: Reading<Limits>,
    /// Nice value.
    pub nice: Reading<i32>,
    /// Policy number: 0 OTHER, 1 FIFO, 2 RR, 6 DEADLINE.
    pub policy: Reading<u32>,
    /// Real-time priority; 0 for OTHER.
    pub priority: Reading<u32>,
    /// How late its timers may be to save power, ns; real-time policies ignore it.
    pub timer_slack_ns: Reading<u64>,
}

impl Process {
    /// The process at `process`: `/proc/self`, or `/proc/PID`.
    pub(super) fn read(root: &Root, process: &str) -> Self {
        let status = root.text(&format!("{process}/status"));
        let stat = root.text(&format!("{process}/stat"));
        Self {
            affinity: status
                .clone()
                .parse(|text| Ok(field(text, "Cpus_allowed_list")?.parse()?)),
            capabilities: status.clone().parse(|text| {
                let mask = u64::from_str_radix(field(text, "CapEff")?, 16);
                mask.map(Capabilities::from_mask)
                    .map_err(|_| Misread::NotOfForm("a hexadecimal `CapEff:`"))
            }),
            own_user_namespace: root
                .text(&format!("{process}/uid_map"))
                .map(|map| map.split_whitespace().collect::<Vec<_>>() != ["0", "0", "4294967295"]),
            seccomp: status.parse(|text| number(field(text, "Seccomp")?)),
            limits: Limits::read(root, process),
            nice: stat.clone().parse(|text| number(stat_field(text, 19)?)),
            policy: stat.clone().parse(|text| number(stat_field(text, 41)?)),
            priority: stat.parse(|text| number(stat_field(text, 40)?)),
            timer_slack_ns: root.number(&format!("{process}/timerslack_ns")),
        }
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, Misread> {
    text.parse().map_err(|_| Misread::NotANumber)
}

fn field<'a>(text: &'a str, name: &str) -> Result<&'a str, Misread> {
    text.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
        .map(str::trim)
        .ok_or_else(|| Misread::lacks(format!("`{name}:` line")))
}

/// A field by its number in proc_pid_stat(5), 3 or above. The command name in field 2 may hold
/// spaces and parentheses, so counting starts after the last `)`.
fn stat_field(text: &str, wanted: usize) -> Result<&str, Misread> {
    let after = text
        .rfind(')')
        .map(|end| &text[end + 1..])
        .ok_or_else(|| Misread::lacks("`)` after the name"))?;
    after
        .split_whitespace()
        .nth(wanted - 3)
        .ok_or_else(|| Misread::lacks(format!("field {wanted}")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_command_name_with_parentheses_does_not_shift_the_fields() {
        let tail: Vec<String> = (4..=52).map(|field| field.to_string()).collect();
        let text = format!("1 (a) b) (c) R {}", tail.join(" "));
        assert_eq!(stat_field(&text, 3), Ok("R"));
        assert_eq!(stat_field(&text, 19), Ok("19"));
        assert_eq!(stat_field(&text, 41), Ok("41"));
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text: String) {
            let _ = (stat_field(&text, 19), field(&text, "CapEff"));
        }
    }
}
