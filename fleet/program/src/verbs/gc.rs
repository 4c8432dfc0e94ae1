//! `wakepath-fleet gc`: removes an archive's expendable files.

use super::{Outcome, archive};
use crate::command_line::Gc;
use crate::terminal::print;
use std::process::ExitCode;
use wakepath_fleet_archive::{Retention, sweep};
use wakepath_timeline::count::counted;

/// Removes expendable files, or lists them.
pub fn run(arguments: &Gc) -> Outcome {
    let retention = Retention::new(arguments.samples_before.as_deref())?;
    let store = archive::open(&arguments.of)?;
    let swept = sweep(&*store, &retention, arguments.dry_run)?;
    let mut text = String::new();
    for run in &swept.kept_for_seal {
        text += &format!("{run}: keeps its samples for its seal\n");
    }
    let loses = if arguments.dry_run {
        "would lose"
    } else {
        "lost"
    };
    for run in &swept.runs {
        text += &format!("{run}: {loses} its samples\n");
    }
    let verb = if arguments.dry_run {
        "would be removed"
    } else {
        "removed"
    };
    text += &format!(
        "{}, {} bytes, and {} of stopped writers {verb}\n",
        counted(swept.objects, "object", "objects"),
        swept.bytes,
        counted(swept.partials, "file", "files"),
    );
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}
