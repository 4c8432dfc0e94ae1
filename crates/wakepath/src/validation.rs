//! A command line read with the values of its options, and not carried out. Tests hold every command that pages, help
//! and answers print against it.

use crate::command_line::{Check, Record, Run, Subject, Tune, Verb};
use crate::verbs::{check, compare, import, rate, try_fix, watch};
use crate::{check_scenario, criterion_options, unattended};
use wakepath_console::overrides::ScenarioOverrides;
use wakepath_console::{option_value, scenarios};
use wakepath_measure::HostCpus;
use wakepath_scenario::{builtin, parse_policy, units};

type Failure = Box<dyn std::error::Error>;

/// A scenario in place of the user's own file, which is not there.
const ANY: &str =
    "name = \"any\"\nrate = \"250 Hz\"\npolicies = [\"OTHER\"]\nduration = \"1 min\"\n";

/// A period that every written reservation fits into.
const LONG_PERIOD_NS: u64 = 4_000_000_000;

/// A machine that has whatever CPU a command names.
fn any_machine() -> HostCpus {
    HostCpus {
        allowed: (0..64).collect(),
        isolated: Vec::new(),
    }
}

/// Reads the values that clap leaves as text.
///
/// # Errors
/// In one line, naming the option.
pub fn validate(verb: &Verb) -> Result<(), Failure> {
    match verb {
        Verb::Check(arguments) => of_check(arguments),
        Verb::Run(arguments) => of_run(arguments),
        Verb::Record(arguments) => of_record(arguments),
        Verb::Rate(arguments) => rate::read(arguments, &any_machine()),
        Verb::Watch(arguments) => watch::read(arguments),
        Verb::Exec(arguments) => {
            option_value::policy(&arguments.policy)?;
            arguments.cpu.as_deref().map_or(Ok(()), cpus)
        }
        Verb::Try(arguments) => try_fix::read(arguments),
        Verb::Doctor(arguments) => of_subject(&arguments.subject),
        Verb::Tune(arguments) => of_tune(arguments),
        Verb::Explain(arguments) => {
            option_value::time("--latency", arguments.latency.as_deref())?;
            Ok(())
        }
        Verb::Compare(arguments) => compare::read(arguments),
        Verb::Import(arguments) => import::read_options(arguments),
        _ => Ok(()),
    }
}

fn cpus(text: &str) -> Result<(), Failure> {
    option_value::cpus(text)?;
    Ok(())
}

fn policies(all: &[String]) -> Result<(), Failure> {
    for policy in all {
        parse_policy(policy, LONG_PERIOD_NS)
            .map_err(|complaint| option_value::OptionError::new("--policy", policy, complaint))?;
    }
    Ok(())
}

fn of_check(arguments: &Check) -> Result<(), Failure> {
    option_value::time("--stop-above", arguments.output.stop_above.as_deref())?;
    let (scenario, warnings) = check::asked(arguments, &any_machine())?;
    match &arguments.duration {
        None => Ok(()),
        Some(duration) => {
            check::fitted(&scenario, warnings, duration, &arguments.output)?;
            Ok(())
        }
    }
}

fn of_run(arguments: &Run) -> Result<(), Failure> {
    option_value::time("--stop-above", arguments.output.stop_above.as_deref())?;
    policies(&arguments.policy)?;
    let name = arguments.scenario.as_deref().unwrap_or_default();
    let (text, task) = match builtin::named(name) {
        Some(builtin) => (builtin.text, arguments.task.as_deref()),
        None => (ANY, None),
    };
    let criterion = criterion_options::table(&arguments.limits)?;
    let overrides = ScenarioOverrides {
        rate: arguments.rate.as_deref(),
        cpu: arguments.cpu,
        task,
        policies: &arguments.policy,
        criterion: criterion.as_ref(),
        reserved_for: None,
    };
    let text = overrides.apply_to(text)?;
    let known = wakepath_scenario::KnownCpus::first(64);
    let scenario = wakepath_scenario::Scenario::parse(&text, name, &known)?;
    if let Some(duration) = &arguments.duration {
        scenarios::fit_duration(&scenario, Vec::new(), "--duration", duration)?;
    }
    match &arguments.whole {
        None => Ok(()),
        Some(whole) => unattended::read(arguments, whole, &scenario),
    }
}

fn of_record(arguments: &Record) -> Result<(), Failure> {
    policies(&arguments.policy)?;
    option_value::time("--duration", Some(&arguments.duration))?;
    option_value::time("--stop-above", arguments.output.stop_above.as_deref())?;
    units::parse_size(&arguments.keep)
        .map_err(|why| option_value::OptionError::new("--keep", &arguments.keep, why))?;
    criterion_options::table(&arguments.limits)?;
    Ok(())
}

fn of_subject(arguments: &Subject) -> Result<(), Failure> {
    let rate = arguments.rate.as_deref().unwrap_or("250Hz");
    check_scenario::text_for(rate, arguments.cpu, &[], None)?;
    Ok(())
}

fn of_tune(arguments: &Tune) -> Result<(), Failure> {
    match arguments {
        Tune::Plan(arguments) => of_subject(&arguments.plan.subject),
        Tune::Apply(arguments) => of_subject(&arguments.plan.subject),
        Tune::Boot(arguments) => of_subject(&arguments.plan.subject),
        Tune::Trial(arguments) => {
            of_subject(&arguments.plan.subject)?;
            policies(std::slice::from_ref(&arguments.policy))?;
            option_value::time("--block", Some(&arguments.block))?;
            criterion_options::table(&arguments.limits).map(drop)
        }
        Tune::Unit(arguments) => policies(std::slice::from_ref(&arguments.policy)),
        Tune::Revert(_) | Tune::Status(_) => Ok(()),
    }
}
