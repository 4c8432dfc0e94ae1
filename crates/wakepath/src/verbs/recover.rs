//! `wakepath recover`: makes an interrupted run readable and lists what is missing.

use crate::beginning::Command;
use crate::command_line::Recover;
use crate::watched_program::{run_started, text};
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use wakepath_archive::watch::Session;
use wakepath_archive::{ArchiveError, command_about, trace_name};
use wakepath_assess::watched::Figures;
use wakepath_console::explanation::explain;
use wakepath_console::run_directory::trust;
use wakepath_console::terminal::{OneLine, print};
use wakepath_console::{Outcome, runs};
use wakepath_directory::Directory;
use wakepath_measure::SCRATCH;
use wakepath_measure::watch::Recovered;
use wakepath_verdict::counted;

/// Recovers.
pub fn run(arguments: &Recover) -> Outcome {
    let place = runs::place(arguments.run.as_deref())?;
    let directory = Directory::to_write(&place, trust(arguments.trust_directory))?;
    let mut is_told = false;
    let report = match wakepath_archive::recover_in(&directory) {
        // A watch writes its log at its end; until then its trace and session are what there is.
        Err(
            error @ (ArchiveError::NothingRecorded { .. }
            | ArchiveError::NotRecognised { .. }
            | ArchiveError::NotARun { .. }),
        ) => match wakepath_measure::watch::recover(&directory, &|scenario, session| {
            run_started(scenario, session, Command::of_this_process())
        })? {
            None if matches!(error, ArchiveError::NothingRecorded { .. }) => {
                wakepath_archive::discard_in(&directory)?;
                return empty(
                    &directory,
                    "the run was stopped before anything was recorded",
                );
            }
            None => return Err(error.into()),
            Some(Recovered::Empty) => {
                return empty(
                    &directory,
                    "the watch was killed before it had recorded anything",
                );
            }
            Some(Recovered::NothingWoken(figures)) => {
                return no_run(&directory, &nothing_woken(&directory, &figures));
            }
            Some(Recovered::NoTrace(error)) => {
                let found = format!("its trace can't be read, and is kept: {error}");
                return no_run(&directory, &found);
            }
            Some(Recovered::Run(figures)) => {
                tell(&place, &figures)?;
                is_told = true;
                wakepath_archive::recover_in(&directory)?
            }
        },
        other => other?,
    };
    // Of a watch that was killed when its run was as good as recorded.
    Session::forget(&directory)?;
    if is_told || !report.was_finished {
        explain(&directory);
    }
    let (had_scratch, reaped) = remove_loads(&directory)?;
    let plugin = wakepath_measure::put_back_litmus_plugin()?;
    let was_narrowed = wakepath_rt::put_back_cobalt_affinity();

    let mut text = String::new();
    let directory = place.in_one_line();
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
    if let Some(plugin) = plugin {
        writeln!(text, "put back: {plugin}, as LITMUS^RT's active plugin")?;
    }
    if was_narrowed {
        writeln!(text, "put back: Cobalt's CPUs for new threads")?;
    }
    if reaped > 0 {
        writeln!(
            text,
            "ended: {} of loads that had outlived their run",
            counted(reaped as u64, "process", "processes")
        )?;
    }
    text += &orphans();
    let shown = command_about("show", &place.display().to_string(), "");
    writeln!(text, "next: {shown}")?;
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Removes trace buffers of dead processes; a line for each.
fn orphans() -> String {
    // An unavailable tracefs has none of our instances.
    let names = wakepath_probe::remove_orphans().unwrap_or_default();
    let line = |name| format!("removed: the kernel's trace buffers {name} of a dead process\n");
    names.into_iter().map(line).collect()
}

/// Says what a killed watch had seen, of which there is a run now.
fn tell(directory: &Path, figures: &Figures) -> std::io::Result<()> {
    print(&format!(
        "{}: a killed watch: {} of {} events over {:.1} s; its last second may be missing\n",
        directory.in_one_line(),
        counted(figures.threads.len() as u64, "thread", "threads"),
        figures.events,
        figures.watched_ns as f64 / 1e9,
    ))
}

/// Remains of a killed run's loads: processes first, then their files. Returns whether there were
/// files, and the number of processes.
fn remove_loads(directory: &Directory) -> Result<(bool, usize), Box<dyn std::error::Error>> {
    let reaped = wakepath_load::reap_orphans(&directory.lasting_path().join(SCRATCH));
    let had_scratch = directory.holds(SCRATCH);
    directory
        .remove_below(SCRATCH)
        .map_err(|error| format!("{}: {error}", directory.path_of(SCRATCH).display()))?;
    Ok((had_scratch, reaped))
}

/// Reports that nothing was recorded; the remains are removed, and the directory too unless it has
/// other files.
fn empty(directory: &Directory, why: &str) -> Outcome {
    remove_loads(directory)?;
    let place = directory.path().in_one_line();
    let left = match std::fs::remove_dir(directory.path()) {
        Ok(()) => format!("removed: {place}"),
        Err(_) => format!("kept: {place}, for the files that wakepath did not write"),
    };
    print(&format!(
        "{place}: {why}; there is no run\n{left}\n{}",
        orphans()
    ))?;
    Ok(ExitCode::from(3))
}

/// Findings about a watch in which no thread woke up.
fn nothing_woken(directory: &Directory, figures: &Figures) -> String {
    format!(
        "no thread woke up in the {} kernel events of {:.1} s that it had recorded\n{}\n\
         kept: {}",
        figures.events,
        figures.watched_ns as f64 / 1e9,
        text(figures).trim(),
        directory.path_of(&trace_name(0)).in_one_line(),
    )
}

/// Reports that there is no run, and why; the recording stays.
fn no_run(directory: &Directory, found: &str) -> Outcome {
    let place = directory.path().in_one_line();
    print(&format!(
        "{place}: a killed watch, of which no run can be made: {found}\n{}",
        orphans()
    ))?;
    Ok(ExitCode::from(3))
}
