//! `wakepath lab hunt`: the programs that keep a kernel from preempting the longest.

use super::command_line_hunt::LabHunt;
use super::host;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use wakepath_console::Outcome;
use wakepath_console::terminal::print_result;
use wakepath_directory::Directory;
use wakepath_lab::{
    Guest, Hunt, HuntAsked, Way, hunt_json, hunt_text, repeated_json, repeated_text,
};
use wakepath_measure::Interrupt;

/// Searches, or repeats one program.
pub fn run(arguments: &LabHunt) -> Outcome {
    let asked = asked(arguments)?;
    if asked.directory.exists() {
        Directory::to_write(&asked.directory, arguments.guests.host.trust())?;
    }
    let (host, on) = (host()?, arguments.guests.host.asked());
    let interrupt = Interrupt::listen()?;
    let stopped = || interrupt.requested();
    let hunt = Hunt::prepare(&asked, &on, &host)?;
    let (json, text) = match &arguments.repeat {
        Some(named) => {
            let program = hunt.program(named)?;
            let repeated = hunt.repeat(&program, arguments.branches, &stopped)?;
            (
                repeated_json(&repeated, &program),
                repeated_text(&repeated, &program, arguments.all),
            )
        }
        None => {
            let end = hunt.run(&stopped)?;
            (hunt_json(&end), hunt_text(&end, arguments.all))
        }
    };
    print_result(
        arguments.json,
        &if arguments.json {
            serde_json::to_string_pretty(&json)? + "\n"
        } else {
            text
        },
    )?;
    Ok(ExitCode::SUCCESS)
}

fn asked(arguments: &LabHunt) -> Result<HuntAsked, Box<dyn std::error::Error>> {
    let time = |option: &str, text: &str| {
        let parsed = wakepath_scenario::units::parse_duration(text);
        parsed.map_err(|complaint| format!("{option} {text}: {complaint}"))
    };
    let kernel = arguments.guests.kernel.first().map_or("", String::as_str);
    let default = || Path::new("wakepath-hunt").join(Guest::directory_name(kernel));
    let directory: PathBuf = arguments.directory.clone().unwrap_or_else(default);
    Ok(HuntAsked {
        guests: arguments.guests.asked(),
        directory: std::path::absolute(directory)?,
        time: Duration::from_nanos(time("--for", &arguments.time)?),
        as_root: arguments.as_root,
        calls: arguments.calls.clone(),
        seed: arguments.seed,
        programs: arguments.programs.into(),
        limit_ns: time("--limit", &arguments.limit)?,
        findings: arguments.findings,
        way: if arguments.random {
            Way::Random
        } else {
            Way::Guided
        },
        until: arguments.until.clone(),
    })
}
