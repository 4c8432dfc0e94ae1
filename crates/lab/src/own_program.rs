//! Finds the wakepath that runs in a guest.
//!
//! The running one if it can, otherwise one built or released for the guest's architecture. Builds
//! and fetches nothing.

use crate::architecture::Architecture;
use crate::{LabError, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Cargo's directories of builds.
const BUILDS: [&str; 2] = ["release", "debug"];

/// The program with an EtherCAT master.
const MASTER: &str = "wakepath-ethercat";

/// The program for guests of `architecture`: `given`, else `own` if it is for them, else the
/// released one in its directory, else the newest in the build directory that contains it.
///
/// # Errors
/// [`LabError::NoProgram`], with places to get one.
pub fn find(given: Option<&Path>, own: &Path, architecture: Architecture) -> Result<PathBuf> {
    if let Some(given) = given {
        return Ok(given.to_owned());
    }
    if Architecture::of_this_program() == Some(architecture) {
        return Ok(own.to_owned());
    }
    let target = architecture.target();
    let beside = own.with_file_name(format!("wakepath-{target}"));
    if beside.is_file() {
        return Ok(beside);
    }
    // target/debug/wakepath, or target/TARGET/debug/wakepath, or a test's in deps.
    let above = own.ancestors().skip(2).take(3);
    let built =
        above.flat_map(|place| BUILDS.map(|build| place.join(target).join(build).join("wakepath")));
    let age = |path: &PathBuf| fs::metadata(path).and_then(|found| found.modified()).ok();
    let newest = built.filter(|path| path.is_file()).max_by_key(age);
    newest.ok_or(LabError::NoProgram {
        architecture,
        target,
        beside,
    })
}

/// The program with an EtherCAT master that belongs to the guests' `wakepath`: next to it and named as it is, else this
/// host's if the guests can run that.
///
/// # Errors
/// [`LabError::NoMaster`], with the place for one.
pub fn with_master(wakepath: &Path, architecture: Architecture) -> Result<PathBuf> {
    let name = wakepath.file_name().unwrap_or_default().to_string_lossy();
    let beside = wakepath.with_file_name(name.replacen("wakepath", MASTER, 1));
    if beside != wakepath && beside.is_file() {
        return Ok(beside);
    }
    let own = Architecture::of_this_program() == Some(architecture);
    let own = own.then(|| wakepath_programs::companion(MASTER).ok());
    own.flatten().ok_or(LabError::NoMaster {
        architecture,
        beside,
    })
}

/// Digits of a commit in a version.
const COMMIT: usize = 12;

/// The version in a wakepath's file, `0.1.0 (COMMIT)` as `--version` prints it, even if the file
/// can't be started here.
pub fn version_in(program: &[u8]) -> Option<String> {
    let open = program.windows(2).enumerate();
    let mut open = open.filter_map(|(at, two)| (two == b" (").then_some(at));
    open.find_map(|at| {
        let commit = program.get(at + 2..at + 2 + COMMIT)?;
        let is_commit = commit.iter().all(u8::is_ascii_hexdigit);
        if !is_commit || program.get(at + 2 + COMMIT) != Some(&b')') {
            return None;
        }
        let before = program[..at].iter().rev();
        let number: Vec<u8> = before
            .take_while(|byte| byte.is_ascii_digit() || **byte == b'.')
            .copied()
            .collect();
        let number: String = number.iter().rev().map(|&byte| char::from(byte)).collect();
        let is_number = number.split('.').filter(|part| !part.is_empty()).count() == 3;
        is_number.then(|| format!("{number} ({})", String::from_utf8_lossy(commit)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    fn other() -> Architecture {
        let own = Architecture::of_this_program();
        let mut all = Architecture::ALL.into_iter();
        all.find(|&one| Some(one) != own).unwrap()
    }

    fn make(path: &Path, age_s: u64) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let file = fs::File::create(path).unwrap();
        let at = SystemTime::now() - Duration::from_secs(age_s);
        file.set_modified(at).unwrap();
    }

    #[test]
    fn the_one_given_comes_first_then_the_released_one_then_the_newest_built() {
        let place = tempfile::tempdir().unwrap();
        let own = place.path().join("target/x/debug/wakepath");
        let guest = other();
        let error = find(None, &own, guest).unwrap_err().to_string();
        assert!(
            error.contains("cargo build") && error.contains(guest.target()),
            "{error}"
        );
        let built = place.path().join("target").join(guest.target());
        let [release, debug] = BUILDS.map(|build| built.join(build).join("wakepath"));
        make(&release, 100);
        assert_eq!(find(None, &own, guest).unwrap(), release);
        make(&debug, 50);
        assert_eq!(find(None, &own, guest).unwrap(), debug);
        let beside = own.with_file_name(format!("wakepath-{}", guest.target()));
        make(&beside, 1_000);
        assert_eq!(find(None, &own, guest).unwrap(), beside);
        let given = Path::new("/given");
        assert_eq!(find(Some(given), &own, guest).unwrap(), given);
        let own_kind = Architecture::of_this_program().unwrap();
        assert_eq!(find(None, &own, own_kind).unwrap(), own);
    }

    #[test]
    fn the_program_with_a_master_is_named_as_the_guests_wakepath_is() {
        let place = tempfile::tempdir().unwrap();
        let (guest, target) = (other(), other().target());
        let wakepath = place.path().join(format!("wakepath-{target}"));
        let master = place.path().join(format!("wakepath-ethercat-{target}"));
        let error = with_master(&wakepath, guest).unwrap_err().to_string();
        assert!(error.contains(&master.display().to_string()), "{error}");
        make(&master, 1);
        assert_eq!(with_master(&wakepath, guest).unwrap(), master);
    }

    #[test]
    fn the_version_is_found_among_other_bytes_and_nothing_else_is_taken_for_it() {
        let found = |bytes: &str| version_in(bytes.as_bytes());
        let expected = Some("0.1.0 (72fd05b91d64)".to_owned());
        assert_eq!(
            found("\0 (\0wakepath0.1.0 (72fd05b91d64)Measures"),
            expected
        );
        for other in [
            "",
            " (",
            "0.1.0 (72fd05b91d6",
            "0.1.0 (no commit)",
            "rustc 1.90.0 (1159e78c4747 2025-09-14)",
            "a (72fd05b91d64)",
            "1.0 (72fd05b91d64)",
        ] {
            assert_eq!(found(other), None, "{other}");
        }
    }
}
