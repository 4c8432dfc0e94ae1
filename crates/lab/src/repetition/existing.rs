//! Runs of an experiment that exist already.

use crate::{ExperimentError, LabError, Result, guests, place};
use std::path::{Path, PathBuf};
use wakepath_archive::{ArchiveError, Run, State};
use wakepath_scenario::Scenario;

/// Directory of a guest's run with one of its seeds.
pub(super) fn place_of(place: &Path, kernel: &str, seed: u64, seeds: usize) -> PathBuf {
    let name = guests::Guest::name_with(kernel, seed, seeds);
    place.join(guests::Guest::directory_name(&name))
}

/// Whether all runs of a scenario exist, and the list of those that do. Removes the remains of
/// interrupted guests, and finishes runs whose laboratory was killed before it did.
pub(super) fn there(
    scenario: &Scenario,
    runs: impl Iterator<Item = PathBuf>,
    place: &Path,
) -> Result<(bool, Vec<PathBuf>)> {
    let is_free = place::is_free(place)?;
    let other_runs = |run| {
        LabError::from(ExperimentError::OtherRuns {
            run,
            place: place.to_owned(),
        })
    };
    let (mut done, mut missing) = (Vec::new(), None);
    for run in runs {
        let found = Run::open(&run).ok().filter(|found| {
            found.manifest.scenario.toml == scenario.to_toml()
                && found.manifest.virtual_time.is_some()
        });
        if let Some(found) = found {
            if matches!(found.state(), State::NotFinished) {
                finish(&run)?;
            }
            done.push(run);
        } else if is_free || place::is_free_of_a_guest(&run)? {
            missing = Some(run);
        } else {
            return Err(other_runs(run));
        }
    }
    match missing {
        // Something is there, and none of it is ours.
        Some(run) if !is_free && done.is_empty() => Err(other_runs(run)),
        None => Ok((true, done)),
        Some(_) => {
            place::sweep(place)?;
            Ok((false, done))
        }
    }
}

/// Finishes a run that its guest sent whole.
fn finish(run: &Path) -> Result<()> {
    match wakepath_archive::finish(run) {
        // Nothing can be added to it: its guest has to run again.
        Err(ArchiveError::NotEnded { .. } | ArchiveError::Inconsistent { .. }) => {
            Err(ExperimentError::OtherRuns {
                run: run.to_owned(),
                place: run.to_owned(),
            }
            .into())
        }
        finished => Ok(finished.map(drop)?),
    }
}
