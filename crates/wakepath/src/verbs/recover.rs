//! `wakepath recover`: an interrupted run becomes a readable one, and what is missing is said.

use super::{Outcome, print};
use crate::command_line::Recover;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use wakepath_archive::ArchiveError;
use wakepath_verdict::counted;

/// Recovers.
pub fn run(arguments: &Recover) -> Outcome {
    let report = match wakepath_archive::recover(&arguments.run) {
        // A watch writes its log at its end; until then its trace and session are what there is.
        Err(ArchiveError::NotRecognised { .. }) if watched(&arguments.run)? => {
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

    // A tracefs that can't be had holds nothing of ours either.
    let instances = wakepath_probe::remove_orphans().unwrap_or_default();

    let mut text = String::new();
    let directory = arguments.run.display();
    match report.was_finished {
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
    for name in &instances {
        writeln!(
            text,
            "removed: the kernel's trace buffers {name} of a dead process"
        )?;
    }
    writeln!(text, "next: wakepath show {directory}")?;
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Makes a run of a watch that was killed, if that is what the directory holds; says what it has.
fn watched(directory: &Path) -> Result<bool, Box<dyn std::error::Error>> {
    let Some(figures) = crate::watch::recover(directory)? else {
        return Ok(false);
    };
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
    ))?;
    Ok(true)
}
