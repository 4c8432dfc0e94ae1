//! `wakepath lab exec`: a command in a guest, and what it wrote. The guest measures nothing but what
//! the command measures.

use super::guests::{Guest, carry_out};
use super::prepare::{Laboratory, Task};
use crate::command_line::LabExec;
use crate::verbs::{Outcome, measured};
use std::io::Write;
use std::process::ExitCode;
use std::time::SystemTime;
use wakepath_lab::{COMMANDS_NAME, CommandEnd, complaint_name, output_name};
use wakepath_measure::Interrupt;

type Failure = Box<dyn std::error::Error>;

/// A guest has one seed: nothing here asks for more.
const SEED: u64 = 1;

/// Boots, runs the commands, shows what they wrote.
pub fn run(arguments: &LabExec) -> Outcome {
    if let Some(directory) = &arguments.directory {
        measured::refuse_used(directory)?;
    }
    let laboratory = Laboratory::new(&arguments.guests)?;
    let task = Task {
        command: Some(&arguments.command),
        scenario: None,
        seeds: &[SEED],
    };
    let limit = laboratory.limit(&task)?;
    let place = match &arguments.directory {
        Some(directory) => directory.clone(),
        None => {
            let here = format!("lab-exec-{}", std::process::id());
            measured::default_directory(&here, SystemTime::now())
        }
    };
    let guests = laboratory.guests(&task, &place)?;
    let interrupt = Interrupt::listen()?;
    let ended = carry_out(
        &guests,
        &laboratory.qemu,
        laboratory.beside(),
        limit,
        &interrupt,
    );
    let mut code = 0;
    let mut failed = false;
    for (guest, outcome) in guests.iter().zip(ended) {
        match outcome
            .map_err(Failure::from)
            .and_then(|()| show(guest, guests.len() > 1))
        {
            Ok(0) => {}
            Ok(found) if code == 0 => code = found,
            Ok(_) => {}
            Err(error) => {
                eprintln!("wakepath: {}: {error}", guest.name);
                failed = true;
            }
        }
    }
    // A console that explains a failure stays.
    if arguments.directory.is_none() && !failed {
        let _ = std::fs::remove_dir_all(&place);
    }
    Ok(ExitCode::from(if failed { 1 } else { code }))
}

/// Writes what the last command wrote, and returns its exit code.
fn show(guest: &Guest, named: bool) -> Result<u8, Failure> {
    let read = |name: &str| {
        let path = guest.directory.join(name);
        std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let ends: Vec<CommandEnd> = serde_json::from_slice(&read(COMMANDS_NAME)?)?;
    if named {
        println!("{}:", guest.name);
    }
    std::io::stdout().write_all(&read(&output_name(ends.len()))?)?;
    std::io::stderr().write_all(&read(&complaint_name(ends.len()))?)?;
    let last = ends.last().ok_or("the guest ran no command")?;
    match last.exit_code.map(u8::try_from) {
        Some(Ok(code)) => Ok(code),
        _ => Err(format!("{}: a signal ended it", last.command.join(" ")).into()),
    }
}
