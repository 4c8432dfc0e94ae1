//! The emulator and its version: the installed one, or where that can't do what is asked for, one out
//! of a package of Debian's, fetched and not installed. It runs nothing but `--version`.

use crate::apt::Client;
use crate::cache::Cache;
use crate::{LabError, Result, packages, programs};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// An emulator that is new enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Qemu {
    /// Its file.
    pub program: PathBuf,
    /// Name and version, as it says them.
    pub version: String,
    /// What it must be told first: where its own files lie, if not where it was built for.
    pub arguments: Vec<String>,
}

const PROGRAM: &str = "qemu-system-x86_64";
const PACKAGE: &str = "qemu-system-x86";
/// Packages with all that the emulator reads.
const PACKAGES: [&str; 3] = [PACKAGE, "qemu-system-data", "seabios"];
/// The oldest with which repetition was tried.
const NEEDED: (u32, u32) = (7, 2);
/// The oldest with which a second CPU was tried and did not hang.
const NEEDED_FOR_TWO: (u32, u32) = (10, 0);

impl Qemu {
    /// The emulator for a guest of so many CPUs: `given`, else the one in PATH, else one of Debian's.
    ///
    /// # Errors
    /// [`LabError::MissingProgram`] or [`LabError::OldEmulator`], with the package to install.
    pub fn find(given: Option<&Path>, cpus: u16, cache: &Cache) -> Result<Self> {
        let needed = match cpus {
            0 | 1 => NEEDED,
            _ => NEEDED_FOR_TWO,
        };
        let missing = || LabError::MissingProgram {
            program: given.unwrap_or(Path::new(PROGRAM)).display().to_string(),
            package: PACKAGE,
        };
        let name = given.map_or(PROGRAM.into(), |path| path.display().to_string());
        let installed = programs::installed(&name).ok_or_else(missing)?;
        let found = Self::at(installed, needed);
        match found {
            Err(old @ LabError::OldEmulator { .. }) if given.is_none() && cpus > 1 => {
                cache.tell(&format!("{old}: fetching one that is"));
                Self::fetched(needed, cache)
            }
            found => found,
        }
    }

    fn at(program: PathBuf, needed: (u32, u32)) -> Result<Self> {
        let output = Command::new(&program)
            .arg("--version")
            .stdin(Stdio::null())
            .output()
            .map_err(|e| LabError::io("start", &program, e))?;
        let said = String::from_utf8_lossy(&output.stdout);
        let version = checked(said.lines().next().unwrap_or(""), needed)?;
        Ok(Self {
            program,
            version,
            arguments: Vec::new(),
        })
    }

    /// Out of the backports of the host's own release, whose libraries it is made for.
    fn fetched(needed: (u32, u32), cache: &Cache) -> Result<Self> {
        let client = Client::for_architecture("amd64", "-backports", cache)?;
        let program = format!("usr/bin/{PROGRAM}");
        let place = packages::programs(&PACKAGES, &program, &client, cache)?;
        let mut qemu = Self::at(place.join(program), needed)?;
        for data in ["usr/share/qemu", "usr/share/seabios"] {
            let data = place.join(data).display().to_string();
            qemu.arguments.extend(["-L".to_owned(), data]);
        }
        Ok(qemu)
    }
}

/// The version line without what follows the name, if it is new enough.
fn checked(line: &str, needed: (u32, u32)) -> Result<String> {
    let not_understood = || LabError::Answer {
        program: PROGRAM.into(),
        answer: line.into(),
    };
    let (_, after) = line.split_once("version ").ok_or_else(not_understood)?;
    let mut numbers = after.split(['.', ' ', '(', '-']);
    let mut number = || numbers.next()?.parse::<u32>().ok();
    let (Some(major), Some(minor)) = (number(), number()) else {
        return Err(not_understood());
    };
    let version = format!("QEMU {after}");
    match (major, minor) >= needed {
        true => Ok(version),
        false => Err(LabError::OldEmulator {
            version,
            needed: format!("{}.{}", needed.0, needed.1),
            package: PACKAGE,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_understood_and_old_ones_refused_by_name() {
        let line = "QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)";
        assert_eq!(
            checked(line, NEEDED).unwrap(),
            "QEMU 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)"
        );
        assert_eq!(
            checked("QEMU emulator version 10.0.2", NEEDED_FOR_TWO).unwrap(),
            "QEMU 10.0.2"
        );
        let old = checked(
            "QEMU emulator version 4.2.1 (Debian 1:4.2-3ubuntu6)",
            NEEDED,
        )
        .unwrap_err();
        assert_eq!(
            old.to_string(),
            "QEMU 4.2.1 (Debian 1:4.2-3ubuntu6) is too old: this guest needs QEMU 7.2 or newer \
             (package qemu-system-x86)"
        );
        assert!(checked("something else", NEEDED).is_err());
    }
}
