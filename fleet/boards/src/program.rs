//! Programs for boards: which machine one is for, and that it needs nothing of that machine, read
//! from its ELF header. It runs none.

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// A program that can be pushed.
#[derive(Debug, Clone)]
pub struct Program {
    /// Its path on this machine.
    pub path: PathBuf,
    /// The machine it is for.
    pub machine: Machine,
    /// SHA-256, in hexadecimal digits.
    pub sha256: String,
    /// Itself.
    pub bytes: Vec<u8>,
}

/// Machines that there are programs for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Machine {
    /// x86-64.
    X86_64,
    /// 64-bit Arm.
    Aarch64,
    /// 32-bit Arm.
    Arm,
}

/// Reasons why a file isn't a program for a board.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// It can't be read.
    #[error("{place}: {1}", place = .0.display())]
    Unreadable(PathBuf, std::io::Error),
    /// It is something else.
    #[error("{place}: {1}", place = .0.display())]
    Wrong(PathBuf, &'static str),
}

/// A program of wakepath's has 13 MB.
const MOST_BYTES: u64 = 256 << 20;

impl Machine {
    /// The machine that `uname -m` names.
    pub fn new(name: &str) -> Option<Self> {
        match name {
            "x86_64" => Some(Self::X86_64),
            "aarch64" | "arm64" => Some(Self::Aarch64),
            name if name.starts_with("armv7") || name.starts_with("armv8") => Some(Self::Arm),
            _ => None,
        }
    }

    /// Its name, as of the released programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86-64",
            Self::Aarch64 => "64-bit Arm",
            Self::Arm => "32-bit Arm",
        }
    }
}

impl Program {
    /// Reads a static program.
    ///
    /// # Errors
    /// If it isn't a Linux program, is for a machine that no board has, or needs libraries of the
    /// board.
    pub fn read(path: &Path) -> Result<Self, ProgramError> {
        let unreadable = |error| ProgramError::Unreadable(path.to_owned(), error);
        if std::fs::metadata(path).map_err(unreadable)?.len() > MOST_BYTES {
            return Err(ProgramError::Wrong(
                path.to_owned(),
                "too large for a program of wakepath's",
            ));
        }
        let bytes = std::fs::read(path).map_err(unreadable)?;
        let machine = machine(&bytes).map_err(|why| ProgramError::Wrong(path.to_owned(), why))?;
        let digest = Sha256::digest(&bytes);
        Ok(Self {
            path: path.to_owned(),
            machine,
            sha256: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
            bytes,
        })
    }
}

/// The machine of a static program. Offsets are those of the ELF specification.
fn machine(bytes: &[u8]) -> Result<Machine, &'static str> {
    const NONE: &str = "no program for Linux (ELF)";
    if bytes.get(..4) != Some(b"\x7fELF") {
        return Err(NONE);
    }
    let is_64 = match (bytes.get(4), bytes.get(5)) {
        (Some(2), Some(1)) => true,
        (Some(1), Some(1)) => false,
        _ => return Err("a program for another kind of machine"),
    };
    let number = |at: usize, size: usize| {
        let part = bytes.get(at..at.checked_add(size)?)?;
        Some(
            part.iter()
                .rev()
                .fold(0_u64, |all, byte| all << 8 | u64::from(*byte)),
        )
    };
    let machine = match (number(18, 2), is_64) {
        (Some(62), true) => Machine::X86_64,
        (Some(183), true) => Machine::Aarch64,
        (Some(40), false) => Machine::Arm,
        _ => {
            return Err(
                "a program for another kind of machine: x86-64, 64-bit and 32-bit Arm are known",
            );
        }
    };
    let (start, size, count) = if is_64 {
        (number(32, 8), number(54, 2), number(56, 2))
    } else {
        (number(28, 4), number(42, 2), number(44, 2))
    };
    let (Some(start), Some(size), Some(count)) = (start, size, count) else {
        return Err(NONE);
    };
    for index in 0..count {
        let at = index
            .checked_mul(size)
            .and_then(|offset| offset.checked_add(start));
        let kind = at
            .and_then(|at| usize::try_from(at).ok())
            .and_then(|at| number(at, 4));
        match kind {
            // PT_INTERP: it would need the board's own loader and libraries.
            Some(3) => {
                return Err(
                    "not static: it needs libraries that a board may lack; take a released program",
                );
            }
            Some(_) => {}
            None => return Err(NONE),
        }
    }
    Ok(machine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_needs_libraries_is_refused_and_so_is_what_is_none() {
        // This test is linked to the C library.
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(machine(&own).unwrap_err().starts_with("not static"));
        assert_eq!(machine(b"#!/bin/sh\n"), Err("no program for Linux (ELF)"));
        for length in 0..64 {
            assert!(machine(&own[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn headers_are_read_as_the_specification_has_them() {
        let header = |class: u8, machine: u8, count_at: usize| {
            let mut bytes = vec![0; 64];
            bytes[..7].copy_from_slice(&[0x7f, b'E', b'L', b'F', class, 1, 1]);
            bytes[18] = machine;
            bytes[count_at] = 0;
            bytes
        };
        assert_eq!(machine(&header(2, 62, 56)), Ok(Machine::X86_64));
        assert_eq!(machine(&header(2, 183, 56)), Ok(Machine::Aarch64));
        assert_eq!(machine(&header(1, 40, 44)), Ok(Machine::Arm));
        assert!(machine(&header(2, 243, 56)).is_err());
        assert_eq!(Machine::new("armv7l"), Some(Machine::Arm));
        assert_eq!(Machine::new("riscv64"), None);
    }
}
