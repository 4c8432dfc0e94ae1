//! `wakepath check`: the built-in scenario of that name with what the command line changes in it.

use super::{Outcome, measured};
use crate::command_line::Check;
use crate::terminal::tell;
use wakepath_scenario::{builtin, parse_policy, units};
use wakepath_timeline::Policy;

/// Period of the built-in scenario: 250 Hz.
const DEFAULT_PERIOD_NS: u64 = 4_000_000;

/// Measures and judges.
pub fn run(arguments: &Check) -> Outcome {
    let text = changed(arguments)?;
    let host = measured::host_cpus()?;
    if let Some(cpu) = arguments.cpu.filter(|cpu| !host.for_a_loop().contains(cpu)) {
        let there: Vec<String> = host.for_a_loop().iter().map(u16::to_string).collect();
        let there = there.join(", ");
        return Err(format!("--cpu {cpu}: wakepath may use CPU {there}; give one of them").into());
    }
    let (mut scenario, warnings) =
        measured::read_scenario(&text, "the scenario of `wakepath check`", &host)?;
    // A vehicle that no loop of this rate could fly says nothing about this machine.
    if let Some(terms) = &scenario.flight
        && !wakepath_assess::can_be_met(terms, scenario.period_ns)?
    {
        tell!(
            "note: at {} the vehicle of `check` could not be flown without any delay; no flight \
             is judged",
            arguments.rate
        );
        scenario.flight = None;
    }
    if arguments.trace {
        scenario.trace.get_or_insert_default();
    }
    let (scenario, warnings) = measured::fitted(&scenario, warnings, &arguments.duration)?;
    measured::measure(scenario, &warnings, host, &arguments.output)
}

/// The built-in scenario's file with the options written into it, so that what they mean is
/// checked, recorded and shown like any scenario.
fn changed(arguments: &Check) -> Result<String, Box<dyn std::error::Error>> {
    scenario_for(&arguments.rate, arguments.cpu, &arguments.policy)
}

/// The built-in scenario's file for another rate, CPU and policies.
pub(super) fn scenario_for(
    rate_text: &str,
    cpu: Option<u16>,
    policies: &[String],
) -> Result<String, Box<dyn std::error::Error>> {
    let text = builtin::named("check")
        .ok_or("the scenario `check` is not built in")?
        .text;
    let mut table: toml::Table = text.parse()?;

    let rate = units::parse_rate(rate_text)
        .map_err(|complaint| format!("--rate {rate_text}: {complaint}"))?;
    table.insert("rate".into(), rate_text.into());
    if let Some(cpu) = cpu {
        table.insert("cpu".into(), i64::from(cpu).into());
    }
    if !policies.is_empty() {
        for policy in policies {
            parse_policy(policy, rate.period_ns)
                .map_err(|complaint| format!("--policy '{policy}': {complaint}"))?;
        }
        table.insert("policies".into(), policies.to_vec().into());
    } else if rate.period_ns != DEFAULT_PERIOD_NS {
        for policy in policies_of(&mut table) {
            scale_reservation(policy, rate.period_ns)?;
        }
    }
    Ok(toml::to_string(&table)?)
}

fn policies_of(table: &mut toml::Table) -> impl Iterator<Item = &mut toml::Value> {
    let policies = table
        .get_mut("policies")
        .and_then(toml::Value::as_array_mut);
    policies.into_iter().flatten()
}

/// A DEADLINE runtime keeps its share of the period: 400 µs of 4 ms are 100 µs of 1 ms.
fn scale_reservation(
    policy: &mut toml::Value,
    period_ns: u64,
) -> Result<(), Box<dyn std::error::Error>> {
    let written = policy.as_str().unwrap_or_default();
    let parsed = parse_policy(written, DEFAULT_PERIOD_NS).map_err(|error| error.to_string())?;
    if let Policy::Deadline { runtime_ns, .. } = parsed {
        let share = u128::from(runtime_ns) * u128::from(period_ns) / u128::from(DEFAULT_PERIOD_NS);
        *policy = format!("DEADLINE {share} ns").into();
    }
    Ok(())
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
    fn another_rate_keeps_the_reservations_shares() {
        let text = scenario_of(&["--rate", "1kHz"]);
        assert!(text.contains("DEADLINE 100000 ns"), "{text}");
        assert!(text.contains("DEADLINE 200000 ns"), "{text}");
        assert!(text.contains("FIFO 99"), "{text}");
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
