//! How a run describes itself in its first event, whoever measures: the program, its words, the
//! terms. What is planned is filled in by who plans.

use crate::command_line::VERSION;
use std::time::SystemTime;
use wakepath_archive::{RunStarted, ScenarioText, Tool, run_id};
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
) -> std::io::Result<RunStarted> {
    let started = humantime::format_rfc3339_seconds(started).to_string();
    let mut random = [0; 4];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
    Ok(RunStarted {
        run_id: run_id(&started, random),
        tool: Tool {
            name: "wakepath".into(),
            version: VERSION.into(),
            commit: Some(env!("WAKEPATH_COMMIT").into()),
        },
        command: std::env::args().collect(),
        started,
        scenario: ScenarioText {
            name: scenario.name.clone(),
            toml: scenario.to_toml(),
        },
        clock_source,
        notes,
        virtual_time: wakepath_lab::virtual_time_here(),
        ..RunStarted::default()
    })
}
