//! Guests' counts as a baseline, and its file.

use crate::asked::GuestsAsked;
use crate::baseline::{
    BASELINE_VERSION, Baseline, BaselineOrder, ConditionCounts, GuestCounts, PathPart,
};
use crate::comparison::{Whole, condition_of, quantile};
use crate::fault::FileFault;
use crate::whole_file::whole_or_not;
use crate::{LabError, Result};
use std::collections::BTreeMap;
use std::path::Path;
use wakepath_archive::read_legible;
use wakepath_assess::Assessment;
use wakepath_assess::explanation::kept;
use wakepath_explain::{ConditionExplanation, Explanation};
use wakepath_scenario::Scenario;
use wakepath_statistics::{DistributionSummary, Quantile};
use wakepath_verdict::CycleSummary;

/// The options as the baseline stores them.
pub fn order(guests: &GuestsAsked, scenario: &Scenario, seeds: &[u64]) -> BaselineOrder {
    BaselineOrder {
        guests: guests.clone(),
        seeds: seeds.to_vec(),
        scenario: scenario.to_toml(),
    }
}

/// The baseline of all guests.
///
/// # Errors
/// If the explanation stored with a run can't be read.
pub fn baseline(order: BaselineOrder, whole: &[Whole]) -> Result<Baseline> {
    let mut guests = Vec::new();
    for one in whole {
        let explanation = kept(&one.directory)?;
        guests.push(GuestCounts {
            guest: one.guest.clone(),
            provenance: provenance(&one.assessment),
            conditions: conditions(&one.assessment, explanation.as_ref()),
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
///
/// # Errors
/// If it can't be read or parsed, or no run could have produced these counts.
pub fn read_baseline(path: &Path) -> Result<Baseline> {
    let text = std::fs::read(path).map_err(|error| LabError::io("read", path, error))?;
    let read = serde_json::from_slice(&text).and_then(|mut read: Baseline| {
        // The scenario is a document and has its own reader.
        read.guests = read_legible(&serde_json::to_vec(&read.guests)?)?;
        Ok(read)
    });
    let read = read.map_err(|source| LabError::File {
        path: path.to_owned(),
        fault: FileFault::NotUnderstood {
            is_not: "no baseline of the laboratory",
            source,
            remedy: None,
        },
    })?;
    // Before anything boots.
    read.check().map_err(|fault| LabError::Baseline {
        path: path.to_owned(),
        fault,
    })?;
    Ok(read)
}

/// Writes it atomically.
///
/// # Errors
/// If it can't be written.
pub fn write_baseline(path: &Path, baseline: &Baseline) -> Result<()> {
    let text = serde_json::to_string_pretty(baseline).expect("its keys are text") + "\n";
    whole_or_not(path, &text)
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
        ("wakepath", assessment.run.wakepath.clone()),
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
        ("skipped", cycles.skipped.unwrap_or(0)),
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
    times("latency_of_wake_ups", &cycles.latency_as_executed);
    times("latency_as_scheduled", &cycles.latency_as_scheduled);
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
