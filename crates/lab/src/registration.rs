//! Claims of an experiment, registered in the directory of its runs before the first one.

use crate::whole_file::whole_or_not;
use crate::{ExperimentError, LabError, Result};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use wakepath_experiments::{Claims, Experiment};

/// The data file of an experiment's claims in a directory.
pub fn claims_file(directory: &Path, experiment: &Experiment) -> PathBuf {
    directory.join(format!("claims-{}.toml", experiment.name))
}

/// The claims that judge the runs of a directory: those that were registered there. Without runs they are registered
/// now.
///
/// # Errors
/// If the file can't be read or written, or is none of claims.
pub fn registered(directory: &Path, experiment: &Experiment, has_runs: bool) -> Result<Claims> {
    let file = claims_file(directory, experiment);
    match std::fs::read_to_string(&file) {
        Ok(text) => {
            Claims::read(&text).map_err(|fault| ExperimentError::Claims { file, fault }.into())
        }
        Err(error) if error.kind() == ErrorKind::NotFound && has_runs => {
            Ok(experiment.claims().after_the_runs())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            std::fs::create_dir_all(directory)
                .map_err(|error| LabError::io("make", directory, error))?;
            whole_or_not(&file, experiment.claims)?;
            Ok(experiment.claims())
        }
        Err(error) => Err(LabError::io("read", &file, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_experiments::named;

    #[test]
    fn claims_are_registered_once_and_only_before_the_runs() {
        let place = std::env::temp_dir().join(format!("wakepath-claims-{}", std::process::id()));
        let experiment = named("beaglepilot").unwrap();
        let late = registered(&place, experiment, true).unwrap();
        assert!(!late.before_the_runs && !place.exists());
        let first = registered(&place, experiment, false).unwrap();
        assert!(first.before_the_runs);
        // The registered ones judge, whatever this version has.
        let file = claims_file(&place, experiment);
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text.replacen("seeds = 10", "seeds = 12", 1)).unwrap();
        let again = registered(&place, experiment, true).unwrap();
        assert_eq!(
            (first.seeds, again.seeds, again.before_the_runs),
            (10, 12, true)
        );
        std::fs::write(&file, "seeds = 12\n").unwrap();
        let refused = registered(&place, experiment, true)
            .unwrap_err()
            .to_string();
        assert!(
            refused.contains("claims-beaglepilot.toml") && refused.lines().count() == 1,
            "{refused}"
        );
        std::fs::remove_dir_all(&place).unwrap();
    }
}
