//! A bisection as stored in its directory, so that it can resume.
//!
//! Holds the options, and each kernel's counts or the reason why there are none.

use super::search::{Became, Search};
use super::watched::{WatchedCount, median};
use crate::baseline::{BaselineOrder, ConditionCounts};
use crate::fault::FileFault;
use crate::whole_file::whole_or_not;
use crate::{LabError, Result};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use wakepath_archive::read_legible;

const NAME: &str = "bisection.json";
const VERSION: u32 = 2;

/// A bisection in progress. The first kernel of its row is good, the last is bad.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bisection {
    version: u32,
    /// Options of the measurement, with the row of kernels.
    pub order: BaselineOrder,
    /// The count that distinguishes good from bad, and the condition if one was given.
    pub count: String,
    /// See `count`.
    pub condition: Option<String>,
    /// Kernels measured so far, in order.
    pub steps: Vec<Step>,
}

/// A kernel that was measured, or could not be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its index in the row.
    pub kernel: usize,
    /// Its runs, one for each seed; empty if it could not be measured.
    pub runs: Vec<SeedRun>,
    /// Why it could not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// The run of one seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeedRun {
    /// Its directory.
    pub directory: PathBuf,
    /// Counts of its conditions.
    pub conditions: Vec<ConditionCounts>,
}

impl Step {
    /// Counts of the conditions, once for each seed.
    pub fn seeds(&self) -> Vec<&[ConditionCounts]> {
        let runs = self.runs.iter();
        runs.map(|run| run.conditions.as_slice()).collect()
    }

    /// The run whose count is the median of all seeds.
    pub fn median_run(&self, watched: &WatchedCount) -> Option<&SeedRun> {
        let values = watched.values(&self.seeds())?;
        let wanted = median(&values);
        let at = values.iter().position(|value| *value == wanted)?;
        self.runs.get(at)
    }
}

/// Next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Index of the kernel to measure next, and the greatest number still to measure, this one
    /// included.
    Measure(usize, u32),
    /// It is found.
    Found(WatchedCount, super::search::Turn),
    /// This end of the row could not be measured.
    NoEnd(usize),
    /// The count has grown nowhere by more than chance at the end of the row.
    NoGrowth,
}

impl Bisection {
    /// A new one.
    pub fn new(order: BaselineOrder, count: String, condition: Option<String>) -> Self {
        Self {
            version: VERSION,
            order,
            count,
            condition,
            steps: Vec::new(),
        }
    }

    /// Resumes the bisection in this directory, if there is one with the same options.
    ///
    /// # Errors
    /// If it can't be read, or has other options.
    pub fn resumed(self, directory: &Path) -> Result<Self> {
        let path = directory.join(NAME);
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(self),
            Err(error) => return Err(LabError::io("read", &path, error)),
        };
        let read = read_legible::<Self>(&text).map_err(|source| LabError::File {
            path: path.clone(),
            fault: FileFault::NotUnderstood {
                is_not: "no bisection of the laboratory",
                source,
                remedy: Some("remove it to measure everything again"),
            },
        })?;
        let steps = read.steps;
        let fits = steps
            .iter()
            .all(|step| step.kernel < self.order.guests.kernels.len());
        let begun = Self {
            steps: Vec::new(),
            ..read
        };
        // As it would be read back: its texts are one line each.
        let own = serde_json::to_vec(&self)
            .ok()
            .and_then(|text| read_legible(&text).ok());
        if fits && own.as_ref() == Some(&begun) {
            Ok(Self { steps, ..self })
        } else {
            Err(LabError::OtherBisection { path })
        }
    }

    /// Stores it.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn keep(&self, directory: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self).expect("plain data is JSON");
        let path = directory.join(NAME);
        whole_or_not(&path, &(text + "\n"))
    }

    /// The step that measured this kernel.
    pub fn step(&self, kernel: usize) -> Option<&Step> {
        self.steps.iter().find(|step| step.kernel == kernel)
    }

    /// The count that distinguishes good from bad, if both ends are measured and it grew.
    pub fn watched(&self) -> Option<WatchedCount> {
        let last = self.order.guests.kernels.len() - 1;
        let (good, bad) = (self.step(0)?, self.step(last)?);
        let asked = self.condition.as_deref();
        WatchedCount::grown_most(&good.seeds(), &bad.seeds(), &self.count, asked)
    }

    /// Outcome of a kernel.
    pub fn became(&self, step: &Step, watched: &WatchedCount) -> Became {
        match watched.values(&step.seeds()) {
            Some(values) => watched.became(&values),
            None => Became::Skipped,
        }
    }

    /// The next step: the ends of the row first.
    pub fn next(&self) -> Next {
        let length = self.order.guests.kernels.len();
        let mut search = Search::new(length);
        let ends = [0, length - 1];
        let ends_left = ends.iter().filter(|end| self.step(**end).is_none());
        let ends_left = ends_left.count() as u32;
        for end in ends {
            match self.step(end) {
                None => return Next::Measure(end, ends_left + search.steps_left()),
                Some(step) if step.failed.is_some() => return Next::NoEnd(end),
                Some(_) => {}
            }
        }
        let Some(watched) = self.watched() else {
            return Next::NoGrowth;
        };
        let inner = |step: &&Step| step.kernel != 0 && step.kernel != length - 1;
        for step in self.steps.iter().filter(inner) {
            search.tell(step.kernel, self.became(step, &watched));
        }
        match search.next() {
            Some(kernel) => Next::Measure(kernel, search.steps_left()),
            None => Next::Found(watched, search.turn()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asked::GuestsAsked;
    use wakepath_archive::GuestAdditions;

    fn bisection(kernels: &[&str]) -> Bisection {
        let order = BaselineOrder {
            guests: GuestsAsked {
                kernels: kernels.iter().map(|&name| name.to_owned()).collect(),
                variants: Vec::new(),
                architecture: "x86-64".into(),
                cpus: 1,
                topology: None,
                before: Vec::new(),
                ns_per_instruction: 1,
                memory_mib: 1024,
                added: GuestAdditions::default(),
            },
            seeds: vec![1, 2, 3],
            scenario: "name = \"a\"\nrate = \"1 kHz\"\n".into(),
        };
        Bisection::new(order, "latency_of_wake_ups_max_ns".into(), None)
    }

    fn measured(kernel: usize, max: Option<i64>) -> Step {
        let runs = max.into_iter().flat_map(|max| [max, max + 1, max + 2]);
        let runs = runs.enumerate().map(|(seed, max)| SeedRun {
            directory: format!("1/seed-{seed}").into(),
            conditions: vec![ConditionCounts {
                condition: "FIFO 80, idle".into(),
                counts: [("latency_of_wake_ups_max_ns".to_owned(), max)].into(),
                median_path: Vec::new(),
                worst_path: Vec::new(),
            }],
        });
        Step {
            kernel,
            failed: max.is_none().then(|| "it panicked".into()),
            runs: runs.collect(),
        }
    }

    #[test]
    fn the_ends_come_first_and_the_step_is_found_between() {
        let mut of = bisection(&["a", "b", "c", "d", "e"]);
        let latencies = [4_000, 4_010, 4_005, 9_000, 9_100];
        let mut tried = Vec::new();
        let turn = loop {
            match of.next() {
                Next::Measure(kernel, left) => {
                    tried.push((kernel, left));
                    of.steps.push(measured(kernel, Some(latencies[kernel])));
                }
                Next::Found(watched, turn) => {
                    assert_eq!(watched.good, [4_000, 4_001, 4_002]);
                    let middle = of.steps[1].median_run(&watched).unwrap();
                    assert_eq!(middle.directory, PathBuf::from("1/seed-1"));
                    break turn;
                }
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(tried, [(0, 4), (4, 3), (2, 2), (3, 1)]);
        assert_eq!((turn.good, turn.bad), (2, 3));
    }

    #[test]
    fn an_end_without_figures_and_ends_that_do_not_differ_are_said() {
        let mut of = bisection(&["a", "b"]);
        of.steps = vec![measured(0, None)];
        assert_eq!(of.next(), Next::NoEnd(0));
        of.steps = vec![measured(0, Some(5)), measured(1, Some(5))];
        assert_eq!(of.next(), Next::NoGrowth);
    }

    #[test]
    fn one_that_was_stopped_goes_on_and_another_question_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let mut of = bisection(&["a", "b", "c"]);
        assert_eq!(of.clone().resumed(place.path()).unwrap(), of);
        of.steps.push(measured(0, Some(4_000)));
        of.keep(place.path()).unwrap();
        assert_eq!(
            bisection(&["a", "b", "c"]).resumed(place.path()).unwrap(),
            of
        );
        let other = bisection(&["a", "b", "d"]).resumed(place.path());
        let said = other.unwrap_err().to_string();
        assert!(said.contains("another bisection"), "{said}");
    }
}
