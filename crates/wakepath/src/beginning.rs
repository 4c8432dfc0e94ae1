//! How a run describes itself in its first event, whichever verb measures: the program, its words,
//! the terms. The measuring verb adds the plan.

use std::time::SystemTime;
use wakepath_archive::{RunStarted, ScenarioText, Tool, run_id};
use wakepath_console::VERSION;
use wakepath_scenario::Scenario;

/// A run's first event.
///
/// # Errors
/// When the kernel has no random numbers for the run's name.
pub fn run_started(
    scenario: &Scenario,
    clock_source: String,
    notes: Vec<String>,
    started: SystemTime,
    command: Vec<String>,
) -> std::io::Result<RunStarted> {
    let started = humantime::format_rfc3339_seconds(started).to_string();
    let mut random = [0; 4];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
    Ok(RunStarted {
        run_id: run_id(&started, random),
        tool: Tool {
            name: "wakepath".into(),
            version: VERSION.into(),
            commit: Some(wakepath_console::COMMIT.into()),
        },
        command,
        started,
        scenario: ScenarioText {
            name: scenario.name.clone(),
            toml: scenario.to_toml(),
        },
        clock_source,
        notes,
        virtual_time: wakepath_guest::virtual_time_here(),
        ..RunStarted::default()
    })
}

/// The command line as text. A path that is not UTF-8 is shown as far as possible.
pub fn own_words() -> impl Iterator<Item = String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned())
}
