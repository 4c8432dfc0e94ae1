//! Functions that a library exports, by name, as places to record calls at: its dynamic symbols, which no stripping
//! removes. Of bytes that may be anything.

use super::notes::{Loaded, in_file, loaded};
use super::{NoProbes, Place};
use object::elf::{self, FileHeader64, SHT_DYNSYM, STT_FUNC};
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
    let kind = FileKind::parse(data);
    if !matches!(kind, Ok(FileKind::Elf32 | FileKind::Elf64)) {
        return Err(NoProbes::NotElf);
    }
    // In both forms of the header at one place, in the file's own order of bytes.
    let head = data.read_bytes_at(0, 20).unwrap_or_default();
    let machine = match head {
        [_, _, _, _, _, 2, .., high, low] => u16::from_be_bytes([*high, *low]),
        [.., low, high] => u16::from_le_bytes([*low, *high]),
        _ => 0,
    };
    let machine = elf::Machine(machine);
    if kind != Ok(FileKind::Elf64) || Some(machine) != OWN_MACHINE {
        return Err(NoProbes::Machine(machine_name(machine)));
    }
    let found = of(data, prefix).map_err(NoProbes::Damaged)?;
    found.ok_or(NoProbes::NoExports)
}

/// That of this program, if the kernel can read the arguments of calls there.
const OWN_MACHINE: Option<elf::Machine> = match () {
    () if cfg!(target_arch = "x86_64") => Some(elf::EM_X86_64),
    () if cfg!(target_arch = "aarch64") => Some(elf::EM_AARCH64),
    () => None,
};

fn machine_name(machine: elf::Machine) -> String {
    match machine {
        elf::EM_X86_64 => "x86-64".into(),
        elf::EM_AARCH64 => "64-bit ARM".into(),
        elf::EM_386 => "32-bit x86".into(),
        elf::EM_ARM => "32-bit ARM".into(),
        elf::EM_RISCV => "RISC-V".into(),
        elf::Machine(other) => format!("ELF machine {other}"),
    }
}

/// `None` without a table of exported functions.
fn of<'data>(
    data: impl ReadRef<'data>,
    prefix: &str,
) -> object::Result<Option<BTreeMap<String, Place>>> {
    let header = FileHeader64::<Endianness>::parse(data)?;
    let endian = header.endian()?;
    let segments: Vec<Loaded> = loaded(header, endian, data)?;
    let sections = header.sections(endian, data)?;
    let symbols = sections.symbols(endian, data, SHT_DYNSYM)?;
    if symbols.is_empty() {
        return Ok(None);
    }
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
        if let Some(offset) = in_file(&segments, symbol.st_value(endian)) {
            let place = Place {
                offset: first_cheap(data, offset),
                semaphore: None,
            };
            found.insert(name.to_owned(), place);
        }
    }
    Ok(Some(found))
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
    fn a_library_of_another_machine_and_one_without_exports_are_refused() {
        let refused = |class: u8, order: u8, machine: elf::Machine| {
            let mut head = [0_u8; 64];
            head[..7].copy_from_slice(&[0x7f, b'E', b'L', b'F', class, order, 1]);
            let machine = match order {
                1 => machine.0.to_le_bytes(),
                _ => machine.0.to_be_bytes(),
            };
            head[18..20].copy_from_slice(&machine);
            read(&head[..], "").unwrap_err().to_string()
        };
        let other = if cfg!(target_arch = "x86_64") {
            (elf::EM_AARCH64, "64-bit ARM")
        } else {
            (elf::EM_X86_64, "x86-64")
        };
        assert!(refused(2, 1, other.0).contains(other.1));
        assert!(refused(1, 1, elf::EM_386).contains("32-bit x86"));
        assert!(refused(2, 2, elf::EM_S390).contains("ELF machine 22"));
        if let Some(own) = OWN_MACHINE {
            let said = refused(2, 1, own);
            assert!(said.contains("no table of exported functions"), "{said}");
        }
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
