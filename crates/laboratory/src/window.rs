//! `wakepath lab window`: which instructions the worst latencies of a run consist of.

use super::command_line::LabWindow;
use super::host;
use std::process::ExitCode;
use wakepath_archive::Run;
use wakepath_console::terminal::print_result;
use wakepath_console::{Outcome, run_directory, runs};
use wakepath_directory::Directory;
use wakepath_explain::window::Windows;
use wakepath_lab::{Again, CyclesAsked, Wanted, windows};
use wakepath_measure::Interrupt;
use wakepath_report::windows_text;

/// Repeats the run, finds the windows, keeps and shows them.
pub fn run(arguments: &LabWindow) -> Outcome {
    let path = runs::find(Some(&arguments.run))?;
    let run = Run::open(&path)?;
    // Before anything boots: the windows are kept in the run.
    let trust = run_directory::trust(arguments.again.trust_directory);
    let directory = Directory::to_write(&path, trust)?;
    let cycles = if arguments.cycle.is_empty() {
        CyclesAsked::Worst(arguments.worst.into())
    } else {
        CyclesAsked::Named(arguments.cycle.clone())
    };
    let wanted = Wanted::new(&run, &cycles)?;
    let interrupt = Interrupt::listen()?;
    let host = host()?;
    let on = arguments.again.asked();
    let again = Again::new(&run, arguments.again.kernel.as_deref(), &on, &host)?;
    let windows = windows(&run, &directory, &again, &wanted, &host, &|| {
        interrupt.requested()
    })?;
    print_result(
        arguments.json,
        &if arguments.json {
            let found = Windows {
                windows,
                ..Windows::default()
            };
            serde_json::to_string_pretty(&found)? + "\n"
        } else {
            windows_text(&windows, &path)
        },
    )?;
    Ok(ExitCode::SUCCESS)
}
