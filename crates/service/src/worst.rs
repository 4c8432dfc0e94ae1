//! The worst cycles of each loop and their surroundings.
//!
//! They are kept forever, up to a fixed number.

use crate::recent::Offered;
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
    /// Its due time on the clock of its boot, which identifies it.
    pub due_ns: u64,
    /// Its segment, which might have been removed.
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
    /// Its sections: name, beginning and end after the due time.
    pub sections: Vec<(String, i64, i64)>,
    /// The loop's log lines from a second before it to its end: time after the due time, and the
    /// line.
    pub lines: Vec<(i64, String)>,
    /// Place of the kernel events around it, if they were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Traced>,
}

/// Place of the kernel events around a cycle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traced {
    /// The run directory below the service's `worst`.
    pub run: String,
    /// The cycle's number there.
    pub cycle: u64,
}

/// A cycle next to one that took long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Neighbour {
    /// Its number.
    pub cycle: u64,
    /// Its wake-up latency in nanoseconds.
    pub latency_ns: i64,
    /// Its response time in nanoseconds.
    pub response_ns: i64,
}

/// The stored cycles, by loop, worst first.
#[derive(Debug, Default)]
pub struct Worst {
    most: usize,
    loops: BTreeMap<String, Vec<WorstCycle>>,
    is_changed: bool,
    /// Number of cycles of each loop whose kernel events are kept; 0 if none are recorded.
    most_traced: usize,
    offered: Vec<Offered>,
    /// Runs with events that no cycle needs any more.
    gone: Vec<String>,
}

impl Worst {
    /// The cycles in the directory, at most `most` of each loop.
    pub fn open(directory: &Path, most: usize) -> Self {
        Self {
            most,
            loops: read_worst(directory).unwrap_or_default(),
            ..Self::default()
        }
    }

    /// Offers bad cycles for tracing from now on, and keeps the traces of at most `most` of each
    /// loop.
    pub(crate) fn trace(&mut self, most: usize) {
        self.most_traced = most.min(self.most);
    }

    /// Whether the events around a cycle of this response time are worth keeping.
    pub(crate) fn wants_trace(&self, name: &str, response_ns: i64) -> bool {
        // Compared with the worst of all, traced or not: a cycle that will soon be surpassed is no
        // reason to interrupt the recording of events.
        let kept = self.loops.get(name).map_or(&[][..], Vec::as_slice);
        let least = kept.get(self.most_traced);
        self.most_traced > 0 && least.is_none_or(|least| response_ns > least.response_ns)
    }

    /// Offers a bad cycle whose events are available; of each loop the worst one stays.
    pub(crate) fn offer(&mut self, offered: Offered) {
        let response_ns = offered.sample.response_ns();
        match self.offered.iter_mut().find(|of| of.name == offered.name) {
            Some(of) if of.sample.response_ns() >= response_ns => {}
            Some(of) => *of = offered,
            None => self.offered.push(offered),
        }
    }

    /// The cycles offered since the last call.
    pub(crate) fn offered(&mut self) -> Vec<Offered> {
        std::mem::take(&mut self.offered)
    }

    /// The longest response time whose events are kept.
    pub(crate) fn worst_traced_ns(&self) -> Option<i64> {
        let traced = self
            .loops
            .values()
            .flatten()
            .filter(|of| of.trace.is_some());
        traced.map(|of| of.response_ns).max()
    }

    /// The events around a cycle are there.
    pub(crate) fn has_trace(&mut self, of: &Offered, trace: Traced) {
        let kept = self.loops.entry(of.name.clone()).or_default();
        let found = kept
            .iter_mut()
            .find(|one| one.due_ns == of.sample.due_ns && one.segment == of.segment);
        match found {
            Some(one) => one.trace = Some(trace),
            None => self.gone.push(trace.run),
        }
        let traced = kept.iter_mut().filter(|of| of.trace.is_some());
        let beyond = traced.skip(self.most_traced);
        self.gone
            .extend(beyond.filter_map(|of| of.trace.take()).map(|of| of.run));
        self.is_changed = true;
    }

    /// Runs with events that no cycle refers to any more, since the last call.
    pub(crate) fn gone(&mut self) -> Vec<String> {
        std::mem::take(&mut self.gone)
    }

    /// Whether a cycle needs this run.
    pub(crate) fn needs(&self, run: &str) -> bool {
        let traced = self
            .loops
            .values()
            .flatten()
            .filter_map(|of| of.trace.as_ref());
        traced.into_iter().any(|of| of.run == run)
    }

    /// The response time that a cycle must exceed to be kept.
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
        let beyond = kept.drain(self.most.min(kept.len())..);
        self.gone
            .extend(beyond.filter_map(|of| of.trace).map(|of| of.run));
        self.is_changed = true;
    }

    /// Writes them if they have changed; an interruption leaves the old file or the new one.
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

/// The worst cycles of each loop, worst first; empty without a file.
///
/// # Errors
/// The system's, or if the file can't be parsed.
pub fn read_worst(directory: &Path) -> io::Result<BTreeMap<String, Vec<WorstCycle>>> {
    match Directory::to_read(directory)?.read(NAME)? {
        None => Ok(BTreeMap::new()),
        Some(bytes) => Ok(serde_json::from_slice(&bytes)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycle(due_ns: u64, response_ns: i64) -> WorstCycle {
        WorstCycle {
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
            trace: None,
        }
    }

    fn offered(due_ns: u64, response_ns: u64) -> Offered {
        let sample = wakepath_timeline::Sample {
            due_ns,
            wake_ns: due_ns,
            end_ns: due_ns + response_ns,
            ..wakepath_timeline::Sample::default()
        };
        Offered {
            name: "loop".into(),
            segment: "a".into(),
            sample,
            around: vec![sample],
            beside: Vec::new(),
        }
    }

    #[test]
    fn events_are_kept_of_the_worst_alone_and_go_with_their_cycle() {
        let mut worst = Worst {
            most: 3,
            ..Worst::default()
        };
        assert!(!worst.wants_trace("loop", 10), "nobody records them");
        worst.trace(2);
        for (due_ns, response_ns) in [(1, 10), (2, 30), (3, 20)] {
            worst.add("loop", cycle(due_ns, response_ns as i64));
            assert!(worst.wants_trace("loop", response_ns as i64));
            worst.offer(offered(due_ns, response_ns));
            let offered = worst.offered();
            let run = format!("loop-{due_ns}");
            worst.has_trace(&offered[0], Traced { run, cycle: 4 });
        }
        assert_eq!(worst.gone(), ["loop-1"]);
        assert!(worst.needs("loop-2") && worst.needs("loop-3") && !worst.needs("loop-1"));
        assert_eq!(worst.worst_traced_ns(), Some(30));
        assert!(!worst.wants_trace("loop", 10) && worst.wants_trace("loop", 11));
        for (due_ns, response_ns) in [(4, 50), (5, 40)] {
            worst.add("loop", cycle(due_ns, response_ns));
        }
        assert_eq!(worst.gone(), ["loop-3"], "its cycle is none of the worst");
        // Of several at the same time, the worst.
        worst.offer(offered(4, 50));
        worst.offer(offered(5, 40));
        let left = worst.offered();
        assert_eq!((left.len(), left[0].sample.due_ns), (1, 4));
    }

    #[test]
    fn the_worst_stay_and_none_is_there_twice() {
        let mut worst = Worst {
            most: 2,
            ..Worst::default()
        };
        for (due_ns, response_ns) in [(1, 10), (2, 30), (3, 20), (2, 30), (4, 5)] {
            let cycle = cycle(due_ns, response_ns);
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
