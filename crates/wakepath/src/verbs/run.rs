//! `wakepath run`: a scenario from a file or from those built in.

use super::changed::Changes;
use super::{Outcome, criterion, measured, unattended};
use crate::command_line::Run;
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
    let host = measured::host_cpus()?;
    let (scenario, warnings) = asked(arguments, &host)?;
    let (scenario, warnings) = match &arguments.duration {
        None => (scenario, warnings),
        Some(duration) => measured::fitted(&scenario, warnings, duration)?,
    };
    measured::measure(
        scenario,
        &measured::told(&warnings),
        host,
        &arguments.output,
    )
}

/// The scenario with what the command line changes in it, but for its length.
pub(super) fn asked(
    arguments: &Run,
    host: &HostCpus,
) -> Result<(Scenario, Vec<Warning>), Box<dyn std::error::Error>> {
    // Without one the command line was refused.
    let name = arguments.scenario.as_deref().unwrap_or_default();
    let (text, source) = measured::scenario_text(name)?;
    measured::may_use(arguments.cpu, host)?;
    let criterion = criterion::asked(&arguments.limits)?;
    let changes = Changes {
        rate: arguments.rate.as_deref(),
        cpu: arguments.cpu,
        task: arguments.task.as_deref(),
        policies: &arguments.policy,
        criterion: criterion.as_ref(),
        reserved_for: None,
    };
    let (mut scenario, warnings) = changed(&text, &source, &changes, host)?;
    if arguments.trace {
        scenario.trace.get_or_insert_default();
    }
    Ok((scenario, warnings))
}

/// A scenario with what the command line changes in it. As it is in its file it has to be right:
/// what is wrong there is said with its line.
pub(super) fn changed(
    text: &str,
    source: &str,
    changes: &Changes<'_>,
    host: &HostCpus,
) -> Result<(Scenario, Vec<Warning>), Box<dyn std::error::Error>> {
    let own = measured::read_scenario(text, source, host)?;
    match changes.are_none() {
        true => Ok(own),
        false => measured::read_scenario(&changes.made_in(text)?, source, host)
            .map_err(|error| format!("with {changes}: {error}").into()),
    }
}
