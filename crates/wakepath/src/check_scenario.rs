//! The built-in scenario of `wakepath check` for a rate, a CPU, policies and limits.

use wakepath_console::overrides::ScenarioOverrides;
use wakepath_console::scenarios;
use wakepath_measure::HostCpus;
use wakepath_scenario::{Scenario, Warning, builtin};

/// Name of the scenario in messages.
pub const SOURCE: &str = "the scenario of `wakepath check`";
/// Period of the built-in scenario: 250 Hz.
const DEFAULT_PERIOD_NS: u64 = 4_000_000;

/// The loop of `check` for a part of a larger measurement, under these policies alone.
pub fn read(
    rate: &str,
    cpu: Option<u16>,
    policies: &[String],
    criterion: Option<&toml::Table>,
    host: &HostCpus,
) -> Result<(Scenario, Vec<Warning>), Box<dyn std::error::Error>> {
    let text = text_for(rate, cpu, policies, criterion)?;
    let (mut scenario, warnings) = scenarios::read_scenario(&text, SOURCE, host)?;
    (scenario.flight, scenario.core_latency_ns) = (None, None);
    Ok((scenario, warnings))
}

/// The built-in scenario's file for another rate, CPU, policies and limits.
pub fn text_for(
    rate_text: &str,
    cpu: Option<u16>,
    policies: &[String],
    criterion: Option<&toml::Table>,
) -> Result<String, Box<dyn std::error::Error>> {
    let text = builtin::named("check")
        .ok_or("the scenario `check` is not built in")?
        .text;
    let overrides = ScenarioOverrides {
        rate: Some(rate_text),
        cpu,
        task: None,
        policies,
        criterion,
        reserved_for: Some(DEFAULT_PERIOD_NS),
    };
    Ok(overrides.apply_to(text)?)
}
