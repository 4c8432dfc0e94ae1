//! What made the figures: emulator, kernels, digests. No date and no host, so that the same runs make
//! the same page.

use super::line;
use crate::experiments::{GuestRun, Repeated};
use std::fmt::Write;
use wakepath_archive::Emulator;

/// As the page's last section.
pub fn write(text: &mut String, experiments: &[Repeated]) {
    let guests: Vec<&GuestRun> = experiments.iter().flat_map(|one| &one.guests).collect();
    line!(text, "\n## What was run\n");
    let versions = guests.iter().map(|guest| &guest.wakepath);
    line!(
        text,
        "- wakepath {}",
        distinct(versions.cloned()).join(", ")
    );
    let emulators = guests.iter().filter_map(|guest| emulator(guest));
    line!(
        text,
        "- {}",
        distinct(emulators.map(|e| e.version.clone())).join(", ")
    );
    let kernels = guests.iter().filter_map(|guest| emulator(guest));
    let kernels = kernels.map(|emulator| {
        let package = emulator.kernel_package.as_deref();
        format!(
            "{}, SHA-256 `{}`",
            package.unwrap_or(&emulator.kernel),
            emulator.kernel_sha256
        )
    });
    for kernel in distinct(kernels) {
        line!(text, "- {kernel}");
    }
    let times = guests.iter().map(|guest| &guest.virtual_time);
    let settings = times.map(|time| {
        format!(
            "1 instruction = {} ns, {} CPU{}",
            time.ns_per_instruction,
            time.cpus,
            if time.cpus == 1 { "" } else { "s" }
        )
    });
    for setting in distinct(settings) {
        line!(text, "- {setting}");
    }
    let seeds = guests
        .iter()
        .map(|guest| guest.virtual_time.seed.to_string());
    line!(text, "- seeds {}", distinct(seeds).join(", "));
}

fn emulator(guest: &GuestRun) -> Option<&Emulator> {
    guest.virtual_time.emulator.as_ref()
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
