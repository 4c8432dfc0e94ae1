//! The rounds of an experiment in a directory, of all kernels that were booted, put together for
//! the page; and the findings, for the terminal and for a script.

use super::Failure;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use wakepath_archive::Run;
use wakepath_assess::explanation::kept;
use wakepath_console::progress::assessed;
use wakepath_console::terminal::tell;
use wakepath_experiments::{Guest, GuestRun, Repeated, findings, of_boards};
use wakepath_lab::registered;
use wakepath_machine::Facts;
use wakepath_timeline::one_line;

/// The folder of a kernel's rounds.
pub(super) fn folder_of(guest: &Guest) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    let name: String = guest.name.chars().map(plain).collect();
    name.replace("--", "-")
}

/// Where a round lies.
pub(super) fn round_in(kernel_place: &Path, round: u32) -> PathBuf {
    kernel_place.join(format!("round-{round}"))
}

/// All whole rounds in a directory.
pub(super) fn joined(directory: &Path) -> Result<Repeated, Failure> {
    let mut rounds = Vec::new();
    for experiment in of_boards() {
        for guest in experiment.guests {
            let place = directory.join(folder_of(guest));
            for run in (1..)
                .map(|round| round_in(&place, round))
                .take_while(|run| run.exists())
            {
                let run = match Run::open(&run) {
                    Ok(run) => run,
                    Err(error) => {
                        tell!("note: left out: {error}");
                        continue;
                    }
                };
                let is_its = run.manifest.scenario.name == experiment.scenario;
                match run.is_complete() {
                    true if is_its => rounds.push((experiment, guest, run)),
                    true => {}
                    false if is_its => {
                        tell!("note: left out: {}: did not end", run.directory().display())
                    }
                    false => {}
                }
            }
        }
    }
    let Some(experiment) = rounds.first().map(|first| first.0) else {
        return Err(format!(
            "{}: no whole round of an experiment; `wakepath experiment run` measures them",
            directory.display()
        )
        .into());
    };
    let mut guests = Vec::new();
    for (_, guest, run) in rounds
        .iter()
        .filter(|round| round.0.name == experiment.name)
    {
        guests.push(round(guest, run)?);
    }
    let claims = registered(directory, experiment, true)?;
    Repeated::of_rounds(experiment, claims, guests)
        .map_err(|unlike| format!("{}: {unlike}", directory.display()).into())
}

fn round(guest: &Guest, run: &Run) -> Result<GuestRun, Failure> {
    let (assessment, pictures) = assessed(run, true)?;
    let explanation = kept(run.directory())?;
    let by_kernel = run.manifest.kernel_latency.clone();
    let mut round = GuestRun::new(*guest, &assessment, pictures, explanation, by_kernel);
    round.board = board(guest, run, &assessment.run.started);
    Ok(round)
}

/// The machine of a round, its kernel, and when it was measured.
fn board(guest: &Guest, run: &Run, started: &str) -> Vec<String> {
    let taken = run.manifest.facts.first();
    let facts = taken.and_then(|taken| Facts::of_json(&taken.facts).ok());
    let Some(facts) = facts else {
        return vec!["a machine that is not known".into()];
    };
    let kernel = &facts.fixed.kernel;
    vec![
        machine(&facts),
        format!(
            "{}: Linux {}, preemption {}",
            guest.name,
            one_line(&kernel.release.to_string()),
            facts.varying.preemption.model.word()
        ),
        format!("{}: a round of {started}", guest.name),
    ]
}

/// What stays the same from boot to boot.
fn machine(facts: &Facts) -> String {
    let kinds = facts.fixed.cpus.models.known().into_iter().flatten();
    let kinds = kinds.map(|kind| {
        let name = kind.name.as_deref().unwrap_or("unnamed");
        format!("{} × {name}", kind.cpus.len())
    });
    let all: Vec<String> = facts
        .fixed
        .platform
        .name()
        .into_iter()
        .chain(kinds)
        .collect();
    if all.is_empty() {
        "a machine that is not known".into()
    } else {
        one_line(&all.join(", ")).to_string()
    }
}

/// Findings and figures, for a script.
pub(super) fn findings_json(all: &[Repeated], page: &Path) -> Value {
    let round = |run: &GuestRun| json!({ "kernel": run.guest.name, "board": run.board, "conditions": run.conditions });
    let one = |repeated: &Repeated| {
        json!({
            "experiment": repeated.experiment.name,
            "findings": findings(repeated),
            "rounds": repeated.guests.iter().map(round).collect::<Vec<_>>(),
        })
    };
    json!({ "experiments": all.iter().map(one).collect::<Vec<_>>(), "page": page })
}
