//! Overheads that others measured and published, each with its source: a sweep can use them as well as this
//! machine's. They are data (`published.json`), not knowledge of this program.

use serde::Deserialize;
use wakepath_schedulability::Overheads;
use wakepath_schedulability::overheads::Costs;

/// Published overheads of one kernel.
#[derive(Debug, Clone, Deserialize)]
pub struct PublishedOverheads {
    /// Its name.
    pub name: String,
    /// Where the figures stand.
    pub source: String,
    /// A remark for the reader.
    pub remark: String,
    /// The unknown costs, which count as 0.
    pub unknown: Vec<String>,
    by_tasks: Vec<PublishedCosts>,
}

/// Costs with this number of tasks, in microseconds.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct PublishedCosts {
    tasks: usize,
    event_us: f64,
    release_us: f64,
    scheduling_us: f64,
    switch_us: f64,
    ipi_us: f64,
    tick_us: f64,
    tick_period_us: f64,
}

impl PublishedOverheads {
    /// All that are built in.
    pub fn all() -> Vec<Self> {
        // It is part of the program, and a test reads it.
        serde_json::from_slice(include_bytes!("published.json")).unwrap_or_default()
    }
}

impl Overheads for PublishedOverheads {
    /// Of the next larger number of tasks that was measured, and never less than with fewer tasks.
    fn costs(&self, tasks: usize) -> Costs {
        let until = self.by_tasks.partition_point(|costs| costs.tasks < tasks);
        let counted = &self.by_tasks[..(until + 1).min(self.by_tasks.len())];
        let largest = |of: fn(&PublishedCosts) -> f64| {
            let most = counted.iter().map(of).fold(0.0, f64::max);
            (most * 1000.0).ceil() as u64
        };
        Costs {
            event_ns: largest(|costs| costs.event_us),
            release_ns: largest(|costs| costs.release_us),
            scheduling_ns: largest(|costs| costs.scheduling_us),
            switch_ns: largest(|costs| costs.switch_us),
            ipi_ns: largest(|costs| costs.ipi_us),
            tick_ns: largest(|costs| costs.tick_us),
            tick_period_ns: largest(|costs| costs.tick_period_us),
            section_ns: 0,
        }
    }

    fn cache_delay_ns(&self, _working_set_bytes: u64, _moves: bool) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_costs_are_read_and_never_fall() {
        let all = PublishedOverheads::all();
        let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["PREEMPT_RT-like", "LITMUS^RT-like"]);
        assert_eq!(all[0].costs(7).switch_ns, 11_200);
        let litmus = &all[1];
        assert_eq!(litmus.costs(3).event_ns, 37_682);
        assert_eq!(litmus.costs(100).event_ns, 132_323);
        for tasks in 0..60 {
            assert!(litmus.costs(tasks).event_ns <= litmus.costs(tasks + 1).event_ns);
            assert_eq!(
                litmus.costs(tasks).switch_ns,
                6_730,
                "the largest stands first"
            );
        }
    }
}
