//! `wakepath run`: a scenario from a file or from those built in.

use crate::command_line::Run;
use crate::measured_run::{self, RunContext};
use crate::{run_scenario, unattended};
use wakepath_console::{Outcome, scenarios};

/// Measures and judges.
pub fn run(arguments: &Run) -> Outcome {
    if arguments.resume {
        return unattended::resume(arguments);
    }
    if let Some(whole) = &arguments.whole {
        return unattended::begin(arguments, whole);
    }
    let host = scenarios::host_cpus()?;
    let (scenario, warnings) = run_scenario::read(arguments, &host)?;
    let (scenario, warnings) = match &arguments.duration {
        None => (scenario, warnings),
        Some(duration) => scenarios::fit_duration(&scenario, warnings, "--duration", duration)?,
    };
    measured_run::measure(
        scenario,
        RunContext::noted(scenarios::notes(&warnings)),
        host,
        &arguments.output,
    )
}
