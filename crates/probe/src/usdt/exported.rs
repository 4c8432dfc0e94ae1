//! Functions that a library exports, by name, as places to record calls at: its dynamic symbols, which no stripping
//! removes. Of bytes that may be anything.

use super::notes::{Loaded, in_file, loaded};
use super::{NoProbes, Place};
use object::elf::{FileHeader32, FileHeader64, SHT_DYNSYM, STT_FUNC};
use object::read::elf::{FileHeader, Sym};
use object::{Endianness, FileKind, ReadCache, ReadRef};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

/// `endbr64`: the kernel steps over it, which takes ten times as long as a `push`, which it carries out itself
/// (`push_setup_xol_ops` in `arch/x86/kernel/uprobes.c`).
const END_BRANCH: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];

/// The exported functions of a file whose names begin with `prefix`, by the rest of their names.
///
/// # Errors
/// [`NoProbes`].
pub fn exported(file: &Path, prefix: &str) -> Result<BTreeMap<String, Place>, NoProbes> {
    let open = File::open(file).map_err(NoProbes::Unreadable)?;
    read(&ReadCache::new(open), prefix)
}

fn read<'data>(
    data: impl ReadRef<'data>,
    prefix: &str,
) -> Result<BTreeMap<String, Place>, NoProbes> {
    match FileKind::parse(data) {
        Ok(FileKind::Elf64) => of::<FileHeader64<Endianness>>(data, prefix),
        Ok(FileKind::Elf32) => of::<FileHeader32<Endianness>>(data, prefix),
        _ => return Err(NoProbes::NotElf),
    }
    .map_err(NoProbes::Damaged)
}

fn of<'data, Elf: FileHeader<Endian = Endianness>>(
    data: impl ReadRef<'data>,
    prefix: &str,
) -> object::Result<BTreeMap<String, Place>> {
    let header = Elf::parse(data)?;
    let endian = header.endian()?;
    let segments: Vec<Loaded> = loaded(header, endian, data)?;
    let sections = header.sections(endian, data)?;
    let symbols = sections.symbols(endian, data, SHT_DYNSYM)?;
    let mut found = BTreeMap::new();
    for symbol in symbols.iter() {
        let name = symbol.name(endian, symbols.strings())?;
        let name = std::str::from_utf8(name).ok();
        let Some(name) = name.and_then(|name| name.strip_prefix(prefix)) else {
            continue;
        };
        if symbol.st_type() != STT_FUNC || symbol.is_undefined(endian) {
            continue;
        }
        if let Some(offset) = in_file(&segments, symbol.st_value(endian).into()) {
            let place = Place {
                offset: first_cheap(data, offset),
                semaphore: None,
            };
            found.insert(name.to_owned(), place);
        }
    }
    Ok(found)
}

/// The instruction of a function's beginning that is cheapest to record: arguments are in their registers at each.
fn first_cheap<'data>(data: impl ReadRef<'data>, offset: u64) -> u64 {
    let first = data.read_bytes_at(offset, 6).unwrap_or_default();
    match first.strip_prefix(&END_BRANCH[..]) {
        Some([0x50..=0x57, ..] | [0x41, 0x50..=0x57]) => offset + END_BRANCH.len() as u64,
        _ => offset,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exported_functions_of_a_library_are_found_by_their_names() {
        let libc = std::fs::read_to_string("/proc/self/maps").unwrap();
        let libc = libc.lines().find_map(|line| {
            let path = line.split_whitespace().nth(5)?;
            path.contains("libc.so").then(|| path.to_owned())
        });
        // A test program that is linked with musl maps none.
        let Some(libc) = libc else { return };
        let found = exported(Path::new(&libc), "pthread_mutex_").unwrap();
        assert!(found.contains_key("lock") && found.contains_key("unlock"));
        assert!(exported(Path::new("/proc/self/maps"), "").is_err());
    }

    #[test]
    fn a_push_behind_the_end_of_a_branch_is_recorded_in_its_place() {
        let code = [&END_BRANCH[..], &[0x41, 0x54]].concat();
        assert_eq!(first_cheap(&code[..], 0), 4);
        let code = [&END_BRANCH[..], &[0x48, 0x83]].concat();
        assert_eq!(first_cheap(&code[..], 0), 0);
        assert_eq!(first_cheap(&[0x55, 0x53, 0, 0, 0, 0][..], 0), 0);
        assert_eq!(first_cheap(&[0x55][..], 0), 0);
    }
}
