//! How often a control group ran into its memory limits: each time, its threads free memory themselves before they get
//! any, and wait for it.

use serde::{Deserialize, Serialize};

use crate::{Misread, Reading, Root};
use wakepath_timeline::ControlGroup;

/// Counters of one group since it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryLimitHits {
    /// Times that it was above `memory.high` and was slowed down; 0 for version 1.
    pub high: u64,
    /// Times that it reached `memory.max`, or version 1's limit.
    pub max: u64,
}

impl MemoryLimitHits {
    /// Those of a group of the memory controller.
    pub(super) fn read(root: &Root, group: &ControlGroup) -> Reading<Self> {
        if group.is_v2 {
            root.parsed(&group.file("memory.events"), parse)
        } else {
            root.number(&group.file("memory.failcnt"))
                .map(|max| Self { high: 0, max })
        }
    }
}

fn parse(text: &str) -> Result<MemoryLimitHits, Misread> {
    let value = |name: &str| {
        let mut lines = text.lines();
        lines.find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
    };
    match (value("high "), value("max ")) {
        (Some(high), Some(max)) => Ok(MemoryLimitHits { high, max }),
        _ => Err(Misread::lacks("`high` and `max` counters")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counters_of_version_2_are_read_by_name() {
        let text = "low 1\nhigh 7\nmax 3\noom 2\noom_kill 1\n";
        assert_eq!(parse(text), Ok(MemoryLimitHits { high: 7, max: 3 }));
        assert!(parse("low 1\n").is_err());
    }
}
