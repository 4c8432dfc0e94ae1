//! `wakepath run`: a scenario from a file or from those built in.

use super::{Outcome, measured};
use crate::command_line::Run;

/// Measures and judges.
pub fn run(arguments: &Run) -> Outcome {
    let host = measured::host_cpus()?;
    let (text, source) = measured::scenario_text(&arguments.scenario)?;
    let (mut scenario, warnings) = measured::read_scenario(&text, &source, &host)?;
    if arguments.trace {
        scenario.trace.get_or_insert_default();
    }
    let (scenario, warnings) = match &arguments.duration {
        None => (scenario, warnings),
        Some(duration) => measured::fitted(&scenario, warnings, duration)?,
    };
    measured::measure(scenario, &warnings, host, &arguments.output)
}
