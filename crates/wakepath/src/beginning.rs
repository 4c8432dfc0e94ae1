//! How a run describes itself in its first event, whichever verb measures: the program, its words,
//! the terms. The measuring verb adds the plan.

use crate::command_line::invocation;
use std::time::SystemTime;
use wakepath_archive::{Invocation, RunStarted, ScenarioText, Tool, run_id};
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
    command: Command,
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
        command: command.words,
        invocation: command.invocation,
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

/// The command of a run.
pub struct Command {
    /// Its words, the program's name first.
    words: Vec<String>,
    /// The same in parts, if it can be repeated.
    invocation: Option<Invocation>,
}

impl Command {
    /// This process's own command line. A path that is not UTF-8 is shown as far as possible.
    pub fn of_this_process() -> Self {
        let words = std::env::args_os();
        Self {
            words: words
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            invocation: invocation::of(std::env::args_os()),
        }
    }

    /// One that another process repeats.
    pub fn repeated_by(invocation: Invocation) -> Self {
        Self {
            words: invocation.words(),
            invocation: Some(invocation),
        }
    }

    /// One that no command of wakepath repeats.
    pub fn foreign(words: Vec<String>) -> Self {
        Self {
            words,
            invocation: None,
        }
    }

    /// Its words.
    pub fn words(&self) -> &[String] {
        &self.words
    }
}
