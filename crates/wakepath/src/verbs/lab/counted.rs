//! What guests counted, as a baseline's figures, and the file that holds them.

use super::comparison::{Compared, condition_of, quantile};
use crate::command_line::LabGuests;
use std::collections::BTreeMap;
use std::path::Path;
use wakepath_assess::Assessment;
use wakepath_explain::{ConditionExplanation, Explanation};
use wakepath_lab::{
    BASELINE_VERSION, Baseline, BaselineOrder, ConditionCounts, GuestCounts, PathPart,
};
use wakepath_scenario::Scenario;
use wakepath_statistics::{DistributionSummary, Quantile};
use wakepath_verdict::CycleSummary;

type Failure = Box<dyn std::error::Error>;

/// What was asked for.
pub fn order(options: &LabGuests, scenario: &Scenario, seeds: &[u64]) -> BaselineOrder {
    BaselineOrder {
        kernels: options.kernel.clone(),
        variants: options.variant.clone(),
        architecture: options.architecture.clone(),
        seeds: seeds.to_vec(),
        cpus: options.cpus,
        before: options.before.clone(),
        ns_per_instruction: options.ns_per_instruction,
        memory_mib: options.memory,
        scenario: scenario.to_toml(),
    }
}

/// All of it.
pub fn baseline(order: BaselineOrder, compared: &[Compared]) -> Result<Baseline, Failure> {
    let mut guests = Vec::new();
    for one in compared {
        let assessment = match &one.assessment {
            Ok(assessment) if one.is_whole() => assessment,
            Ok(_) => return Err(format!("{}: its run is not whole", one.guest).into()),
            Err(error) => return Err(format!("{}: {error}", one.guest).into()),
        };
        let explanation = explanation(Path::new(&one.directory))?;
        guests.push(GuestCounts {
            guest: one.guest.clone(),
            provenance: provenance(assessment),
            conditions: conditions(assessment, explanation.as_ref()),
        });
    }
    let version = BASELINE_VERSION;
    Ok(Baseline {
        version,
        order,
        guests,
    })
}

/// Reads the file.
pub fn read(path: &Path) -> Result<Baseline, Failure> {
    let said = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| said(&error))?;
    let read: Result<Baseline, _> = serde_json::from_str(&text);
    let read = read.map_err(|error| said(&format!("no baseline of the laboratory: {error}")))?;
    // Before anything boots.
    read.check().map_err(|error| said(&error))?;
    Ok(read)
}

/// Writes it, whole or not at all.
pub fn write(path: &Path, baseline: &Baseline) -> Result<(), Failure> {
    let partial = path.with_added_extension("partial");
    let text = serde_json::to_string_pretty(baseline)? + "\n";
    std::fs::write(&partial, text)
        .and_then(|()| std::fs::rename(&partial, path))
        .map_err(|error| format!("{}: {error}", path.display()).into())
}

fn explanation(directory: &Path) -> Result<Option<Explanation>, Failure> {
    let path = directory.join(Explanation::FILE_NAME);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some(serde_json::from_str(&text)?)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{}: {error}", path.display()).into()),
    }
}

fn provenance(assessment: &Assessment) -> BTreeMap<String, String> {
    let time = assessment.virtual_time.as_ref();
    let Some(emulator) = time.and_then(|time| time.emulator.as_ref()) else {
        return BTreeMap::new();
    };
    let package = emulator.kernel_package.clone();
    [
        ("kernel", package.unwrap_or_else(|| emulator.kernel.clone())),
        ("kernel_sha256", emulator.kernel_sha256.clone()),
        ("initramfs_sha256", emulator.initramfs_sha256.clone()),
        ("emulator", emulator.version.clone()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

fn conditions(assessment: &Assessment, explained: Option<&Explanation>) -> Vec<ConditionCounts> {
    let all = assessment.conditions.iter();
    all.map(|judged| {
        let (phase, condition) = condition_of(judged);
        let explained = explained.and_then(|explanation| {
            let mut all = explanation.conditions.iter();
            all.find(|one| one.phase == phase && condition.starts_with(&one.condition))
        });
        ConditionCounts {
            condition: format!("{condition}, {phase}"),
            counts: counts(&judged.cycles),
            median_path: explained.map_or(Vec::new(), median_path),
            worst_path: explained.map_or(Vec::new(), worst_path),
        }
    })
    .collect()
}

fn counts(cycles: &CycleSummary) -> BTreeMap<String, i64> {
    let mut counts = BTreeMap::new();
    let whole = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    for (name, count) in [
        ("scheduled", cycles.scheduled),
        ("executed", cycles.executed),
        ("skipped", cycles.skipped),
    ] {
        counts.insert(name.to_owned(), whole(count));
    }
    let mut times = |name: &str, times: &Option<DistributionSummary>| {
        for (which, quantile_of) in [("median", Quantile::P50), ("p99", Quantile::P99)] {
            if let Some(ns) = quantile(times, quantile_of) {
                counts.insert(format!("{name}_{which}_ns"), ns);
            }
        }
        if let Some(times) = times {
            counts.insert(format!("{name}_min_ns"), times.min);
            counts.insert(format!("{name}_max_ns"), times.max);
        }
    };
    times("latency", &cycles.latency_as_scheduled);
    times("execution", &cycles.execution);
    times("response", &cycles.response);
    counts
}

fn median_path(explained: &ConditionExplanation) -> Vec<PathPart> {
    let parts = explained.median.iter().flat_map(|median| &median.parts);
    parts
        .map(|part| PathPart {
            stretch: part.stretch.clone(),
            cause: part.cause.clone(),
            ns: part.mean_ns.round() as i64,
        })
        .collect()
}

fn worst_path(explained: &ConditionExplanation) -> Vec<PathPart> {
    let parts = explained
        .worst
        .first()
        .into_iter()
        .flat_map(|worst| &worst.pieces);
    parts
        .map(|part| PathPart {
            stretch: part.stretch.clone(),
            cause: part.cause.clone(),
            ns: i64::try_from(part.ns).unwrap_or(i64::MAX),
        })
        .collect()
}
