//! `wakepath run`: a scenario from a file or from those built in.

use super::measured::{self, Beforehand};
use super::{criterion, unattended};
use crate::command_line::Run;
use wakepath_console::changed::Changes;
use wakepath_console::{Outcome, scenarios};
use wakepath_measure::HostCpus;
use wakepath_scenario::{Scenario, Warning};

/// Measures and judges.
pub fn run(arguments: &Run) -> Outcome {
    if arguments.resume {
        return unattended::go_on(arguments);
    }
    if let Some(whole) = &arguments.whole {
        return unattended::begin(arguments, whole);
    }
    let host = scenarios::host_cpus()?;
    let (scenario, warnings) = asked(arguments, &host)?;
    let (scenario, warnings) = match &arguments.duration {
        None => (scenario, warnings),
        Some(duration) => scenarios::fitted(&scenario, warnings, "--duration", duration)?,
    };
    measured::measure(
        scenario,
        Beforehand::noted(scenarios::told(&warnings)),
        host,
        &arguments.output,
    )
}

/// The scenario with what the command line changes in it, except for its length.
pub(super) fn asked(
    arguments: &Run,
    host: &HostCpus,
) -> Result<(Scenario, Vec<Warning>), Box<dyn std::error::Error>> {
    // Without one the command line was refused.
    let name = arguments.scenario.as_deref().unwrap_or_default();
    let (text, source) = scenarios::scenario_text(name)?;
    scenarios::may_use(arguments.cpu, host)?;
    let criterion = criterion::asked(&arguments.limits)?;
    let changes = Changes {
        rate: arguments.rate.as_deref(),
        cpu: arguments.cpu,
        task: arguments.task.as_deref(),
        policies: &arguments.policy,
        criterion: criterion.as_ref(),
        reserved_for: None,
    };
    let (mut scenario, warnings) = scenarios::changed(&text, &source, &changes, host)?;
    if arguments.trace {
        scenario.trace.get_or_insert_default();
    }
    Ok((scenario, warnings))
}
