//! The scenario of `wakepath run`.

use crate::command_line::Run;
use crate::criterion_options;
use wakepath_console::overrides::ScenarioOverrides;
use wakepath_console::scenarios;
use wakepath_measure::HostCpus;
use wakepath_scenario::{Scenario, Warning};

/// The scenario with what the command line changes in it, except for its length.
pub fn read(
    arguments: &Run,
    host: &HostCpus,
) -> Result<(Scenario, Vec<Warning>), Box<dyn std::error::Error>> {
    // Without one the command line was refused.
    let name = arguments.scenario.as_deref().unwrap_or_default();
    let (text, source) = scenarios::scenario_text(name)?;
    scenarios::check_cpu(arguments.cpu, host)?;
    let criterion = criterion_options::table(&arguments.limits)?;
    let overrides = ScenarioOverrides {
        rate: arguments.rate.as_deref(),
        cpu: arguments.cpu,
        task: arguments.task.as_deref(),
        policies: &arguments.policy,
        criterion: criterion.as_ref(),
        reserved_for: None,
    };
    let (mut scenario, warnings) =
        scenarios::read_with_overrides(&text, &source, &overrides, host)?;
    if arguments.trace {
        scenario.trace.get_or_insert_default();
    }
    Ok((scenario, warnings))
}
