//! The files that a scenario names, read before anything is measured: a recording then holds all
//! that it needs, but for controllers' files, of which it keeps place and digest.

use std::io;
use std::path::{Path, PathBuf};
use wakepath_archive::ArchiveError;
use wakepath_flight::Vehicle;
use wakepath_scenario::{FlightVehicle, NamedFileError, Scenario, TableSource, Work};

/// Why a file that the scenario names can't be used.
#[derive(Debug, thiserror::Error)]
pub enum UnusableFile {
    /// It is missing, or its place is unknown.
    #[error("{}: {source}", path.display())]
    Unread {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// It can't be read to the end.
    #[error(transparent)]
    Digest(#[from] ArchiveError),
    /// It is another one than the scenario was written for.
    #[error("{}: its SHA-256 is {found}, but the scenario requires {wanted}", path.display())]
    OtherDigest {
        /// The file.
        path: PathBuf,
        /// Its SHA-256.
        found: String,
        /// The scenario's.
        wanted: String,
    },
    /// It is not what the scenario says that it is.
    #[error(transparent)]
    Named(#[from] NamedFileError),
}

/// Replaces vehicle files by their text, task tables by their tasks and controllers' paths by absolute ones with their SHA-256.
/// Paths are relative to
/// the scenario's own file, `source`.
///
/// # Errors
/// The first file that can't be read or describes no vehicle, in one line.
pub fn embed(scenario: &mut Scenario, source: &str) -> Result<(), UnusableFile> {
    let base = Path::new(source).parent().unwrap_or(Path::new(""));
    for work in scenario.works_mut() {
        if let Work::Library(library) = work {
            let path = beside(base, &library.library);
            let absolute = path.canonicalize().map_err(unread(&path))?;
            let found = wakepath_archive::sha256_of_file(&absolute)?;
            if let Some(wanted) = library.sha256.clone().filter(|wanted| *wanted != found) {
                return Err(UnusableFile::OtherDigest {
                    path,
                    found,
                    wanted,
                });
            }
            library.sha256 = Some(found);
            library.library = absolute.display().to_string();
            // A path, unlike a name on PATH, is the scenario's.
            if let Some(python) = library.python.as_mut().filter(|name| name.contains('/')) {
                let path = beside(base, python);
                let absolute = std::path::absolute(&path).map_err(unread(&path))?;
                *python = absolute.display().to_string();
            }
        }
        if let Work::Tasks(tasks) = work {
            let source = match tasks.table.clone() {
                TableSource::File(path) => {
                    TableSource::File(beside(base, &path).display().to_string())
                }
                other => other,
            };
            tasks.table = source.resolved(|path| std::fs::read_to_string(path))?;
        }
        if let Some(flight) = work.flight_mut() {
            embed_vehicle(&mut flight.vehicle, base)?;
        }
    }
    match &mut scenario.flight {
        Some(flown) => embed_vehicle(&mut flown.vehicle, base),
        None => Ok(()),
    }
}

fn embed_vehicle(vehicle: &mut FlightVehicle, base: &Path) -> Result<(), UnusableFile> {
    *vehicle = match vehicle.clone() {
        // Its text too, so that a later wakepath's vehicle of that name changes nothing.
        FlightVehicle::BuiltIn(name) => match Vehicle::built_in_text(&name) {
            Some(text) => FlightVehicle::Text(text.into()),
            None => FlightVehicle::BuiltIn(name),
        },
        FlightVehicle::File(path) => {
            let path = beside(base, &path).display().to_string();
            FlightVehicle::File(path).resolved(|path| std::fs::read_to_string(path))?
        }
        text => text,
    };
    Ok(())
}

fn unread(path: &Path) -> impl FnOnce(io::Error) -> UnusableFile {
    let path = path.to_owned();
    |source| UnusableFile::Unread { path, source }
}

fn beside(base: &Path, path: &str) -> PathBuf {
    base.join(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_scenario::KnownCpus;

    fn scenario(work: &str) -> Scenario {
        let text = format!(
            "name = \"a\"\nrate = \"250 Hz\"\ncycles = 1000\npolicies = [\"OTHER\"]\nwork = {work}"
        );
        Scenario::parse(&text, "a.toml", &KnownCpus::first(1)).unwrap()
    }

    #[test]
    fn a_vehicle_file_beside_the_scenario_becomes_its_text() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vehicles/a.toml");
        let mut read = scenario("{ kind = \"flight\", vehicle-file = \"crazyflie.toml\" }");
        embed(&mut read, folder).unwrap();
        let again = Scenario::parse(&read.to_toml(), "again", &KnownCpus::first(1)).unwrap();
        assert_eq!(again, read);
        let text = Vehicle::built_in_text("crazyflie").unwrap();
        let vehicle = &again.tasks[0].work.flight().unwrap().vehicle;
        assert_eq!(*vehicle, FlightVehicle::Text(text.into()));
    }

    #[test]
    fn the_vehicle_that_is_flown_afterwards_becomes_its_text_too() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vehicles/a.toml");
        let flight = "\"nothing\"\n[flight]\nvehicle-file = \"crazyflie.toml\"";
        let mut read = scenario(flight);
        embed(&mut read, folder).unwrap();
        let flown = read.flight.unwrap();
        assert_eq!(flown.vehicle.vehicle().unwrap().name, "Crazyflie");
    }

    #[test]
    fn a_file_that_is_missing_or_no_vehicle_is_named_in_one_line() {
        let place = tempfile::tempdir().unwrap();
        let text = "name = \"none\"\n[package]\nversion = 1\n";
        std::fs::write(place.path().join("package.toml"), text).unwrap();
        let folder = place.path().join("a.toml").display().to_string();
        let folder = folder.as_str();
        let mut gone = scenario("{ kind = \"flight\", vehicle-file = \"gone.toml\" }");
        let error = embed(&mut gone, folder).unwrap_err().to_string();
        assert!(error.contains("gone.toml: No such file"), "{error}");
        let mut bad = scenario("{ kind = \"flight\", vehicle-file = \"package.toml\" }");
        let error = embed(&mut bad, folder).unwrap_err().to_string();
        assert!(error.contains("package.toml:2: unknown field"), "{error}");
        assert!(!error.contains('\n'), "{error}");
        let mut library = scenario("{ kind = \"library\", library = \"gone.so\" }");
        let error = embed(&mut library, folder).unwrap_err().to_string();
        assert!(error.contains("gone.so: No such file"), "{error}");
    }
}
