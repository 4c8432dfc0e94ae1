//! `wakepath lab window`: which instructions the worst latencies of a run consist of.

use super::host;
use crate::command_line::LabWindow;
use crate::verbs::{Outcome, print_result};
use std::process::ExitCode;
use wakepath_archive::Run;
use wakepath_explain::window::Windows;
use wakepath_lab::{Again, CyclesAsked, HostAsked, Wanted, windows, windows_text};
use wakepath_measure::Interrupt;

/// Repeats the run, finds the windows, keeps and shows them.
pub fn run(arguments: &LabWindow) -> Outcome {
    let run = Run::open(&arguments.run)?;
    let cycles = match arguments.cycle.is_empty() {
        true => CyclesAsked::Worst(arguments.worst.into()),
        false => CyclesAsked::Named(arguments.cycle.clone()),
    };
    let wanted = Wanted::of(&run, &cycles)?;
    let interrupt = Interrupt::listen()?;
    let host = host();
    let on = HostAsked {
        beside: None,
        timeout: arguments.timeout.clone(),
        program: arguments.program.clone(),
        emulator: arguments.emulator.clone(),
    };
    let again = Again::of(&run, arguments.kernel.as_deref(), &on, &host)?;
    let windows = windows(&run, &again, &wanted, &host, &|| interrupt.requested())?;
    print_result(
        arguments.json,
        &match arguments.json {
            true => {
                let found = Windows {
                    windows,
                    ..Windows::default()
                };
                serde_json::to_string_pretty(&found)? + "\n"
            }
            false => windows_text(&windows, &arguments.run),
        },
    )?;
    Ok(ExitCode::SUCCESS)
}
