//! `wakepath check`: the built-in scenario of that name with what the command line changes in it.

use crate::check_scenario::{self, SOURCE};
use crate::command_line::{Check, Output};
use crate::criterion_options;
use crate::measured_run::{self, RunContext};
use wakepath_archive::QuickCheck;
use wakepath_console::terminal::tell;
use wakepath_console::{Outcome, scenarios};
use wakepath_machine::{Facts, RealTimeCores, Root};
use wakepath_measure::HostCpus;
use wakepath_scenario::{Scenario, Warning};
use wakepath_timeline::{JobRelease, LitmusPlugin, LitmusTask, Policy};

/// Default time for the whole run: some 1195 due times for each condition. At 0.5 % a policy
/// of eight passes with 1013 of them without a miss, so that the run's confidence is 95 %; with one
/// it
/// would need 1440.
const USUAL: &str = "85s";
/// The same where everything is measured once more, traced.
const USUAL_TRACED: &str = "200s";

/// Measures and judges.
pub fn run(arguments: &Check) -> Outcome {
    let text = changed(arguments)?;
    let host = scenarios::host_cpus()?;
    scenarios::check_cpu(arguments.cpu, &host)?;
    let (mut scenario, warnings) = scenarios::read_scenario(&text, SOURCE, &host)?;
    if !arguments.flight {
        scenario.flight = None;
    }
    // A vehicle that no loop of this rate could fly says nothing about this machine.
    if let Some(terms) = &scenario.flight
        && !wakepath_assess::can_be_met(terms, scenario.period_ns)?
    {
        tell!(
            "note: no vehicle could be flown at {}, even without delay, so --flight judges none",
            arguments.rate
        );
        scenario.flight = None;
    }
    if arguments.policy.is_empty() {
        let cores = Facts::read(&Root::host()).varying.cores;
        scenario.policies.extend(of_a_core(&cores));
    }
    // Its time is all needed for what can pass.
    scenario.core_latency_ns = None;
    if arguments.trace {
        scenario.trace.get_or_insert_default();
    }
    if arguments.quick {
        let (scenario, context) = quick(scenario, arguments.policy.is_empty());
        return measured_run::measure(scenario, context, host, &arguments.output);
    }
    // A traced run is measured twice: in the same time neither half could pass.
    let usual = match scenario.trace {
        Some(_) => USUAL_TRACED,
        None => USUAL,
    };
    let duration = arguments.duration.as_deref().unwrap_or(usual);
    let (scenario, warnings) = fitted(&scenario, warnings, duration, &arguments.output)?;
    measured_run::measure(
        scenario,
        RunContext::noted(scenarios::notes(&warnings)),
        host,
        &arguments.output,
    )
}

/// The scenario with what the command line changes in it, except for its length.
pub fn asked(
    arguments: &Check,
    host: &HostCpus,
) -> Result<(Scenario, Vec<Warning>), Box<dyn std::error::Error>> {
    let text = changed(arguments)?;
    scenarios::read_scenario(&text, SOURCE, host)
}

/// Fits the scenario into a time, in which each condition can pass: `--stop-above` alone judges one limit alone.
pub fn fitted(
    scenario: &Scenario,
    warnings: Vec<Warning>,
    duration: &str,
    output: &Output,
) -> Result<(Scenario, Vec<Warning>), Box<dyn std::error::Error>> {
    match output.stop_above {
        Some(_) => scenarios::fit_duration(scenario, warnings, "--duration", duration),
        None => scenarios::fit_to_pass(scenario, warnings, "--duration", duration),
    }
}

/// What `--quick` judges in all, without warm-ups and what it takes to start and end loops; traced, it measures as
/// much again.
const QUICK_NS: u64 = 12_000_000_000;
/// The ordinary policy and the real-time one that `--quick` takes of the eight.
const QUICK_POLICIES: [Policy; 2] = [Policy::Other { nice: 0 }, Policy::Fifo { priority: 50 }];

/// The policies of a core that this machine has and this user can enter, next to Linux's FIFO of
/// the same priorities.
fn of_a_core(cores: &RealTimeCores) -> Vec<Policy> {
    let evl = cores.evl.is_some().then_some([50, 99]);
    let cobalt = cores.cobalt.is_some().then_some([50, 99]);
    let of_evl = evl.into_iter().flatten();
    let of_cobalt = cobalt.into_iter().flatten();
    let there = of_evl
        .map(|priority| Policy::EvlFifo { priority })
        .chain(of_cobalt.map(|priority| Policy::CobaltFifo { priority }));
    let there = there.filter(|&policy| cores.refusal(policy).is_none());
    there.chain(of_litmus(cores)).collect()
}

/// Priority of the row of P-FP; other rows are distinguished below it.
const P_FP_PRIORITY: u16 = 10;

/// The policies of LITMUS^RT's active plugin: woken as jobs, and by sleeping.
fn of_litmus(cores: &RealTimeCores) -> Vec<Policy> {
    let active = cores.litmus.as_ref().and_then(|of| of.plugin.known());
    let Some(plugin) = active.and_then(|name| LitmusPlugin::named(name)) else {
        return Vec::new();
    };
    let releases = [JobRelease::Job, JobRelease::Sleep].into_iter();
    let rows = releases.map(|release| {
        let (partition, task) = (
            None,
            LitmusTask {
                release,
                ..LitmusTask::default()
            },
        );
        match plugin {
            LitmusPlugin::PFp => Policy::LitmusPFp {
                priority: P_FP_PRIORITY,
                partition,
                task,
            },
            LitmusPlugin::PsnEdf => Policy::LitmusPsnEdf { partition, task },
            LitmusPlugin::GsnEdf => Policy::LitmusGsnEdf { task },
            LitmusPlugin::CEdf => Policy::LitmusCEdf { partition, task },
        }
    });
    rows.filter(|&policy| cores.refusal(policy).is_none())
        .collect()
}

/// Twelve seconds of measuring, shared by the conditions, each measured once; and what that can't show.
fn quick(mut scenario: Scenario, of_the_eight: bool) -> (Scenario, RunContext) {
    let all = scenario.policies.len();
    if of_the_eight {
        scenario
            .policies
            .retain(|policy| QUICK_POLICIES.contains(&policy.in_linux()));
    }
    scenario.repetitions = 1;
    let conditions = scenario.policies.len() * scenario.phases.len();
    let each_ns = QUICK_NS / conditions.max(1) as u64;
    scenario.cycles = (each_ns / scenario.period_ns).max(1);
    let quick = QuickCheck {
        policies: scenario.policies.len(),
        of_policies: all,
        each_ns,
    };
    let context = RunContext {
        quick: Some(quick),
        ..RunContext::noted(scenarios::notes(&scenario.warnings()))
    };
    (scenario, context)
}

/// The built-in scenario's file with the options written into it, so that what they mean is
/// checked, recorded and shown like any scenario.
fn changed(arguments: &Check) -> Result<String, Box<dyn std::error::Error>> {
    let criterion = criterion_options::table(&arguments.limits)?;
    check_scenario::text_for(
        &arguments.rate,
        arguments.cpu,
        &arguments.policy,
        criterion.as_ref(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::{CommandLine, Verb};
    use clap::Parser;

    fn scenario_of(options: &[&str]) -> String {
        let line = ["wakepath", "check"].iter().chain(options);
        match CommandLine::parse_from(line).verb {
            Verb::Check(arguments) => changed(&arguments).unwrap(),
            _ => unreachable!("this is the check verb"),
        }
    }

    #[test]
    fn a_core_adds_its_rows_where_it_is_there_and_known() {
        use wakepath_machine::{CobaltCore, EvlCore, Reading};
        let with_abi = |abi: u32| RealTimeCores {
            evl: Some(EvlCore {
                abi: Reading::found(abi, "abi"),
                ..EvlCore::default()
            }),
            ..RealTimeCores::default()
        };
        let rows = [50, 99].map(|priority| Policy::EvlFifo { priority });
        assert_eq!(of_a_core(&with_abi(32)), rows);
        assert!(of_a_core(&with_abi(33)).is_empty());
        assert!(of_a_core(&RealTimeCores::default()).is_empty());

        let of_cobalt = |refused: Option<&str>| RealTimeCores {
            cobalt: Some(CobaltCore {
                refused: refused.map(str::to_owned),
                ..CobaltCore::default()
            }),
            ..RealTimeCores::default()
        };
        let rows = [50, 99].map(|priority| Policy::CobaltFifo { priority });
        assert_eq!(of_a_core(&of_cobalt(None)), rows);
        assert!(of_a_core(&of_cobalt(Some("it is stopped"))).is_empty());
    }

    #[test]
    fn litmus_adds_the_rows_of_its_active_plugin() {
        use wakepath_machine::{LitmusCore, Reading};
        let with = |plugin: &str| RealTimeCores {
            litmus: Some(LitmusCore {
                plugin: Reading::found(plugin.to_owned(), "plugin"),
                ..LitmusCore::default()
            }),
            ..RealTimeCores::default()
        };
        let rows = |plugin| {
            of_a_core(&with(plugin))
                .iter()
                .map(Policy::to_string)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            rows("P-FP"),
            ["LITMUS P-FP 10", "LITMUS P-FP 10, release sleep"]
        );
        assert_eq!(
            rows("GSN-EDF"),
            ["LITMUS GSN-EDF", "LITMUS GSN-EDF, release sleep"]
        );
        assert!(rows("Linux").is_empty());
    }

    #[test]
    fn limits_take_the_place_of_the_scenario_s_and_the_others_stay() {
        let text = scenario_of(&["--latency", "100us", "--miss-fraction", "0.1 %"]);
        let any_machine = wakepath_scenario::KnownCpus::first(2);
        let scenario = Scenario::parse(&text, "check", &any_machine).unwrap();
        let criterion = scenario.criterion;
        assert_eq!(criterion.latency_ns, Some(100_000));
        assert!((criterion.miss_fraction - 0.001).abs() < 1e-12);
        assert_eq!(criterion.consecutive_misses, Some(1));
    }

    #[test]
    fn another_rate_keeps_the_reservations_shares() {
        let text = scenario_of(&["--rate", "1kHz"]);
        assert!(text.contains("DEADLINE 100000 ns"), "{text}");
        assert!(text.contains("DEADLINE 200000 ns"), "{text}");
        assert!(text.contains("FIFO 99"), "{text}");
    }

    #[test]
    fn a_quick_check_measures_twelve_seconds_and_says_what_they_cannot_show() {
        let any_machine = wakepath_scenario::KnownCpus::first(2);
        let text = scenario_of(&[]);
        let scenario = Scenario::parse(&text, "check", &any_machine).unwrap();
        let (quick, context) = quick(scenario, true);
        assert_eq!(quick.policies, QUICK_POLICIES);
        let measured_ns = quick.cycles * quick.period_ns * quick.conditions() * quick.passages();
        assert_eq!(measured_ns, QUICK_NS);
        // 736 due times without a miss show it of one of two policies.
        assert_eq!(quick.criterion_of_each().due_times_needed(), 736);
        assert!(quick.cycles >= 736, "{}", quick.cycles);
        assert_eq!(
            context.quick.unwrap().to_string(),
            "2 of 8 policies, 3 s of each condition: too short to catch rare stalls or run-to-run variation; \
             the full check takes 85 s"
        );
    }

    #[test]
    fn a_traced_check_has_as_many_due_times_as_can_pass() {
        let any_machine = wakepath_scenario::KnownCpus::first(2);
        let text = scenario_of(&["--trace"]);
        let mut scenario = Scenario::parse(&text, "check", &any_machine).unwrap();
        scenario.trace.get_or_insert_default();
        let needed = scenario.criterion_of_each().due_times_needed();
        let cycles = |duration: &str| {
            let fitted =
                scenarios::fit_duration(&scenario, Vec::new(), "--duration", duration).unwrap();
            (fitted.0.cycles, fitted.1.first().map(ToString::to_string))
        };
        let (cycles_of_default, warned) = cycles(USUAL_TRACED);
        assert!(cycles_of_default > needed, "{cycles_of_default}");
        assert_eq!(warned, None);
        let (_, warned) = cycles("100s");
        let warned = warned.unwrap();
        assert!(warned.contains("a run of 16"), "{warned}");
    }

    #[test]
    fn a_quick_check_that_is_traced_can_pass_too() {
        let any_machine = wakepath_scenario::KnownCpus::first(2);
        let text = scenario_of(&["--trace"]);
        let mut scenario = Scenario::parse(&text, "check", &any_machine).unwrap();
        scenario.trace.get_or_insert_default();
        let (quick, context) = quick(scenario, true);
        assert!(quick.cycles >= quick.criterion_of_each().due_times_needed());
        assert_eq!(context.notes, [""; 0]);
    }

    #[test]
    fn policies_of_ones_own_replace_the_eight() {
        let text = scenario_of(&["--policy", "FIFO 80", "--cpu", "1"]);
        assert!(
            text.contains("FIFO 80") && !text.contains("RR 50"),
            "{text}"
        );
        let any_machine = wakepath_scenario::KnownCpus::first(4);
        let scenario = wakepath_scenario::Scenario::parse(&text, "check", &any_machine).unwrap();
        assert_eq!(scenario.tasks[0].cpus.as_ref().unwrap().numbers(), [1]);
        assert_eq!(scenario.policies, [Policy::Fifo { priority: 80 }]);
    }
}
