//! Duration of a scenario, and fitting it into a given time.

use crate::{Criterion, PoliciesNeeded, Scenario};
use std::collections::HashSet;
use wakepath_timeline::duration::exact;

/// Allowance for each segment in addition to warm-up and judged time: starting the loop, locking
/// memory, draining the recording. In nanoseconds.
pub const SEGMENT_SET_UP_NS: u64 = 250_000_000;
/// Allowance for each start of a phase's loads until they prove work, and their end. In
/// nanoseconds.
pub const LOAD_START_NS: u64 = 1_000_000_000;

/// The time given cannot hold the scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a total of {} is too short for one cycle of each condition in each repetition, which takes {}",
    exact(*.given_ns),
    exact(*.least_ns)
)]
pub struct TooShort {
    /// The given time, in nanoseconds.
    pub given_ns: u64,
    /// The fewest whole seconds that hold one cycle of each condition in each repetition, in nanoseconds.
    pub least_ns: u64,
}

impl Scenario {
    /// Number of conditions: a policy under a phase's loads each. A task set whose tasks all have
    /// their own policy makes one condition of each phase.
    pub fn conditions(&self) -> u64 {
        self.policies.len().max(1) as u64 * self.phases.len() as u64
    }

    /// Judged cycles in repetition `repetition` (from 0) of each condition. The remainder goes to
    /// the first repetitions, so that the sum over all is `cycles`.
    pub fn cycles_in_repetition(&self, repetition: u32) -> u64 {
        let repetitions = u64::from(self.repetitions.max(1));
        let extra = u64::from(repetition) < self.cycles % repetitions;
        self.cycles / repetitions + u64::from(extra)
    }

    /// Estimated time of the whole run in nanoseconds: judged time, and for each segment its
    /// warm-up and [`SEGMENT_SET_UP_NS`], and [`LOAD_START_NS`] each time loads are started.
    /// Saturates at 584 years.
    pub fn estimated_run_ns(&self) -> u64 {
        let judged = self
            .cycles
            .saturating_mul(self.period_ns)
            .saturating_mul(self.conditions())
            .saturating_mul(self.passages());
        judged.saturating_add(self.overhead_ns())
    }

    /// Whole seconds, in nanoseconds, from which [`Scenario::with_total_duration`] makes at least
    /// `cycles` judged cycles of each condition. Saturates.
    pub fn run_ns_of(&self, cycles: u64) -> u64 {
        let cycles = cycles.max(u64::from(self.repetitions));
        let run = Self {
            cycles,
            ..self.clone()
        };
        const SECOND: u64 = 1_000_000_000;
        run.estimated_run_ns()
            .div_ceil(SECOND)
            .saturating_mul(SECOND)
    }

    /// How often each segment is measured: with `trace` once without and once with tracing.
    pub fn passages(&self) -> u64 {
        1 + u64::from(self.trace.is_some())
    }

    fn overhead_ns(&self) -> u64 {
        let repetitions = u64::from(self.repetitions);
        let loaded = self
            .phases
            .iter()
            .filter(|phase| !phase.loads.is_empty())
            .count() as u64;
        let by_kernel_ns = self.trace.map_or(0, |trace| trace.by_kernel_ns());
        let segments = self.conditions() * repetitions * self.passages();
        segments
            .saturating_mul(self.warm_up_ns + SEGMENT_SET_UP_NS)
            .saturating_add(loaded * repetitions * LOAD_START_NS)
            .saturating_add(self.phases.len() as u64 * repetitions * by_kernel_ns)
            .saturating_add(self.by_cores_ns())
    }

    /// Time in which real-time cores measure themselves, ns: once in each phase for each of their
    /// policies, two stages, each after a second that does not count.
    pub fn by_cores_ns(&self) -> u64 {
        const UNCOUNTED_NS: u64 = 1_000_000_000;
        let Some(for_ns) = self.core_latency_ns else {
            return 0;
        };
        let own = self.tasks.iter().filter_map(|task| {
            let policy = task.policy?;
            Some((policy, Some(task.period_ns)))
        });
        let policies = self.policies.iter().map(|&policy| (policy, None));
        let different: HashSet<_> = own
            .chain(policies)
            .filter(|(policy, _)| policy.is_of_a_co_kernel())
            .collect();
        let passes = 2 * self.phases.len() as u64 * different.len() as u64;
        passes.saturating_mul(UNCOUNTED_NS + for_ns)
    }

    /// The same scenario with as many cycles as fit into `total_ns` by the estimate.
    ///
    /// # Errors
    /// If not even one cycle of each condition in each repetition fits.
    pub fn with_total_duration(&self, total_ns: u64) -> Result<Self, TooShort> {
        let passages = self.conditions() * self.passages();
        let cycle_of_each = passages.saturating_mul(self.period_ns);
        let least = u64::from(self.repetitions);
        let cycles = total_ns.saturating_sub(self.overhead_ns()) / cycle_of_each;
        if cycles < least {
            return Err(TooShort {
                given_ns: total_ns,
                least_ns: self.run_ns_of(least),
            });
        }
        Ok(Self {
            cycles,
            ..self.clone()
        })
    }
}

impl Scenario {
    /// The criterion for each condition. If one policy of several is enough, each of them is a
    /// chance to pass by luck: their error probabilities are reduced so that together they don't
    /// exceed a single one's (Bonferroni), and the run's verdict keeps the requested confidence.
    pub fn criterion_of_each(&self) -> Criterion {
        let tries = match self.criterion.policies {
            PoliciesNeeded::Any if self.policies.len() > 1 => self.policies.len() as f64,
            PoliciesNeeded::Any | PoliciesNeeded::Every => return self.criterion.clone(),
        };
        Criterion {
            confidence: 1.0 - (1.0 - self.criterion.confidence) / tries,
            ..self.criterion.clone()
        }
    }
}

impl Criterion {
    /// Fewest independent due times that can show that the criterion is met, without a single miss:
    /// the least n with (1 − p)ⁿ ≤ 1 − confidence, where p is the miss fraction or, if that is 0,
    /// the required evidence (the exact binomial bound of Clopper and Pearson, 1934, at zero
    /// misses).
    pub fn due_times_needed(&self) -> u64 {
        let probability = match self.evidence {
            Some(evidence) if self.miss_fraction == 0.0 => evidence,
            _ => self.miss_fraction,
        };
        let needed = (-self.confidence).ln_1p() / (-probability).ln_1p();
        // A float to integer cast saturates; a probability of zero gives infinity.
        needed.ceil() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KnownCpus;
    use wakepath_timeline::Policy;

    fn criterion(miss_fraction: f64, evidence: Option<f64>) -> Criterion {
        Criterion {
            latency_ns: None,
            deadline_ns: 1,
            miss_fraction,
            evidence,
            confidence: 0.95,
            consecutive_misses: None,
            outage_ns: None,
            mode_switches: 0.0,
            policies: PoliciesNeeded::Any,
        }
    }

    #[test]
    fn the_due_times_needed_are_the_known_ones() {
        // The rule of three: about 3/p.
        assert_eq!(criterion(0.0001, None).due_times_needed(), 29_956);
        assert_eq!(criterion(0.005, None).due_times_needed(), 598);
        assert_eq!(criterion(0.01, None).due_times_needed(), 299);
        assert_eq!(criterion(0.0, Some(5e-6)).due_times_needed(), 599_145);
    }

    fn scenario(repetitions: u32) -> Scenario {
        let text = format!(
            "name = \"a\"\nrate = \"250 Hz\"\ncycles = 10\nrepetitions = {repetitions}\n\
             warm-up = \"250 ms\"\npolicies = [\"OTHER\", \"FIFO 50\"]\n\
             phases = [{{ name = \"idle\" }}, {{ name = \"stress\", loads = [\"cpu\"] }}]\n",
        );
        Scenario::parse(&text, "a.toml", &KnownCpus::first(4)).unwrap()
    }

    #[test]
    fn repetitions_share_the_cycles_out_without_loss() {
        let scenario = scenario(3);
        let shares: Vec<u64> = (0..3)
            .map(|index| scenario.cycles_in_repetition(index))
            .collect();
        assert_eq!(shares, [4, 3, 3]);
    }

    #[test]
    fn the_estimate_counts_warm_up_set_up_and_loads() {
        // 4 conditions × 10 × 4 ms, 8 segments × (250 + 250) ms, 2 starts of loads × 1 s.
        assert_eq!(
            scenario(2).estimated_run_ns(),
            160_000_000 + 4_000_000_000 + 2_000_000_000
        );
    }

    #[test]
    fn one_policy_of_several_passes_at_the_confidence_asked_for() {
        let two = scenario(2);
        assert!((two.criterion_of_each().confidence - 0.975).abs() < 1e-12);
        let mut every = two.clone();
        every.criterion.policies = PoliciesNeeded::Every;
        assert_eq!(every.criterion_of_each(), every.criterion);
        let mut one = two;
        one.policies.truncate(1);
        assert!((one.criterion_of_each().confidence - 0.95).abs() < 1e-12);
    }

    #[test]
    fn a_core_that_measures_itself_takes_its_time_once_a_phase_for_each_of_its_policies() {
        let mut of_linux = scenario(2);
        assert_eq!(of_linux.by_cores_ns(), 0);
        let before_ns = of_linux.estimated_run_ns();
        of_linux.core_latency_ns = None;
        assert_eq!(of_linux.estimated_run_ns(), before_ns);
        let mut on_a_core = scenario(2);
        on_a_core.policies = vec![
            Policy::Fifo { priority: 80 },
            Policy::CobaltFifo { priority: 80 },
        ];
        on_a_core.core_latency_ns = Some(3_000_000_000);
        // The handler and the thread, 1 s and 3 s each.
        let phases = on_a_core.phases.len() as u64;
        assert_eq!(on_a_core.by_cores_ns(), phases * 2 * 4_000_000_000);
    }

    #[test]
    fn a_total_duration_is_filled_and_not_exceeded() {
        let scenario = scenario(2);
        let scaled = scenario.with_total_duration(20_000_000_000).unwrap();
        assert!(scaled.estimated_run_ns() <= 20_000_000_000);
        assert!(scaled.estimated_run_ns() > 20_000_000_000 - 4 * 4_000_000);
        let error = scenario.with_total_duration(6_000_000_000).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a total of 6 s is too short for one cycle of each condition in each repetition, which takes 7 s"
        );
        assert!(scenario.with_total_duration(error.least_ns).is_ok());
    }
}
