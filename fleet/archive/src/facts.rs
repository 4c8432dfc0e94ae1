//! A run's machine and settings as columns, for queries over a fleet.
//!
//! An unknown value is an empty text.

use crate::name::hexadecimal;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use wakepath_archive::Manifest;
use wakepath_machine::{Facts, Reading};
use wakepath_timeline::one_line;

/// The columns of facts, in the order of the table.
pub(crate) const FACTS: [&str; 19] = [
    "machine",
    "cpu_model",
    "microcode",
    "architecture",
    "kernel",
    "kernel_version",
    "kernel_configuration",
    "command_line",
    "boot_id",
    "preemption",
    "isolated_cpus",
    "governor",
    "clock_source",
    "rt_runtime_us",
    "scenario",
    "scenario_sha256",
    "tool",
    "ending",
    "time",
];

/// Reads them from a manifest whose texts are one line each.
pub(crate) fn facts_of(manifest: &Manifest) -> BTreeMap<String, String> {
    let facts: Facts = manifest
        .facts
        .first()
        .and_then(|first| serde_json::from_value(first.facts.clone()).ok())
        .unwrap_or_default();
    let text = |reading: &Reading<String>| reading.known().cloned().unwrap_or_default();
    let models = facts.fixed.cpus.models.known().into_iter().flatten();
    let of_models = |what: fn(&wakepath_machine::CpuModel) -> Option<String>| {
        distinct(models.clone().filter_map(what))
    };
    let options = facts.fixed.config.options.known();
    let options = options.map_or(String::new(), |options| {
        let lines: Vec<String> = options.iter().map(|(k, v)| format!("{k}={v}")).collect();
        hexadecimal(Sha256::digest(lines.join("\n").as_bytes()))[..16].to_owned()
    });
    let governors = facts.varying.frequency.policies.iter();
    let time = &facts.varying.cpu_time;
    let runtime = &facts.varying.real_time.runtime_us;
    let value = |name: &str| match name {
        "machine" => facts.fixed.platform.name().unwrap_or_default(),
        "cpu_model" => of_models(|model| model.name.clone()),
        "microcode" => of_models(|model| model.microcode.clone()),
        "architecture" => text(&facts.fixed.kernel.architecture),
        "kernel" => text(&facts.fixed.kernel.release),
        "kernel_version" => text(&facts.fixed.kernel.version),
        "kernel_configuration" => options.clone(),
        "command_line" => text(&facts.fixed.command_line.text),
        "boot_id" => text(&facts.fixed.kernel.boot_id),
        "preemption" => facts.varying.preemption.model.word().to_owned(),
        "isolated_cpus" => time
            .isolated
            .known()
            .map_or(String::new(), ToString::to_string),
        "governor" => distinct(
            governors
                .clone()
                .filter_map(|p| p.governor.known().cloned()),
        ),
        "clock_source" => text(&facts.varying.clock_source.current),
        "rt_runtime_us" => runtime.known().map_or(String::new(), ToString::to_string),
        "scenario" => manifest.scenario.name.clone(),
        "scenario_sha256" => hexadecimal(Sha256::digest(manifest.scenario.toml.as_bytes())),
        "tool" => format!("{} {}", manifest.tool.name, manifest.tool.version),
        "ending" => ending(manifest),
        "time" => match manifest.virtual_time {
            Some(_) => "virtual".to_owned(),
            None => "real".to_owned(),
        },
        _ => unreachable!("every column of FACTS is read"),
    };
    let shown = |name: &&str| (name.to_string(), one_line(&value(name)));
    FACTS.iter().map(shown).collect()
}

fn ending(manifest: &Manifest) -> String {
    match (&manifest.recovered, &manifest.ending) {
        (Some(_), _) => "recovered".to_owned(),
        (None, ending) => match serde_json::to_value(ending) {
            Ok(serde_json::Value::String(word)) => word,
            Ok(serde_json::Value::Object(members)) => members
                .get("how")
                .or_else(|| members.values().next())
                .and_then(|word| word.as_str().map(str::to_owned))
                .unwrap_or_default(),
            _ => String::new(),
        },
    }
}

/// Each text once, in order.
fn distinct(texts: impl Iterator<Item = String>) -> String {
    let mut all: Vec<String> = texts.collect();
    all.sort_unstable();
    all.dedup();
    all.join(", ")
}
