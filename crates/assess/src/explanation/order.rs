//! Terms of an explanation: the threshold of late cycles, the number of worst cycles to keep.

use super::ExplainError;
use crate::conditions::own_deadline_ns;
use wakepath_scenario::{KnownCpus, Scenario};

/// The terms of an explanation.
#[derive(Debug, Clone)]
pub struct Order {
    /// Latency above which a cycle is late, in nanoseconds; `None`: the 99.9th percentile of each
    /// condition, or the 99th of fewer than 1000 cycles.
    pub threshold_ns: Option<u64>,
    /// The criterion's deadline, in nanoseconds.
    pub deadline_ns: u64,
    /// The shortest period of the scenario's loops, in nanoseconds.
    pub shortest_period_ns: u64,
    /// Where the threshold comes from.
    pub threshold_from: String,
    /// How many of the worst cycles of each condition are kept.
    pub worst: usize,
}

impl Order {
    /// Number of worst cycles of each condition in the explanation that is written when a run ends.
    pub const KEPT_WORST: usize = 10;

    /// The run's own terms: its criterion's latency if it has one.
    ///
    /// # Errors
    /// When the run's scenario can't be read.
    pub fn of_run(run: &wakepath_archive::Run) -> Result<Self, ExplainError> {
        let toml = &run.manifest.scenario.toml;
        let scenario = Scenario::parse(toml, "scenario of the run", &KnownCpus::first(1024))?;
        let threshold_ns = scenario.criterion.latency_ns;
        Ok(Self {
            threshold_ns,
            deadline_ns: scenario.criterion.deadline_ns,
            shortest_period_ns: scenario.period_ns,
            threshold_from: match threshold_ns {
                Some(_) => "the criterion".into(),
                None => "percentile of those that ran".into(),
            },
            worst: Self::KEPT_WORST,
        })
    }

    /// Response above which a cycle of a loop with this period is late too: its deadline. In nanoseconds; 0 without a
    /// period.
    pub fn response_limit_ns(&self, period_ns: u64) -> u64 {
        match period_ns {
            0 => 0,
            _ => own_deadline_ns(self.deadline_ns, self.shortest_period_ns, period_ns),
        }
    }
}
