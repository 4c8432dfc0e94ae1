//! What the laboratory needs to know of a program's file: which interpreter loads it, and which part
//! of it is loaded at all. Pure; 64-bit little-endian ELF (System V ABI, chapter 4) alone.

use crate::architecture::Architecture;

/// A program's file as far as it matters here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// What runs it.
    pub architecture: Architecture,
    /// The dynamic loader, for a program that is not static.
    pub interpreter: Option<String>,
    /// Bytes from the beginning that the loader needs; symbols and debugging information follow.
    pub loaded: usize,
}

const SEGMENT_LOAD: u32 = 1;
const SEGMENT_INTERPRETER: u32 = 3;
/// Offsets in the head that tell where the sections are.
const SECTIONS_AT: usize = 0x28;
const SECTIONS_COUNT: std::ops::Range<usize> = 0x3a..0x40;

/// Reads the head of a program's file.
///
/// # Errors
/// What is wrong with it.
pub fn read(file: &[u8]) -> Result<Program, String> {
    if file.get(..6) != Some(b"\x7fELF\x02\x01") {
        return Err("not a 64-bit little-endian ELF program".into());
    }
    let cut = || "its head is cut short".to_owned();
    let number = |at: usize, length: usize| -> Result<u64, String> {
        let bytes = file.get(at..at.saturating_add(length)).ok_or_else(cut)?;
        Ok(bytes
            .iter()
            .rev()
            .fold(0, |value, &byte| value << 8 | u64::from(byte)))
    };
    let architecture = match number(0x12, 2)? {
        62 => Architecture::X86_64,
        183 => Architecture::Aarch64,
        other => return Err(format!("a program for machine number {other}")),
    };
    let table = number(0x20, 8)? as usize;
    let (size, count) = (number(0x36, 2)? as usize, number(0x38, 2)? as usize);
    let (mut interpreter, mut loaded) = (None, table.saturating_add(size * count));
    for index in 0..count {
        let at = table.saturating_add(index * size);
        let kind = number(at, 4)? as u32;
        let (offset, length) = (number(at + 8, 8)? as usize, number(at + 32, 8)? as usize);
        let end = offset.checked_add(length).ok_or_else(cut)?;
        if kind == SEGMENT_INTERPRETER {
            let name = file.get(offset..end).ok_or_else(cut)?;
            let name = name.strip_suffix(&[0]).unwrap_or(name);
            interpreter = Some(String::from_utf8_lossy(name).into_owned());
        }
        if kind == SEGMENT_LOAD || kind == SEGMENT_INTERPRETER {
            loaded = loaded.max(end);
        }
    }
    if loaded > file.len() {
        return Err(cut());
    }
    Ok(Program {
        architecture,
        interpreter,
        loaded,
    })
}

/// The file without what is never loaded: debugging information is most of a program that was not
/// stripped, and the guest unpacks every byte of it at an emulated CPU's pace.
pub fn without_the_rest(mut file: Vec<u8>, program: &Program) -> Vec<u8> {
    file.truncate(program.loaded);
    file[SECTIONS_AT..SECTIONS_AT + 8].fill(0);
    file[SECTIONS_COUNT].fill(0);
    file
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_real_program_is_read_and_runs_without_the_rest() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let program = read(&own).unwrap();
        let interpreter = program.interpreter.clone().unwrap_or_default();
        assert!(
            interpreter.is_empty() || std::path::Path::new(&interpreter).exists(),
            "{interpreter}"
        );
        let short = without_the_rest(own.clone(), &program);
        assert!(short.len() < own.len());
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("short");
        std::fs::write(&path, short).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        let listed = std::process::Command::new(&path)
            .arg("--list")
            .output()
            .unwrap();
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        assert!(listed.contains("a_real_program_is_read"), "{listed}");
    }

    #[test]
    fn what_is_no_program_or_cut_short_is_refused() {
        assert!(read(b"#!/bin/sh\n").is_err());
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        for length in [0, 5, 6, 0x30, 0x40, 0x100] {
            assert!(read(&own[..length]).is_err(), "{length} bytes");
        }
    }
}
