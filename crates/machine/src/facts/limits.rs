//! The resource limits that decide what a process without privileges may do.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Misread, Reading, Root};

/// A soft limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Up to this much.
    Of(u64),
    /// No limit.
    Unlimited,
    /// Not known to this version.
    #[default]
    Unknown,
}

impl fmt::Display for Limit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Of(value) => write!(out, "{value}"),
            Self::Unlimited => write!(out, "unlimited"),
            Self::Unknown => write!(out, "unknown"),
        }
    }
}

/// The soft limits of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Memory it may lock, bytes (RLIMIT_MEMLOCK).
    pub locked_memory: Limit,
    /// 20 − the lowest nice value it may take (RLIMIT_NICE).
    pub nice: Limit,
    /// The highest real-time priority it may take (RLIMIT_RTPRIO).
    pub priority: Limit,
    /// How long it may run at a real-time priority without sleeping, µs (RLIMIT_RTTIME).
    pub real_time_us: Limit,
}

impl Limits {
    pub(super) fn read(root: &Root, process: &str) -> Reading<Self> {
        root.parsed(&format!("{process}/limits"), parse)
    }
}

fn parse(text: &str) -> Result<Limits, Misread> {
    let soft = |name: &str| {
        let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
        match rest.split_whitespace().next()? {
            "unlimited" => Some(Limit::Unlimited),
            number => number.parse().ok().map(Limit::Of),
        }
    };
    let limit = |name: &str| soft(name).ok_or_else(|| Misread::lacks(format!("`{name}` line")));
    Ok(Limits {
        locked_memory: limit("Max locked memory")?,
        nice: limit("Max nice priority")?,
        priority: limit("Max realtime priority")?,
        real_time_us: limit("Max realtime timeout")?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn soft_limits_are_taken_not_hard_ones() {
        let text = "Max locked memory         8388608   unlimited   bytes\n\
                    Max nice priority         0     40\n\
                    Max realtime priority     95    99\n\
                    Max realtime timeout      unlimited  unlimited  us\n";
        let limits = parse(text).unwrap();
        assert_eq!(limits.locked_memory, Limit::Of(8_388_608));
        assert_eq!(limits.priority, Limit::Of(95));
        assert_eq!(limits.real_time_us, Limit::Unlimited);
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in "(Max (locked memory|nice priority) ?|[0-9a-z \n])*") {
            let _ = parse(&text);
        }
    }
}
