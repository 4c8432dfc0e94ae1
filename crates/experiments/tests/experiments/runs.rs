//! Hand-made runs of experiments.

use wakepath_archive::VirtualTime;
use wakepath_experiments::{
    Experiment, Finding, GuestRun, Measured, Repeated, SecondRun, findings, named,
};
use wakepath_explain::{CauseFigures, ConditionExplanation, Explanation, Usual};
use wakepath_report::Figures;
use wakepath_scenario::{KnownCpus, Scenario};
use wakepath_statistics::{Distribution, DistributionSummary};

/// How long a turn of one of several CPUs is.
pub const TURN_NS: u64 = 2_000;

/// Seeds of each guest: enough to decide.
pub const SEEDS: i64 = 10;

/// An experiment in which every guest measured the values of `latencies` for guest and phase, with
/// a few nanoseconds more for each seed.
pub fn repeated(
    name: &str,
    latencies: impl Fn(&str, &str) -> Vec<i64>,
    policies: &[&str],
) -> Repeated {
    with_seeds(name, SEEDS, latencies, policies)
}

pub fn summary(values: Vec<i64>) -> Option<DistributionSummary> {
    Distribution::new(values).map(|values| values.summary())
}

pub fn with_seeds(
    name: &str,
    seeds: i64,
    latencies: impl Fn(&str, &str) -> Vec<i64>,
    policies: &[&str],
) -> Repeated {
    let experiment = named(name).unwrap();
    let phases = phases(experiment);
    let guests = experiment.guests.iter();
    let guests = guests.flat_map(|guest| (1..=seeds).map(move |seed| (guest, seed)));
    let guests = guests.map(|(guest, seed)| {
        let mut conditions = Vec::new();
        for phase in &phases {
            for policy in policies {
                let values = latencies(guest.name, phase);
                let values: Vec<i64> = values.into_iter().map(|ns| ns + seed - 1).collect();
                // One more due time was skipped, for ten times the longest latency.
                let skipped = values.iter().max().map(|ns| 10 * ns);
                let scheduled = values.iter().copied().chain(skipped).collect();
                conditions.push(Measured {
                    phase: phase.clone(),
                    policy: (*policy).into(),
                    scheduled: values.len() as u64,
                    skipped: 0,
                    latency_of_wake_ups: summary(values),
                    latency_as_scheduled: summary(scheduled),
                    execution: None,
                    response: None,
                    invalid: None,
                    invalid_while_traced: None,
                });
            }
        }
        GuestRun {
            guest: *guest,
            wakepath: "0.1.0".into(),
            virtual_time: Some(VirtualTime {
                ns_per_instruction: 1,
                seed: seed as u64,
                cpus: experiment.cpus,
                turn_ns: (experiment.cpus > 1).then_some(TURN_NS),
                emulator: None,
            }),
            board: Vec::new(),
            conditions,
            pictures: Vec::new(),
            figures: Figures::default(),
            explanation: None,
            kernel_latency: Vec::new(),
            samples_sha256: None,
        }
    });
    Repeated {
        experiment,
        claims: experiment.claims(),
        second_run: SecondRun::Same,
        guests: guests.collect(),
    }
}

pub fn policies_of(scenario: &str, experiment: &Experiment) -> Vec<String> {
    let known = KnownCpus::new(0..experiment.cpus).unwrap();
    let scenario = Scenario::parse(scenario, experiment.name, &known).unwrap();
    scenario.policies.iter().map(|p| p.to_string()).collect()
}

pub fn scenario(experiment: &Experiment) -> Scenario {
    let known = KnownCpus::new(0..experiment.cpus).unwrap();
    Scenario::parse(experiment.scenario, experiment.name, &known).unwrap()
}

pub fn phases(experiment: &Experiment) -> Vec<String> {
    let phases = scenario(experiment).phases;
    phases.into_iter().map(|phase| phase.name).collect()
}

/// The finding of the claim that begins like this.
pub fn found(repeated: &Repeated, start: &str) -> Finding {
    let mut all = findings(repeated).into_iter();
    let found = all.find(|one| one.claim.starts_with(start));
    found.unwrap_or_else(|| panic!("{start}"))
}

pub fn beaglepilot(guest: &str, _: &str) -> Vec<i64> {
    match guest {
        "vanilla" => vec![14_000, 19_000, 193_000],
        "PREEMPT" => vec![16_000, 21_000, 68_000],
        _ => vec![20_000, 27_000, 91_000],
    }
}

/// FIFO 80 under combined load: 1 ms of latency, of which `all_explained_ns` are explained, and `others`
/// other threads.
pub fn explanation(all_explained_ns: u64, others: u32) -> Explanation {
    let cause = |number: u32| CauseFigures {
        kind: "thread".into(),
        cause: format!("thread {number}"),
        because: None,
        cycles: 10,
        late_cycles: 0,
        total_ns: 1_000,
        late_ns: 0,
        worst_ns: 100,
        worst_cycle: 0,
        late_worst_ns: 0,
        remedy: None,
    };
    let condition = ConditionExplanation {
        doubts: Vec::new(),
        phase: "combined".into(),
        condition: "FIFO 80".into(),
        thread: "loop".into(),
        urgency: 80,
        is_periodic: true,
        sleeps_for_time: false,
        threshold_ns: 100_000,
        threshold_from: "the criterion".into(),
        threshold_is_limit: true,
        cycles: 100,
        not_covered: 0,
        silent_segments: 0,
        woken: Default::default(),
        late: 0,
        overran: 0,
        response_limit_ns: 0,
        late_ns: 0,
        late_explained_ns: 0,
        all_ns: 1_000_000,
        all_explained_ns,
        usual: Usual::default(),
        causes: (0..others).map(cause).collect(),
        causes_rest: None,
        alike: Vec::new(),
        inflation: Vec::new(),
        inflation_rest: None,
        execution_ns: 0,
        interference: None,
        worst: Vec::new(),
        longest: Vec::new(),
        median: None,
        p999: None,
    };
    Explanation {
        version: Explanation::VERSION,
        events: 1_000,
        events_lost: 0,
        switches_untold: 0,
        untold_switch_ins: wakepath_explain::SwitchIns::default(),
        own_by_name: false,
        not_in_trace: Vec::new(),
        conditions: vec![condition],
    }
}
