//! The worst cycles of each loop, with what was around them. They are kept for ever, and so many at most.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use wakepath_directory::Directory;

/// Name of their file.
const NAME: &str = "worst.json";

/// A cycle that took long. Times in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorstCycle {
    /// When it was due, since 1970.
    pub at_ns: u64,
    /// When it was due, on the clock of its boot: what it is known by.
    pub due_ns: u64,
    /// The segment that it is in, which may be gone by now.
    pub segment: String,
    /// Its number there.
    pub cycle: u64,
    /// Wake-up latency.
    pub latency_ns: i64,
    /// Response time; the largest are the worst.
    pub response_ns: i64,
    /// CPU on which it woke.
    pub cpu: u16,
    /// The cycles before and after it.
    pub around: Vec<Neighbour>,
    /// Its sections: name, beginning and end after it was due.
    pub sections: Vec<(String, i64, i64)>,
    /// What the loop said from a second before it to its end: after it was due, and the line.
    pub lines: Vec<(i64, String)>,
}

/// A cycle beside one that took long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Neighbour {
    /// Its number.
    pub cycle: u64,
    /// Its wake-up latency in nanoseconds.
    pub latency_ns: i64,
    /// Its response time in nanoseconds.
    pub response_ns: i64,
}

/// All that are kept, by loop, the worst first.
#[derive(Debug, Default)]
pub struct Worst {
    most: usize,
    loops: BTreeMap<String, Vec<WorstCycle>>,
    is_changed: bool,
}

impl Worst {
    /// Those in the directory, so many of each loop at most.
    pub fn open(directory: &Path, most: usize) -> Self {
        Self {
            most,
            loops: read_worst(directory).unwrap_or_default(),
            is_changed: false,
        }
    }

    /// The response time that a cycle must be above to be kept.
    pub fn threshold_ns(&self, name: &str) -> i64 {
        match self.loops.get(name) {
            _ if self.most == 0 => i64::MAX,
            Some(kept) if kept.len() >= self.most => {
                kept.last().map_or(i64::MIN, |least| least.response_ns)
            }
            _ => i64::MIN,
        }
    }

    /// Takes in one, unless it is there.
    pub fn add(&mut self, name: &str, cycle: WorstCycle) {
        let kept = self.loops.entry(name.into()).or_default();
        let known = |of: &WorstCycle| of.due_ns == cycle.due_ns && of.segment == cycle.segment;
        if kept.iter().any(known) {
            return;
        }
        let place = kept.partition_point(|of| of.response_ns >= cycle.response_ns);
        kept.insert(place, cycle);
        kept.truncate(self.most);
        self.is_changed = true;
    }

    /// Writes them, where they have changed: the old file or the new one is there, whatever happens.
    ///
    /// # Errors
    /// The system's.
    pub fn write(&mut self, directory: &Directory) -> io::Result<()> {
        if !self.is_changed {
            return Ok(());
        }
        directory.put(NAME, &serde_json::to_vec(&self.loops)?)?;
        self.is_changed = false;
        Ok(())
    }
}

/// The worst cycles of each loop, the worst first; none where there is no file of them.
///
/// # Errors
/// The system's, and where something else is in the file.
pub fn read_worst(directory: &Path) -> io::Result<BTreeMap<String, Vec<WorstCycle>>> {
    match std::fs::read(directory.join(NAME)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        read => Ok(serde_json::from_slice(&read?)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_stay_and_none_is_there_twice() {
        let mut worst = Worst {
            most: 2,
            ..Worst::default()
        };
        for (due_ns, response_ns) in [(1, 10), (2, 30), (3, 20), (2, 30), (4, 5)] {
            let cycle = WorstCycle {
                at_ns: 0,
                due_ns,
                segment: "a".into(),
                cycle: due_ns,
                latency_ns: 0,
                response_ns,
                cpu: 0,
                around: Vec::new(),
                sections: Vec::new(),
                lines: Vec::new(),
            };
            if response_ns > worst.threshold_ns("loop") {
                worst.add("loop", cycle);
            }
        }
        let kept: Vec<i64> = worst.loops["loop"]
            .iter()
            .map(|of| of.response_ns)
            .collect();
        assert_eq!(kept, [30, 20]);
        assert_eq!(worst.threshold_ns("loop"), 20);
    }
}
