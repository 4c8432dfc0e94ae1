//! The installed emulator and its version. It runs nothing but `--version`.

use crate::{LabError, Result, programs};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// An emulator that is new enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Qemu {
    /// Its file.
    pub program: PathBuf,
    /// Name and version, as it says them.
    pub version: String,
}

const PROGRAM: &str = "qemu-system-x86_64";
const PACKAGE: &str = "qemu-system-x86";
/// The oldest with which repetition was tried.
const NEEDED: (u32, u32) = (7, 2);
const NEEDED_TEXT: &str = "7.2";

impl Qemu {
    /// Finds it in PATH.
    ///
    /// # Errors
    /// [`LabError::MissingProgram`] or [`LabError::OldEmulator`], with the package to install.
    pub fn find() -> Result<Self> {
        let missing = || LabError::MissingProgram {
            program: PROGRAM.into(),
            package: PACKAGE,
        };
        let program = programs::installed(PROGRAM).ok_or_else(missing)?;
        let output = Command::new(&program)
            .arg("--version")
            .stdin(Stdio::null())
            .output()
            .map_err(|e| LabError::io("start", &program, e))?;
        let said = String::from_utf8_lossy(&output.stdout);
        let version = checked(said.lines().next().unwrap_or(""))?;
        Ok(Self { program, version })
    }
}

/// The version line without what follows the name, if it is new enough.
fn checked(line: &str) -> Result<String> {
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
    match (major, minor) >= NEEDED {
        true => Ok(version),
        false => Err(LabError::OldEmulator {
            version,
            needed: NEEDED_TEXT,
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
            checked(line).unwrap(),
            "QEMU 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)"
        );
        assert_eq!(
            checked("QEMU emulator version 10.0.2").unwrap(),
            "QEMU 10.0.2"
        );
        let old = checked("QEMU emulator version 4.2.1 (Debian 1:4.2-3ubuntu6)").unwrap_err();
        assert_eq!(
            old.to_string(),
            "QEMU 4.2.1 (Debian 1:4.2-3ubuntu6) is too old: the laboratory needs QEMU 7.2 or newer \
             (package qemu-system-x86)"
        );
        assert!(checked("something else").is_err());
    }
}
