//! Reads a program's interpreter, libraries and loaded parts from its ELF file.
//!
//! Pure; little-endian ELF (System V ABI, chapters 4 and 5) of 64 and 32 bits.

use crate::architecture::Architecture;

/// A program's file as far as it matters here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its architecture.
    pub architecture: Architecture,
    /// The dynamic loader, for a program that is not static.
    pub interpreter: Option<String>,
    /// Names of the libraries that it needs directly.
    pub needed: Vec<String>,
    /// Bytes from the start that the loader needs; symbols and debugging information follow.
    pub loaded: usize,
}

/// Reasons why a file isn't a program that a guest could run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ElfError {
    /// It begins with something else.
    #[error("not a little-endian ELF program")]
    NoProgram,
    /// The file is shorter than its headers require.
    #[error("its head is cut short")]
    Cut,
    /// It is for a machine that no guest is.
    #[error("a program for machine number {number} of {bits} bits")]
    Machine {
        /// The machine's number in ELF.
        number: u64,
        /// 32 or 64 bits.
        bits: usize,
    },
}

const SEGMENT_LOAD: u64 = 1;
const SEGMENT_DYNAMIC: u64 = 2;
const SEGMENT_INTERPRETER: u64 = 3;
const DYNAMIC_END: u64 = 0;
const DYNAMIC_NEEDED: u64 = 1;
const DYNAMIC_STRINGS: u64 = 5;

/// Layout of a class of files: offset and length of each field.
struct Layout {
    /// Bytes of an address or offset.
    word: usize,
    segments_at: usize,
    segment_size: usize,
    segment_count: usize,
    /// In a segment's entry.
    offset: usize,
    address: usize,
    length: usize,
    sections_at: usize,
    /// Their size, number and names.
    sections_count: std::ops::Range<usize>,
}

const WIDE: Layout = Layout {
    word: 8,
    segments_at: 0x20,
    segment_size: 0x36,
    segment_count: 0x38,
    offset: 8,
    address: 16,
    length: 32,
    sections_at: 0x28,
    sections_count: 0x3a..0x40,
};

const NARROW: Layout = Layout {
    word: 4,
    segments_at: 0x1c,
    segment_size: 0x2a,
    segment_count: 0x2c,
    offset: 4,
    address: 8,
    length: 16,
    sections_at: 0x20,
    sections_count: 0x2e..0x34,
};

/// A loaded or descriptive part of the file.
struct Segment {
    kind: u64,
    offset: usize,
    address: u64,
    length: usize,
}

fn layout(file: &[u8]) -> Result<Layout, ElfError> {
    match file.get(..6) {
        Some(b"\x7fELF\x02\x01") => Ok(WIDE),
        Some(b"\x7fELF\x01\x01") => Ok(NARROW),
        _ => Err(ElfError::NoProgram),
    }
}

fn number(file: &[u8], at: usize, length: usize) -> Result<u64, ElfError> {
    let bytes = file
        .get(at..at.saturating_add(length))
        .ok_or(ElfError::Cut)?;
    let value = |value, &byte| value << 8 | u64::from(byte);
    Ok(bytes.iter().rev().fold(0, value))
}

/// Reads a program's headers.
///
/// # Errors
/// If the file isn't valid ELF.
pub fn read(file: &[u8]) -> Result<Program, ElfError> {
    let layout = layout(file)?;
    let architecture = match (number(file, 0x12, 2)?, layout.word) {
        (62, 8) => Architecture::X86_64,
        (183, 8) => Architecture::Aarch64,
        (40, 4) => Architecture::Armv7,
        (other, word) => {
            return Err(ElfError::Machine {
                number: other,
                bits: word * 8,
            });
        }
    };
    let table = number(file, layout.segments_at, layout.word)? as usize;
    let size = number(file, layout.segment_size, 2)? as usize;
    let count = number(file, layout.segment_count, 2)? as usize;
    let mut segments = Vec::new();
    for index in 0..count {
        let at = table.saturating_add(index * size);
        let word = |field: usize| number(file, at.saturating_add(field), layout.word);
        segments.push(Segment {
            kind: number(file, at, 4)?,
            offset: word(layout.offset)? as usize,
            address: word(layout.address)?,
            length: word(layout.length)? as usize,
        });
    }
    let content = |segment: &Segment| {
        let end = segment.offset.checked_add(segment.length);
        let bytes = end.and_then(|end| file.get(segment.offset..end));
        bytes.ok_or(ElfError::Cut)
    };
    let mut program = Program {
        architecture,
        interpreter: None,
        needed: Vec::new(),
        loaded: (table.saturating_add(size * count)).max(layout.sections_count.end),
    };
    for segment in &segments {
        match segment.kind {
            SEGMENT_INTERPRETER => {
                let name = content(segment)?;
                let name = name.strip_suffix(&[0]).unwrap_or(name);
                program.interpreter = Some(String::from_utf8_lossy(name).into_owned());
            }
            SEGMENT_DYNAMIC => {
                program.needed = needed(file, content(segment)?, layout.word, &segments)?;
            }
            SEGMENT_LOAD => {
                content(segment)?;
            }
            _ => continue,
        }
        program.loaded = program.loaded.max(segment.offset + segment.length);
    }
    if program.loaded > file.len() {
        Err(ElfError::Cut)
    } else {
        Ok(program)
    }
}

/// The libraries in a dynamic section. One of its entries gives the position of their names.
fn needed(
    file: &[u8],
    dynamic: &[u8],
    word: usize,
    segments: &[Segment],
) -> Result<Vec<String>, ElfError> {
    let entries = dynamic.chunks_exact(2 * word).map(|entry| {
        let tag = number(entry, 0, word).unwrap_or(DYNAMIC_END);
        (tag, number(entry, word, word).unwrap_or(0))
    });
    let entries: Vec<(u64, u64)> = entries.take_while(|entry| entry.0 != DYNAMIC_END).collect();
    let strings = entries.iter().find(|entry| entry.0 == DYNAMIC_STRINGS);
    let Some(&(_, strings)) = strings else {
        return Ok(Vec::new());
    };
    let loaded = segments.iter().filter(|one| one.kind == SEGMENT_LOAD);
    let within = |one: &&Segment| {
        (one.address..one.address.saturating_add(one.length as u64)).contains(&strings)
    };
    let segment = { loaded }.find(within).ok_or(ElfError::Cut)?;
    let strings = segment.offset as u64 + (strings - segment.address);
    let names = entries.iter().filter(|entry| entry.0 == DYNAMIC_NEEDED);
    names
        .map(|&(_, at)| {
            let at = usize::try_from(strings.saturating_add(at)).map_err(|_| ElfError::Cut)?;
            let rest = file.get(at..).ok_or(ElfError::Cut)?;
            let name = rest.split(|&byte| byte == 0).next().unwrap_or_default();
            Ok(String::from_utf8_lossy(name).into_owned())
        })
        .collect()
}

/// The content of a section, by its name.
pub fn section<'a>(file: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let layout = layout(file).ok()?;
    let field = |at: usize, length: usize| Some(number(file, at, length).ok()? as usize);
    let from = layout.sections_count.start;
    let [size, count, names] = [from, from + 2, from + 4].map(|at| field(at, 2));
    let table = field(layout.sections_at, layout.word)?;
    // An entry: four bytes each of name and kind, words of flags and address, then these two.
    let content = |index: usize| {
        let at = table.checked_add(index.checked_mul(size?)?)?;
        let offset_at = at.checked_add(8 + 2 * layout.word)?;
        let offset = field(offset_at, layout.word)?;
        let length = field(offset_at + layout.word, layout.word)?;
        Some((
            field(at, 4)?,
            file.get(offset..offset.checked_add(length)?)?,
        ))
    };
    let (_, names) = content(names?)?;
    let sections = (0..count?).filter_map(content);
    let called = |at: usize| names.get(at..)?.split(|&byte| byte == 0).next();
    { sections }.find_map(|(at, bytes)| (called(at)? == name.as_bytes()).then_some(bytes))
}

/// The file without the parts that are never loaded: debugging information is most of an unstripped
/// program, and the guest unpacks every byte of it at an emulated CPU's pace.
pub fn without_the_rest(mut file: Vec<u8>, program: &Program) -> Vec<u8> {
    let Ok(layout) = layout(&file) else {
        return file;
    };
    file.truncate(program.loaded);
    file[layout.sections_at..layout.sections_at + layout.word].fill(0);
    file[layout.sections_count].fill(0);
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
        let asks_for_c = program.needed.iter().any(|name| name == "libc.so.6");
        assert_eq!(asks_for_c, cfg!(target_env = "gnu"), "{:?}", program.needed);
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
        // A loaded part that ends at 2^32 + 100 of a file of 200 bytes.
        let mut narrow = vec![0; 200];
        narrow[..6].copy_from_slice(b"\x7fELF\x01\x01");
        for (at, value) in [(0x12, 40), (0x1c, 52), (0x2a, 32), (0x2c, 1), (52, 1)] {
            narrow[at] = value;
        }
        narrow[52 + 16] = 100;
        assert_eq!(read(&narrow).unwrap().architecture, Architecture::Armv7);
        narrow[52 + 4..52 + 8].fill(0xff);
        assert!(read(&narrow).is_err());
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        for length in [0, 5, 6, 0x30, 0x40, 0x100] {
            assert!(read(&own[..length]).is_err(), "{length} bytes");
        }
    }
}
