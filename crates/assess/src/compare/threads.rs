//! Threads of programs that were observed: which thread of one run is which of another. The program decides how many
//! there are, and a number after a name depends on the others.

use crate::watched::comes_without_period;
use std::collections::BTreeMap;
use wakepath_archive::{Run, ThreadRecord};
use wakepath_timeline::count::first_and_more;

/// Periods of one thread in two runs differ by no more than this share, one in so many: some are measured.
const PERIODS_APART: u64 = 20;
/// Threads left out that are named.
const MOST_NAMED: usize = 6;

/// The threads of a run whose program was observed.
pub(crate) struct Threads(Vec<Thread>);

struct Thread {
    /// Its name in the run.
    name: String,
    /// The same without the number that distinguishes it from others in that run.
    own_name: String,
    /// In nanoseconds; `None` of a thread without a period.
    period_ns: Option<u64>,
}

impl Threads {
    /// Those of a run.
    pub(super) fn new(run: &Run) -> Self {
        let records = run.manifest.segments.iter().flat_map(|of| &of.threads);
        let mut threads: Vec<Thread> = Vec::new();
        for record in records {
            if threads.iter().all(|known| known.name != record.name) {
                threads.push(Thread::new(record));
            }
        }
        Self(threads)
    }

    /// For each thread of `other` that is in both runs, its name there and the name here.
    pub(super) fn names_in<'a>(&'a self, other: &'a Self) -> BTreeMap<&'a str, &'a str> {
        let mut names = BTreeMap::new();
        for thread in &self.0 {
            let alike = |of: &&Thread| thread.is(of);
            let here: Vec<&Thread> = self.0.iter().filter(alike).collect();
            let there: Vec<&Thread> = other.0.iter().filter(alike).collect();
            let place = here.iter().position(|of| of.name == thread.name);
            // Of more threads than the other run has, which is missing is unknown.
            if here.len() == there.len()
                && let Some(of) = place.and_then(|at| there.get(at))
            {
                names.entry(&*of.name).or_insert(&*thread.name);
            }
        }
        names
    }

    /// Its threads' names and periods, as a text.
    pub(super) fn list(&self) -> String {
        let named = |of: &Thread| match of.period_ns {
            Some(ns) => format!("{} ({})", of.name, wakepath_timeline::duration::length(ns)),
            None => of.name.clone(),
        };
        shortened(self.0.iter().map(named).collect())
    }

    /// Its threads that are not compared, as a text; `None` if all are. `compared`: whether a name here is.
    pub(super) fn left_out(&self, compared: impl Fn(&str) -> bool) -> Option<String> {
        let left_out = self.0.iter().filter(|of| !compared(&of.name));
        let left_out: Vec<String> = left_out.map(|of| of.name.clone()).collect();
        (!left_out.is_empty()).then(|| shortened(left_out))
    }
}

impl Thread {
    fn new(record: &ThreadRecord) -> Self {
        let own_name = record.effective.details.get("own_name");
        let own_name = own_name.and_then(serde_json::Value::as_str);
        Self {
            name: record.name.clone(),
            own_name: own_name.unwrap_or(&record.name).to_owned(),
            period_ns: (!comes_without_period(record)).then_some(record.due.period_ns),
        }
    }

    /// Whether it can be the same thread in another run.
    fn is(&self, other: &Self) -> bool {
        let is_near = match (self.period_ns, other.period_ns) {
            (Some(one), Some(two)) => one.abs_diff(two) <= one.max(two) / PERIODS_APART,
            (None, None) => true,
            _ => false,
        };
        is_near && self.own_name == other.own_name
    }
}

/// The first names of a list, and how many more there are.
fn shortened(names: Vec<String>) -> String {
    first_and_more(names, MOST_NAMED).join(", ")
}
