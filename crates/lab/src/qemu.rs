//! Finds the emulator and its version.
//!
//! Uses the installed one, or, if that lacks a feature, one from a Debian package, fetched but not
//! installed. Runs only `--version`.

use crate::apt::Client;
use crate::architecture::Architecture;
use crate::cache::Cache;
use crate::said::last_line;
use crate::{LabError, Result, packages, programs};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// An emulator that is new enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Qemu {
    /// Its file.
    pub program: PathBuf,
    /// Its own name and version.
    pub version: String,
    /// Leading arguments: the path of its own files, if they aren't at the compiled-in path.
    pub arguments: Vec<String>,
}

/// The oldest with which repetition was tried.
const NEEDED: (u32, u32) = (7, 2);
/// The oldest with which a second CPU was tried and did not hang.
const NEEDED_FOR_TWO: (u32, u32) = (10, 0);

impl Qemu {
    /// The emulator for a guest with `cpus` CPUs: `given`, else the one in PATH, else Debian's.
    ///
    /// # Errors
    /// [`LabError::MissingProgram`] or [`LabError::OldEmulator`], with the package to install.
    pub fn find(
        given: Option<&Path>,
        architecture: Architecture,
        cpus: u16,
        cache: &Cache,
    ) -> Result<Self> {
        let needed = match cpus {
            0 | 1 => NEEDED,
            _ => NEEDED_FOR_TWO,
        };
        let program = architecture.emulator();
        let name = given.map_or(program.into(), |path| path.display().to_string());
        let found = programs::installed(&name, architecture.package())
            .and_then(|installed| Self::at(installed, architecture, needed));
        // The usual emulator is a package to install; one that few systems have is fetched.
        let is_unusual = cpus > 1 || architecture != Architecture::X86_64;
        match found {
            Err(why) if given.is_none() && is_unusual => {
                cache.tell(&format!("{why}; fetching one"));
                Self::fetched(architecture, needed, cache)
            }
            found => found,
        }
    }

    fn at(program: PathBuf, architecture: Architecture, needed: (u32, u32)) -> Result<Self> {
        let output = Command::new(&program)
            .arg("--version")
            .stdin(Stdio::null())
            .output()
            .map_err(|e| LabError::io("start", &program, e))?;
        if !output.status.success() {
            let command = format!("{} --version", program.display());
            let said = last_line(&output.stderr);
            return Err(LabError::Command { command, said });
        }
        let said = String::from_utf8_lossy(&output.stdout);
        let version = checked(said.lines().next().unwrap_or(""), architecture, needed)?;
        Ok(Self {
            program,
            version,
            arguments: Vec::new(),
        })
    }

    /// From the backports of the host's own release, whose libraries it matches.
    fn fetched(architecture: Architecture, needed: (u32, u32), cache: &Cache) -> Result<Self> {
        let client = Client::for_architecture("amd64", "-backports", cache)?;
        let program = format!("usr/bin/{}", architecture.emulator());
        let place = packages::programs(architecture.packages(), &program, &client, cache)?;
        let mut qemu = Self::at(place.join(program), architecture, needed)?;
        for data in ["usr/share/qemu", "usr/share/seabios"] {
            let data = place.join(data).display().to_string();
            qemu.arguments.extend(["-L".to_owned(), data]);
        }
        Ok(qemu)
    }
}

/// The version line, cut after the version, if it is new enough.
fn checked(line: &str, architecture: Architecture, needed: (u32, u32)) -> Result<String> {
    let not_understood = || LabError::Answer {
        program: architecture.emulator().into(),
        answer: line.into(),
    };
    let (_, after) = line.split_once("version ").ok_or_else(not_understood)?;
    let mut numbers = after.split(['.', ' ', '(', '-']);
    let mut number = || numbers.next()?.parse::<u32>().ok();
    let (Some(major), Some(minor)) = (number(), number()) else {
        return Err(not_understood());
    };
    let version = format!("QEMU {after}");
    if (major, minor) >= needed {
        Ok(version)
    } else {
        Err(LabError::OldEmulator {
            version,
            needed: format!("{}.{}", needed.0, needed.1),
            package: architecture.package(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_understood_and_old_ones_refused_by_name() {
        let line = "QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)";
        assert_eq!(
            checked(line, Architecture::X86_64, NEEDED).unwrap(),
            "QEMU 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)"
        );
        assert_eq!(
            checked(
                "QEMU emulator version 10.0.2",
                Architecture::X86_64,
                NEEDED_FOR_TWO
            )
            .unwrap(),
            "QEMU 10.0.2"
        );
        let old = checked(
            "QEMU emulator version 4.2.1 (Debian 1:4.2-3ubuntu6)",
            Architecture::X86_64,
            NEEDED,
        )
        .unwrap_err();
        assert_eq!(
            old.to_string(),
            "QEMU 4.2.1 (Debian 1:4.2-3ubuntu6) is too old: this guest needs QEMU 7.2 or newer \
             (package qemu-system-x86)"
        );
        assert!(checked("something else", Architecture::X86_64, NEEDED).is_err());
    }

    #[test]
    fn an_emulator_that_can_not_be_started_says_why() {
        use std::os::unix::fs::PermissionsExt;
        let place = tempfile::tempdir().unwrap();
        let program = place.path().join("qemu");
        let said = "error while loading shared libraries: libslirp.so.0";
        std::fs::write(
            &program,
            format!("#!/bin/sh\necho '{said}' >&2; exit 127\n"),
        )
        .unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        let cache = Cache::at(place.path());
        let error = Qemu::find(Some(&program), Architecture::X86_64, 1, &cache);
        let error = error.unwrap_err().to_string();
        assert!(
            error.ends_with(&format!("--version failed: {said}")),
            "{error}"
        );
    }
}
