//! `wakepath tune boot`: a second boot entry, and after the boot what the kernel took of it.

use super::{agreed, plan};
use crate::command_line::TuneBoot;
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use wakepath_console::Outcome;
use wakepath_console::terminal::{print, tell_text};
use wakepath_tuning::{BootChange, KEPT_PATH, System};

/// The prepared boot entry.
#[derive(Debug, Serialize, Deserialize)]
struct Prepared {
    parameters: String,
    boot_id: Option<String>,
    change: BootChange,
}

/// Prepares, or takes back.
pub fn run(arguments: &TuneBoot) -> Outcome {
    let top = arguments.plan.root.clone().unwrap_or_else(|| "/".into());
    if arguments.remove {
        return remove(&top);
    }
    let (plan, root) = plan(&arguments.plan)?;
    let parameters = plan.parameters();
    if parameters.is_empty() {
        print("no boot parameter would help here\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    if prepared(&top)?.is_some() {
        return Err("an entry is prepared already; first: wakepath tune boot --remove".into());
    }
    let change = wakepath_tuning::prepare(&root, &parameters)?;
    let mut text = format!("parameters: {parameters}\n");
    for file in &change.files {
        let what = match file.before {
            None => "a new file",
            Some(_) => "an entry is added; the others stay as they are",
        };
        writeln!(text, "writes {} ({what})", file.path)?;
    }
    writeln!(text, "writes {KEPT_PATH}")?;
    for caution in &change.cautions {
        writeln!(text, "caution: {caution}")?;
    }
    writeln!(text, "then, to try it once: {}", change.try_once.join("; "))?;
    writeln!(text, "to go back: {}", change.undo)?;
    writeln!(text, "after the boot: wakepath tune status")?;
    if arguments.dry_run {
        print(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    if !arguments.yes {
        tell_text(&text);
        if !agreed("write these?")? {
            return Err("nothing written; --yes writes without asking".into());
        }
    }
    let boot_id = root.text("/proc/sys/kernel/random/boot_id");
    let prepared = Prepared {
        parameters,
        boot_id: boot_id.known().cloned(),
        change,
    };
    // Before the boot loader's files, so that whatever ends this can be taken back.
    wakepath_tuning::keep(&top, &serde_json::to_string_pretty(&prepared)?)?;
    if let Err(error) = wakepath_tuning::write(&prepared.change, &top) {
        // Files written before the failure are removed too.
        let _ = wakepath_tuning::remove(&prepared.change, &top);
        wakepath_tuning::forget(&top)?;
        return Err(error.into());
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn prepared(top: &Path) -> Result<Option<Prepared>, Box<dyn std::error::Error>> {
    match wakepath_tuning::kept(top)? {
        Some(text) => Ok(Some(
            serde_json::from_slice(text.as_bytes())
                .map_err(|error| format!("{KEPT_PATH}: {error}"))?,
        )),
        None => Ok(None),
    }
}

fn remove(top: &Path) -> Outcome {
    let Some(prepared) = prepared(top)? else {
        print("no boot entry is prepared\n")?;
        return Ok(ExitCode::SUCCESS);
    };
    wakepath_tuning::remove(&prepared.change, top)?;
    wakepath_tuning::forget(top)?;
    print("the boot entry is removed\n")?;
    Ok(ExitCode::SUCCESS)
}

/// Compares what was prepared with what the kernel took.
pub fn status(
    system: &System,
    text: &mut String,
) -> Result<Option<serde_json::Value>, Box<dyn std::error::Error>> {
    let Some(prepared) = prepared(system.directory())? else {
        return Ok(None);
    };
    let root = system.root();
    let boot_id = root.text("/proc/sys/kernel/random/boot_id");
    if prepared.boot_id.is_some() && boot_id.known() == prepared.boot_id.as_ref() {
        writeln!(
            text,
            "a boot entry with {} is prepared; the machine was not booted since",
            prepared.parameters
        )?;
        return Ok(Some(
            serde_json::json!({ "prepared": prepared.parameters, "booted": false }),
        ));
    }
    let line = root.text("/proc/cmdline");
    let line = line.known().cloned().unwrap_or_default();
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut taken = Vec::new();
    for parameter in prepared.parameters.split(' ') {
        let given = words.contains(&parameter);
        writeln!(
            text,
            "boot: {parameter}: {}",
            if given {
                "on the command line; check that the kernel accepted it: wakepath doctor (B1, B2, W3)"
            } else {
                "not on the command line: this boot was not the trial"
            }
        )?;
        taken.push(serde_json::json!({ "parameter": parameter, "on_command_line": given }));
    }
    Ok(Some(
        serde_json::json!({ "prepared": taken, "booted": true }),
    ))
}
