//! `wakepath recover`: an interrupted run becomes a readable one, and what is missing is said.

use super::{Outcome, print};
use crate::command_line::Recover;
use crate::watch::{Figures, Recovered};
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use wakepath_archive::ArchiveError;
use wakepath_verdict::counted;

/// Recovers.
pub fn run(arguments: &Recover) -> Outcome {
    let mut is_told = false;
    let report = match wakepath_archive::recover(&arguments.run) {
        // A watch writes its log at its end; until then its trace and session are what there is.
        Err(error @ (ArchiveError::NotRecognised { .. } | ArchiveError::NotARun { .. })) => {
            match crate::watch::recover(&arguments.run)? {
                None => return Err(error.into()),
                Some(Recovered::Nothing { found }) => return nothing(&arguments.run, &found),
                Some(Recovered::Run(figures)) => {
                    tell(&arguments.run, &figures)?;
                    is_told = true;
                }
            }
            wakepath_archive::recover(&arguments.run)?
        }
        other => other?,
    };
    // What a killed run's loads left behind: processes first, then their files.
    let scratch = arguments.run.join("scratch");
    let reaped = wakepath_load::reap_orphans(&scratch);
    let had_scratch = scratch.exists();
    if had_scratch {
        std::fs::remove_dir_all(&scratch)
            .map_err(|error| format!("{}: {error}", scratch.display()))?;
    }

    let mut text = String::new();
    let directory = arguments.run.display();
    match report.was_finished {
        true if is_told => {}
        true => writeln!(
            text,
            "{directory}: was complete already; nothing was changed"
        )?,
        false => writeln!(
            text,
            "{directory}: recovered {} of {}",
            counted(report.manifest.recorded(), "sample", "samples"),
            counted(report.manifest.segments.len() as u64, "segment", "segments")
        )?,
    }
    for missing in report.missing() {
        writeln!(text, "missing: {missing}")?;
    }
    if had_scratch {
        writeln!(text, "removed: the loads' scratch files")?;
    }
    if reaped > 0 {
        writeln!(
            text,
            "ended: {} of loads that had outlived their run",
            counted(reaped as u64, "process", "processes")
        )?;
    }
    text += &orphans();
    writeln!(text, "next: wakepath show {directory}")?;
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Removes trace buffers of dead processes; a line for each.
fn orphans() -> String {
    // A tracefs that can't be had holds nothing of ours either.
    let names = wakepath_probe::remove_orphans().unwrap_or_default();
    let line = |name| format!("removed: the kernel's trace buffers {name} of a dead process\n");
    names.into_iter().map(line).collect()
}

/// Says what a killed watch had seen, of which there is a run now.
fn tell(directory: &Path, figures: &Figures) -> std::io::Result<()> {
    print(&format!(
        "{}: a killed watch: {} of {} events over {:.1} s; its last second may be missing\n",
        directory.display(),
        counted(
            figures.threads.len() as u64,
            "periodic thread",
            "periodic threads"
        ),
        figures.events,
        figures.watched_ns as f64 / 1e9,
    ))
}

/// Says that there is no run, and why: nothing can be held against it.
fn nothing(directory: &Path, found: &str) -> Outcome {
    let directory = directory.display();
    print(&format!(
        "{directory}: a killed watch, of which no run can be made: {found}\n\
         removed: {directory}\n{}",
        orphans()
    ))?;
    Ok(ExitCode::from(3))
}
