//! Differences of two runs that their manifests record: kernel, seed, scenario, tracing and so on.
//!
//! Pure.

use crate::machine::argument;
use serde::Serialize;
use std::fmt;
use wakepath_archive::Manifest;

/// Something that was different in two runs before their first cycle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KnownDifference {
    /// Name, such as `seed`.
    pub what: &'static str,
    /// Value in the first run.
    pub first: String,
    /// In the second run.
    pub second: String,
}

/// All differences that the manifests record, those with the largest effect first.
pub fn known_differences(first: &Manifest, second: &Manifest) -> Vec<KnownDifference> {
    let (one, other) = (recorded(first), recorded(second));
    let mut found: Vec<KnownDifference> = one
        .into_iter()
        .zip(other)
        .filter(|(one, other)| one.1 != other.1)
        .map(|((what, first), (_, second))| KnownDifference {
            what,
            first,
            second,
        })
        .collect();
    // A digest explains nothing next to a difference that has a name.
    let is_named = |names: &[&str]| found.iter().any(|one| names.contains(&one.what));
    let hidden = [
        (KERNEL_FILE, is_named(&[KERNEL, PACKAGE])),
        (
            INITRAMFS,
            is_named(&[WAKEPATH, BEFORE, ADDED, SCENARIO, SEED]),
        ),
    ];
    found.retain(|one| !hidden.contains(&(one.what, true)));
    for one in &mut found {
        let parted = match one.what {
            SCENARIO => other_parts(&one.first, &one.second, '\n'),
            PARAMETERS => other_parts(&one.first, &one.second, ' '),
            _ => continue,
        };
        (one.first, one.second) = parted;
    }
    found
}

const KERNEL: &str = "kernel";
const PACKAGE: &str = "kernel package";
const KERNEL_FILE: &str = "SHA-256 of the kernel";
const PARAMETERS: &str = "kernel parameters";
const SEED: &str = "seed";
const SCENARIO: &str = "scenario";
const BEFORE: &str = "commands before";
const ADDED: &str = "modules, files, values";
const WAKEPATH: &str = "wakepath";
const INITRAMFS: &str = "SHA-256 of the initramfs";

/// A manifest's record of everything that decides a run, by name, in one order for all.
fn recorded(manifest: &Manifest) -> Vec<(&'static str, String)> {
    let time = manifest.virtual_time.as_ref();
    let emulator = time.and_then(|time| time.emulator.as_ref());
    let of_time =
        |value: fn(&wakepath_archive::VirtualTime) -> String| time.map_or_else(unknown, value);
    let of_emulator = |value: &dyn Fn(&wakepath_archive::Emulator) -> String| {
        emulator.map_or_else(unknown, value)
    };
    let word = |name: &'static str| {
        of_emulator(&|one| argument(&one.arguments, name).map_or_else(unknown, str::to_owned))
    };
    vec![
        (KERNEL, of_emulator(&|one| without_seed(&one.kernel, time))),
        (
            PACKAGE,
            of_emulator(&|one| one.kernel_package.clone().unwrap_or_else(|| "none".into())),
        ),
        (KERNEL_FILE, of_emulator(&|one| one.kernel_sha256.clone())),
        (PARAMETERS, word("-append")),
        (SEED, of_time(|time| time.seed.to_string())),
        ("CPUs", word("-smp")),
        (
            "ns per instruction",
            of_time(|time| time.ns_per_instruction.to_string()),
        ),
        ("CPU model", word("-cpu")),
        ("memory, MiB", word("-m")),
        (SCENARIO, manifest.scenario.toml.clone()),
        ("tracing", tracing(manifest)),
        (BEFORE, of_emulator(&|one| one.before.join("; "))),
        (ADDED, of_emulator(&|one| added(&one.added))),
        ("emulator", of_emulator(&|one| one.version.clone())),
        (WAKEPATH, manifest.tool.version.clone()),
        (INITRAMFS, of_emulator(&|one| one.initramfs_sha256.clone())),
    ]
}

fn unknown() -> String {
    "unknown".into()
}

/// A guest's name ends with its seed if there were several.
fn without_seed(kernel: &str, time: Option<&wakepath_archive::VirtualTime>) -> String {
    let seed = time.map(|time| format!(" seed {}", time.seed));
    let plain = seed.and_then(|seed| kernel.strip_suffix(&seed));
    plain.unwrap_or(kernel).to_owned()
}

fn tracing(manifest: &Manifest) -> String {
    match &manifest.tracing {
        None => "none".into(),
        Some(tracing) => tracing.backend.clone(),
    }
}

fn added(added: &wakepath_archive::GuestAdditions) -> String {
    let lists = [&added.modules, &added.files, &added.writes];
    let all = lists.into_iter().flatten().chain(&added.disk);
    let all: Vec<&str> = all.map(String::as_str).collect();
    all.join("; ")
}

/// The lines or words of two texts that the other lacks, each as one line.
fn other_parts(first: &str, second: &str, between: char) -> (String, String) {
    let lacking = |of: &str, other: &str| {
        let theirs: Vec<&str> = other.split(between).collect();
        let own = of.split(between).filter(|part| !theirs.contains(part));
        let own: Vec<&str> = own.filter(|part| !part.is_empty()).collect();
        if own.is_empty() {
            "nothing more".to_owned()
        } else {
            own.join("; ")
        }
    };
    (lacking(first, second), lacking(second, first))
}

impl fmt::Display for KnownDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &str| match value {
            "" => "none".to_owned(),
            value => value.to_owned(),
        };
        let (first, second) = (shown(&self.first), shown(&self.second));
        write!(f, "{}: {first} against {second}", self.what)
    }
}

/// The differences as a text that precedes the first cycle that differs; empty if there are none.
pub fn to_text(differences: &[KnownDifference]) -> String {
    let lines = differences.iter().map(|one| format!("  {one}\n"));
    if differences.is_empty() {
        String::new()
    } else {
        format!(
            "by their manifests the runs differ in\n{}",
            lines.collect::<String>()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn manifest(change: impl Fn(&mut Value)) -> Manifest {
        let mut of = json!({
            "format_version": 1, "run_id": "a", "command": [], "started": "",
            "tool": { "name": "wakepath", "version": "0.1.0", "commit": null },
            "ending": { "how": "complete" }, "clock_source": "tsc",
            "scenario": { "name": "a", "toml": "cycles = 300\nperiod = \"1 ms\"\n" },
            "segments": [], "facts": [], "notes": [], "files": [],
            "virtual_time": {
                "ns_per_instruction": 1, "seed": 1, "cpus": 1,
                "emulator": {
                    "version": "QEMU 7.2", "kernel": "debian:stock",
                    "kernel_sha256": "aa", "initramfs_sha256": "bb", "started": "",
                    "arguments": ["qemu", "-smp", "1", "-m", "1024", "-append", "quiet nokaslr"],
                },
            },
        });
        change(&mut of);
        serde_json::from_value(of).unwrap()
    }

    fn texts(change: impl Fn(&mut Value)) -> Vec<String> {
        let found = known_differences(&manifest(|_| ()), &manifest(change));
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn equal_manifests_differ_in_nothing_and_the_time_of_a_run_is_no_difference() {
        assert_eq!(texts(|_| ()), [""; 0]);
        assert_eq!(texts(|of| of["started"] = "2026-01-01".into()), [""; 0]);
        assert_eq!(to_text(&[]), "");
    }

    #[test]
    fn kernel_seed_scenario_and_tracing_are_named_in_that_order() {
        let found = texts(|of| {
            let time = &mut of["virtual_time"];
            time["seed"] = 2.into();
            time["emulator"]["kernel"] = "debian:rt seed 2".into();
            time["emulator"]["kernel_sha256"] = "cc".into();
            of["scenario"]["toml"] = "cycles = 200\nperiod = \"1 ms\"\n".into();
            of["tracing"] = json!({
                "backend": "tracefs", "cpus": [0], "mode": "drained", "buffer_bytes": 1,
                "ns_per_event": null, "missing": [], "self_tests": [],
            });
        });
        let expected = [
            "kernel: debian:stock against debian:rt",
            "seed: 1 against 2",
            "scenario: cycles = 300 against cycles = 200",
            "tracing: none against tracefs",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_digest_is_named_only_where_nothing_explains_it() {
        let rebuilt = |of: &mut Value| {
            of["virtual_time"]["emulator"]["kernel_sha256"] = "cc".into();
            of["virtual_time"]["emulator"]["initramfs_sha256"] = "dd".into();
        };
        let expected = [
            "SHA-256 of the kernel: aa against cc",
            "SHA-256 of the initramfs: bb against dd",
        ];
        assert_eq!(texts(rebuilt), expected);
        let other_version = texts(|of| {
            of["tool"]["version"] = "0.2.0".into();
            of["virtual_time"]["emulator"]["initramfs_sha256"] = "dd".into();
        });
        assert_eq!(other_version, ["wakepath: 0.1.0 against 0.2.0"]);
    }

    #[test]
    fn parameters_are_named_by_the_words_that_the_other_lacks() {
        let found = texts(|of| {
            let arguments = &mut of["virtual_time"]["emulator"]["arguments"];
            arguments[6] = "quiet threadirqs nokaslr".into();
        });
        assert_eq!(
            found,
            ["kernel parameters: nothing more against threadirqs"]
        );
    }
}
