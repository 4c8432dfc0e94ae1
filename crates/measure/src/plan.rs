//! Derives a scenario's segments, with their order and CPUs. Pure: the host's figures are passed in.

use super::work::work_spec;
use std::time::Duration;
use wakepath_archive::PlannedSegment;
use wakepath_measured_loop::{LoopSpec, ThreadSpec};
use wakepath_rt::{Accounting, Preparation};
use wakepath_scenario::{Scenario, Task, TimerSlack};
use wakepath_statistics::SplitMix;
use wakepath_timeline::Policy;

/// From the last thread's being ready to cycle 0: long enough for the other processes to note the
/// start and to have gone back to sleep.
const LEAD_NS: u64 = 30_000_000;
/// How many delays are drawn for the starts of a phase's processes before they repeat.
const LOAD_DELAYS: usize = 16;
/// The longest of them: the ticks of a kernel at 100 Hz are as far apart.
const LOAD_APART_NS: u64 = 10_000_000;

/// CPUs as far as placing the loop needs to know them.
#[derive(Debug, Clone)]
pub struct HostCpus {
    /// CPUs that wakepath runs on, ascending; never empty. The kernel leaves isolated ones out.
    pub allowed: Vec<u16>,
    /// Those that are isolated from the scheduler's balancing: a loop may be put there, nothing
    /// gets there by itself.
    pub isolated: Vec<u16>,
}

impl HostCpus {
    /// CPUs on which a loop may run, ascending.
    pub fn for_a_loop(&self) -> Vec<u16> {
        let both = self.allowed.iter().chain(&self.isolated);
        let both: std::collections::BTreeSet<u16> = both.copied().collect();
        both.into_iter().collect()
    }

    /// Where a loop that names no CPU runs: the highest isolated CPU, else the highest (CPU 0
    /// takes most interrupts on most machines).
    pub fn loop_cpu(&self) -> u16 {
        let isolated = self.isolated.iter().max();
        *isolated
            .or(self.allowed.iter().max())
            .expect("a process may run somewhere")
    }

    /// CPUs left for everything but the loop; all of them when the loop takes them all.
    pub fn beside(&self, loop_cpus: &[u16]) -> Vec<u16> {
        let rest: Vec<u16> = self
            .allowed
            .iter()
            .copied()
            .filter(|cpu| !loop_cpus.contains(cpu))
            .collect();
        if rest.is_empty() {
            self.allowed.clone()
        } else {
            rest
        }
    }
}

/// One policy, or a task set whose tasks have their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// All threads run under this policy.
    Policy(Policy),
    /// Each task has its own.
    TaskSet,
}

impl std::fmt::Display for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Policy(policy) => policy.fmt(f),
            Self::TaskSet => f.write_str("task set"),
        }
    }
}

/// A stretch of measuring under one condition: all that is to be known of it before it begins.
#[derive(Debug, Clone)]
pub struct Segment {
    /// As the archive names it: number, phase, repetition, condition, traced or not.
    pub planned: PlannedSegment,
    /// The condition to measure.
    pub condition: Condition,
    /// The specification for the loop's process.
    pub loop_spec: LoopSpec,
    /// Share of the last-level cache that the loop has to itself, from 0 to 1.
    pub l3_share: Option<f64>,
}

impl Segment {
    /// Judged and warm-up time of its cycles, in nanoseconds.
    pub fn length_ns(&self) -> u64 {
        segment_ns(&self.loop_spec)
    }
}

/// All segments of one phase in one repetition; its loads run through them.
#[derive(Debug, Clone)]
pub struct PhaseRun {
    /// Index of the phase in the scenario.
    pub phase: usize,
    /// Repetition, from 0.
    pub repetition: u32,
    /// Its segments, in order.
    pub segments: Vec<Segment>,
    /// Time before each start of a load's process, over and over; none on a machine.
    pub load_delays: Vec<Duration>,
}

/// The whole run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Phases in the order of execution.
    pub phases: Vec<PhaseRun>,
    /// CPUs on which the loop runs.
    pub loop_cpus: Vec<u16>,
    /// CPUs whose kernel events show the loop: more than its own if a policy can't be pinned.
    pub traced_cpus: Vec<u16>,
    host: HostCpus,
}

impl Plan {
    /// Lays a scenario out for a host. Each repetition goes through all phases and policies; the
    /// order of the policies turns by one with each repetition, so that none is always first.
    pub fn new(scenario: &Scenario, host: HostCpus) -> Self {
        let conditions: Vec<Condition> = match scenario.policies.as_slice() {
            [] => vec![Condition::TaskSet],
            policies => policies.iter().copied().map(Condition::Policy).collect(),
        };
        let mut number = 0..;
        let mut phases = Vec::new();
        for repetition in 0..scenario.repetitions {
            for (phase, description) in scenario.phases.iter().enumerate() {
                let mut turned = conditions.clone();
                turned.rotate_left(repetition as usize % conditions.len());
                let passages = turned
                    .into_iter()
                    .enumerate()
                    .flat_map(|(place, condition)| {
                        let passes = passes(scenario, repetition as usize + place);
                        passes.iter().map(move |&traced| (condition, traced))
                    });
                let segments = passages
                    .zip(&mut number)
                    .map(|((condition, traced), segment)| {
                        let planned = PlannedSegment {
                            segment,
                            phase: description.name.clone(),
                            repetition,
                            condition: condition.to_string(),
                            traced,
                        };
                        Segment {
                            loop_spec: loop_spec(scenario, &planned, condition, &host),
                            l3_share: description.l3_share,
                            planned,
                            condition,
                        }
                    });
                phases.push(PhaseRun {
                    phase,
                    repetition,
                    segments: segments.collect(),
                    load_delays: Vec::new(),
                });
            }
        }
        let mut loop_cpus: Vec<u16> = scenario
            .tasks
            .iter()
            .flat_map(|task| task_cpus(task, &host))
            .collect();
        // A partition of LITMUS^RT's is as good as a pin.
        let own = scenario.tasks.iter().filter_map(|task| task.policy);
        let policies = scenario.policies.iter().copied().chain(own);
        loop_cpus.extend(policies.filter_map(|policy| policy.litmus_partition()));
        loop_cpus.sort_unstable();
        loop_cpus.dedup();
        let own = scenario.tasks.iter().filter_map(|task| task.policy);
        let mut policies = scenario.policies.iter().copied().chain(own);
        let mut traced_cpus = loop_cpus.clone();
        if policies.any(runs_anywhere) {
            let domain = host.allowed.iter().copied();
            traced_cpus.extend(domain.filter(|cpu| !host.isolated.contains(cpu)));
            traced_cpus.sort_unstable();
            traced_cpus.dedup();
        }
        Self {
            phases,
            loop_cpus,
            traced_cpus,
            host,
        }
    }

    /// The same plan where the loads start by random times apart, and each loop at a random place of its
    /// period against them: for a machine of virtual time, on which nothing else would differ from
    /// one run to the next. The same seed makes the same plan.
    pub fn starting_apart(mut self, seed: u64) -> Self {
        for (number, phase) in (0..).zip(&mut self.phases) {
            let mut random = SplitMix::of_key(&[seed, number]);
            let mut below = |ns: u64| (random.unit() * ns as f64) as u64;
            let delays = (0..LOAD_DELAYS).map(|_| Duration::from_nanos(below(LOAD_APART_NS)));
            phase.load_delays = delays.collect();
            for segment in &mut phase.segments {
                let periods = segment.loop_spec.threads.iter().map(|of| of.period_ns);
                let longest = periods.max().unwrap_or(0);
                segment.loop_spec.lead_ns += below(longest.max(LOAD_APART_NS));
            }
        }
        self
    }

    /// The same plan without its traced segments: for a machine on which nothing can be traced.
    /// The others keep their numbers.
    pub fn untraced(&self) -> Self {
        let mut plan = self.clone();
        for phase in &mut plan.phases {
            phase.segments.retain(|segment| !segment.planned.traced);
        }
        plan
    }

    /// The traced segments alone, for a run that is to be explained and not judged.
    pub fn traced(&self) -> Self {
        let mut plan = self.clone();
        for phase in &mut plan.phases {
            phase.segments.retain(|segment| segment.planned.traced);
        }
        plan
    }

    /// All segments in the order of execution.
    pub fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.phases.iter().flat_map(|phase| &phase.segments)
    }

    /// CPUs on which everything but the loop and the loads runs.
    pub fn other_cpus(&self) -> Vec<u16> {
        self.host.beside(&self.loop_cpus)
    }
}

/// Whether the kernel runs a thread of this policy on its whole root domain, whatever CPUs were asked for.
fn runs_anywhere(policy: Policy) -> bool {
    matches!(
        policy,
        Policy::Deadline { .. } | Policy::LitmusGsnEdf { .. }
    )
}

/// The specification for the loop's process in one segment.
fn loop_spec(
    scenario: &Scenario,
    planned: &PlannedSegment,
    condition: Condition,
    host: &HostCpus,
) -> LoopSpec {
    let threads: Vec<ThreadSpec> = scenario
        .tasks
        .iter()
        .map(|task| thread_spec(scenario, planned, condition, task, host))
        .collect();
    let periods = scenario.tasks.iter().map(|task| task.period_ns);
    let longest_period_us = periods.max().unwrap_or(0) / 1_000;
    LoopSpec {
        versions: wakepath_measured_loop::Versions::own(),
        threads,
        lead_ns: LEAD_NS,
        // A loop that works for ten of its periods on end, and for half a second, is not one
        // that will come back.
        guard_us: (10 * longest_period_us).max(500_000),
    }
}

fn thread_spec(
    scenario: &Scenario,
    planned: &PlannedSegment,
    condition: Condition,
    task: &Task,
    host: &HostCpus,
) -> ThreadSpec {
    let policy = match (task.policy, condition) {
        (Some(own), _) => own,
        (None, Condition::Policy(policy)) => policy,
        (None, Condition::TaskSet) => Policy::Other { nice: 0 },
    };
    let first_judged_cycle = scenario.warm_up_ns.div_ceil(task.period_ns);
    // Every thread runs for the same time: that of the shortest period's share of cycles.
    let share = scenario.cycles_in_repetition(planned.repetition);
    let judged = (share * scenario.period_ns).div_ceil(task.period_ns);
    ThreadSpec {
        name: task.name.clone(),
        period_ns: task.period_ns,
        preparation: Preparation {
            policy,
            cpus: Some(match policy.litmus_partition() {
                Some(cpu) => vec![cpu],
                None => task_cpus(task, host),
            }),
            lock_memory: true,
            timer_slack_ns: match scenario.timer_slack {
                TimerSlack::Leave => None,
                TimerSlack::Set(ns) => Some(ns),
            },
        },
        work: work_spec(scenario.work_in(&planned.phase, task)),
        wake_up: scenario.wake_up,
        overrun: task.overrun.unwrap_or(scenario.overrun),
        accounting: Accounting {
            cpu_time: scenario.accounting.cpu_time,
            switches: scenario.accounting.switches,
        },
        counters: scenario.accounting.counters,
        first_judged_cycle,
        end_cycle: first_judged_cycle + judged,
    }
}

/// Which passages a segment has: once untraced and, with tracing, once traced. Which of the two
/// comes first takes turns, so that drift favours neither.
fn passes(scenario: &Scenario, turn: usize) -> &'static [bool] {
    match (scenario.trace.is_some(), turn % 2) {
        (false, _) => &[false],
        (true, 0) => &[false, true],
        (true, _) => &[true, false],
    }
}

fn task_cpus(task: &Task, host: &HostCpus) -> Vec<u16> {
    match &task.cpus {
        Some(cpus) => cpus.numbers().to_vec(),
        None => vec![host.loop_cpu()],
    }
}

/// Judged and warm-up time of one segment in nanoseconds.
pub fn segment_ns(spec: &LoopSpec) -> u64 {
    spec.threads
        .iter()
        .map(|t| t.end_cycle * t.period_ns)
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_when_loads_and_loops_start_and_nothing_else() {
        let text = "name = \"x\"\nrate = \"250 Hz\"\ncycles = 10\npolicies = [\"OTHER\", \"FIFO 80\"]\n\
                    phases = [{ name = \"stress\", loads = [\"cpu\"] }]\n\
                    criterion = { miss-fraction = \"1 %\" }\n";
        let known = wakepath_scenario::KnownCpus::new(vec![0, 1]).expect("there is a CPU");
        let (scenario, _) = Scenario::parse_with_warnings(text, "x", &known).expect("it is one");
        let host = HostCpus {
            allowed: vec![0, 1],
            isolated: Vec::new(),
        };
        let of_a_machine = Plan::new(&scenario, host);
        let times = |plan: &Plan| -> Vec<u64> {
            let leads = plan.segments().map(|segment| segment.loop_spec.lead_ns);
            let delays = plan.phases.iter().flat_map(|phase| &phase.load_delays);
            let delays = delays.map(|delay| delay.as_nanos() as u64);
            leads.chain(delays).collect()
        };
        let is_on_time = |time: &u64| *time == LEAD_NS;
        assert!(times(&of_a_machine).iter().all(is_on_time));
        let seeded = |seed| of_a_machine.clone().starting_apart(seed);
        assert_eq!(times(&seeded(7)), times(&seeded(7)));
        let drawn: std::collections::BTreeSet<u64> =
            (0..20).flat_map(|seed| times(&seeded(seed))).collect();
        // Two segments and the delays of one phase, for each seed.
        assert_eq!(drawn.len(), 20 * (2 + LOAD_DELAYS));
        assert!(drawn.iter().all(|&ns| ns < LEAD_NS + LOAD_APART_NS));
        let planned = |plan: &Plan| -> Vec<PlannedSegment> {
            plan.segments().map(|of| of.planned.clone()).collect()
        };
        assert_eq!(planned(&seeded(7)), planned(&of_a_machine));
    }

    #[test]
    fn a_loop_that_can_t_be_pinned_is_traced_on_all_cpus_that_it_may_run_on() {
        let traced = |policies: &str| {
            let text = format!(
                "name = \"x\"\nrate = \"250 Hz\"\ncycles = 10\npolicies = [{policies}]\ncpu = 3\n\
                 phases = [{{ name = \"idle\" }}]\ncriterion = {{ miss-fraction = \"1 %\" }}\n"
            );
            let known = wakepath_scenario::KnownCpus::new(vec![0, 1, 2, 3]).expect("CPUs");
            let (scenario, _) =
                Scenario::parse_with_warnings(&text, "x", &known).expect("it is one");
            let host = HostCpus {
                allowed: vec![0, 1, 2],
                isolated: vec![2, 3],
            };
            Plan::new(&scenario, host).traced_cpus
        };
        assert_eq!(traced("\"FIFO 80\""), [3]);
        let deadline = "\"FIFO 80\", \"DEADLINE 400us/4ms/4ms\"";
        assert_eq!(traced(deadline), [0, 1, 3]);
    }

    #[test]
    fn a_loop_may_have_an_isolated_cpu_that_nothing_else_gets() {
        // As the kernel of a guest with `isolcpus=2,3` reports: the first process runs on the rest.
        let host = HostCpus {
            allowed: vec![0, 1],
            isolated: vec![2, 3],
        };
        assert_eq!(host.for_a_loop(), [0, 1, 2, 3]);
        assert_eq!(host.loop_cpu(), 3);
        assert_eq!(host.beside(&[3]), [0, 1]);
        let none = HostCpus {
            isolated: Vec::new(),
            ..host
        };
        assert_eq!((none.loop_cpu(), none.beside(&[1])), (1, vec![0]));
    }
}
