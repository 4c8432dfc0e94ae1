//! `wakepath lab exec`: a command in a guest, and what it wrote. The guest measures nothing but what
//! the command measures.

use super::command_line::LabExec;
use super::host;
use std::process::ExitCode;
use std::time::SystemTime;
use wakepath_console::terminal::{pass_on, print, tell};
use wakepath_console::{Outcome, run_directory};
use wakepath_lab::{Laboratory, Task, carry_out, last_command, take_place};
use wakepath_measure::Interrupt;

/// A guest has one seed: nothing here asks for more.
const SEED: u64 = 1;

/// Boots, runs the commands, shows what the last wrote.
pub fn run(arguments: &LabExec) -> Outcome {
    let place = match &arguments.directory {
        Some(directory) => {
            take_place(directory, arguments.guests.host.trust())?;
            directory.clone()
        }
        None => {
            let here = format!("lab-exec-{}", std::process::id());
            run_directory::default_directory(&here, SystemTime::now())?
        }
    };
    let host = host()?;
    let (asked, on) = (arguments.guests.asked(), arguments.guests.host.asked());
    let laboratory = Laboratory::new(&asked, &on, &host)?;
    let task = Task {
        command: Some(&arguments.command),
        scenario: None,
        hunt: None,
        seeds: &[SEED],
    };
    let limit = laboratory.limit(&task)?;
    let guests = laboratory.guests(&task, &place)?;
    let interrupt = Interrupt::listen()?;
    let ended = carry_out(
        &guests,
        &laboratory.qemu,
        laboratory.beside(),
        limit,
        &host,
        &|| interrupt.requested(),
    );
    let mut code = 0;
    let mut failed = false;
    for (guest, outcome) in guests.iter().zip(ended) {
        let said = match outcome.and_then(|()| last_command(&guest.directory)) {
            Ok(said) => said,
            Err(error) => {
                tell!("wakepath: {}: {error}", guest.name);
                failed = true;
                continue;
            }
        };
        if guests.len() > 1 {
            print(&format!("{}:\n", guest.name))?;
        }
        pass_on(&said.output, &mut std::io::stdout())?;
        pass_on(&said.complaint, &mut std::io::stderr())?;
        match said.exit_code {
            Ok(found) if code == 0 => code = found,
            Ok(_) => {}
            Err(error) => {
                tell!("wakepath: {}: {error}", guest.name);
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
