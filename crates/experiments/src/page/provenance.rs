//! Origin of the figures.
//!
//! In the laboratory: emulator, kernels and digests, no date and no host, so that the same runs
//! make the same page. Otherwise: the boards, their kernels and the dates.

use super::line;
use crate::{GuestRun, Repeated};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use wakepath_archive::Emulator;
use wakepath_report::CostModel;

/// As the page's last section.
pub fn write(text: &mut String, experiments: &[Repeated]) {
    let guests: Vec<&GuestRun> = experiments.iter().flat_map(|one| &one.guests).collect();
    line!(text, "\n## Versions and digests\n");
    let versions = guests.iter().map(|guest| &guest.wakepath);
    line!(
        text,
        "- wakepath {}",
        distinct(versions.cloned()).join(", ")
    );
    for board in distinct(guests.iter().flat_map(|guest| guest.board.iter().cloned())) {
        line!(text, "- {board}");
    }
    let emulators = distinct(
        guests
            .iter()
            .filter_map(|guest| Some(emulator(guest)?.version.clone())),
    );
    if !emulators.is_empty() {
        line!(text, "- {}", emulators.join(", "));
    }
    let kernels = guests.iter().filter_map(|guest| {
        let emulator = emulator(guest)?;
        let package = emulator.kernel_package.clone();
        // The path would reveal a host; the seed follows below.
        let kernel = package.unwrap_or_else(|| format!("a given kernel of {}", guest.guest.name));
        Some(format!("{kernel}, SHA-256 `{}`", emulator.kernel_sha256))
    });
    for kernel in distinct(kernels) {
        line!(text, "- {kernel}");
    }
    let times = guests
        .iter()
        .filter_map(|guest| guest.virtual_time.as_ref());
    let settings = times.map(|time| {
        format!(
            "{}; {} CPU{}",
            CostModel::from(time),
            time.cpus,
            if time.cpus == 1 { "" } else { "s" }
        )
    });
    for setting in distinct(settings) {
        line!(text, "- {setting}");
    }
    let seeds = guests
        .iter()
        .filter_map(|guest| Some(guest.virtual_time.as_ref()?.seed.to_string()));
    let seeds = distinct(seeds);
    if !seeds.is_empty() {
        line!(text, "- seeds {}", seeds.join(", "));
    }
    for repeated in experiments {
        line!(
            text,
            "- claims of {}: SHA-256 `{}`",
            repeated.experiment.name,
            repeated.claims.sha256
        );
        if let Some((runs, digest)) = all_samples(repeated) {
            let name = repeated.experiment.name;
            line!(
                text,
                "- all samples of the {runs} runs of {name}: SHA-256 `{digest}` (of the SHA-256 of each run's \
                 `samples.parquet`, one per line, in the table's order)"
            );
        }
    }
}

/// Number of an experiment's runs, and one digest of all their samples: a repetition that differs
/// in a single nanosecond has another digest, even if no figure of the page shows it.
fn all_samples(repeated: &Repeated) -> Option<(usize, String)> {
    let digests = repeated.kernels().flat_map(|name| repeated.runs_of(name));
    let digests: Option<Vec<&str>> = digests.map(|run| run.samples_sha256.as_deref()).collect();
    let digests = digests.filter(|digests| !digests.is_empty())?;
    let mut hashed = Sha256::new();
    for digest in &digests {
        hashed.update(digest);
        hashed.update("\n");
    }
    let digest = hashed.finalize();
    Some((
        digests.len(),
        digest.iter().map(|byte| format!("{byte:02x}")).collect(),
    ))
}

/// The machine of an experiment's figures, in a few words.
pub fn machine(repeated: &Repeated) -> String {
    let boards = repeated
        .guests
        .iter()
        .filter_map(|guest| guest.board.first());
    match distinct(boards.cloned()) {
        none if none.is_empty() => "virtual time".into(),
        some => some.join(", "),
    }
}

fn emulator(guest: &GuestRun) -> Option<&Emulator> {
    guest.virtual_time.as_ref()?.emulator.as_ref()
}

fn distinct(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut all = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}
