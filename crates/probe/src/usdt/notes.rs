//! Where a program's USDT probes are: the notes of type 3 and owner `stapsdt` in the section `.note.stapsdt` of its ELF
//! file, each with three addresses (the probe, the section `.stapsdt.base` when it was linked, the semaphore) and three
//! texts (provider, name, arguments), as <https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation> has it.
//! Of bytes that may be anything.

use object::elf::{FileHeader32, FileHeader64, PT_LOAD};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use object::{Endianness, FileKind, ReadRef};
use std::io;
use wakepath_timeline::{decoded, one_line};

const SECTION: &[u8] = b".note.stapsdt";
const BASE: &[u8] = b".stapsdt.base";
const OWNER: &[u8] = b"stapsdt";
const TYPE: u32 = 3;
/// More than any program has; a file may claim what it likes.
const MOST_SITES: usize = 65_536;

/// One place of a probe, as offsets in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// Who provides it: the first name.
    pub provider: String,
    /// The second name.
    pub name: String,
    /// Of the instruction.
    pub offset: u64,
    /// Offset of the counter that has to be more than 0 for the program to pass it, if it has one.
    pub semaphore: Option<u64>,
}

/// Why no probes are known of a file.
#[derive(Debug, thiserror::Error)]
pub enum NoProbes {
    /// It can't be read.
    #[error(transparent)]
    Unreadable(io::Error),
    /// A script, say.
    #[error("it is not an ELF program")]
    NotElf,
    /// It claims what can't be.
    #[error("its ELF file is damaged: {0}")]
    Damaged(object::Error),
    /// The kernel reads arguments as this machine passes them.
    #[error(
        "it is built for {0}: calls are recorded of 64-bit programs of this machine's own architecture, x86-64 or 64-bit ARM"
    )]
    Machine(String),
    /// `strip` leaves the table; other programs take it.
    #[error("it has no table of exported functions: its section headers were removed")]
    NoExports,
}

/// All sites that a file lists, except those whose address is in no loaded part.
pub(super) fn read<'data>(data: impl ReadRef<'data>) -> Result<Vec<Site>, NoProbes> {
    match FileKind::parse(data) {
        Ok(FileKind::Elf64) => of::<FileHeader64<Endianness>>(data),
        Ok(FileKind::Elf32) => of::<FileHeader32<Endianness>>(data),
        _ => return Err(NoProbes::NotElf),
    }
    .map_err(NoProbes::Damaged)
}

fn of<'data, Elf: FileHeader<Endian = Endianness>>(
    data: impl ReadRef<'data>,
) -> object::Result<Vec<Site>> {
    let header = Elf::parse(data)?;
    let endian = header.endian()?;
    let wide = header.is_class_64();
    let sections = header.sections(endian, data)?;
    let loaded = loaded(header, endian, data)?;
    let base = sections.section_by_name(endian, BASE);
    let base = base.map(|(_, section)| section.sh_addr(endian).into());
    let Some((_, section)) = sections.section_by_name(endian, SECTION) else {
        return Ok(Vec::new());
    };
    let Some(mut notes) = section.notes(endian, data)? else {
        return Ok(Vec::new());
    };
    let mut sites = Vec::new();
    while let Some(note) = notes.next()? {
        if note.n_type(endian).0 != TYPE || note.name() != OWNER || sites.len() == MOST_SITES {
            continue;
        }
        let Some(found) = Note::new(note.desc(), wide, endian) else {
            continue;
        };
        // Where the file was moved in memory after it was linked (prelink), by so much.
        let moved = base.map_or(0, |base: u64| base.wrapping_sub(found.base));
        let place = |address: u64| in_file(&loaded, address.wrapping_add(moved));
        let Some(offset) = place(found.address) else {
            continue;
        };
        let semaphore = match found.semaphore {
            0 => None,
            // Without its semaphore the program would never pass the probe.
            address => match place(address) {
                None => continue,
                found => found,
            },
        };
        sites.push(Site {
            provider: found.provider,
            name: found.name,
            offset,
            semaphore,
        });
    }
    Ok(sites)
}

/// A part of a file that is loaded into memory.
pub(super) struct Loaded {
    address: u64,
    offset: u64,
    bytes: u64,
}

/// The parts of a file that are loaded.
pub(super) fn loaded<'data, Elf: FileHeader<Endian = Endianness>>(
    header: &Elf,
    endian: Endianness,
    data: impl ReadRef<'data>,
) -> object::Result<Vec<Loaded>> {
    let segments = header.program_headers(endian, data)?.iter();
    let segments = segments.filter(|segment| segment.p_type(endian) == PT_LOAD);
    let parts = segments.map(|segment| Loaded {
        address: segment.p_vaddr(endian).into(),
        offset: segment.p_offset(endian).into(),
        bytes: segment.p_filesz(endian).into(),
    });
    Ok(parts.collect())
}

/// Offset in the file of an address of the loaded parts.
pub(super) fn in_file(loaded: &[Loaded], address: u64) -> Option<u64> {
    loaded.iter().find_map(|of| {
        let within = address.checked_sub(of.address)?;
        (within < of.bytes).then(|| of.offset.checked_add(within))?
    })
}

/// A note's content.
struct Note {
    address: u64,
    base: u64,
    semaphore: u64,
    provider: String,
    name: String,
}

impl Note {
    fn new(content: &[u8], wide: bool, endian: Endianness) -> Option<Self> {
        let width = if wide { 8 } else { 4 };
        let number = |at: usize| {
            let bytes = content.get(at * width..(at + 1) * width)?;
            let little = |bytes: &mut dyn Iterator<Item = &u8>| {
                bytes.fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte))
            };
            Some(match endian {
                Endianness::Little => little(&mut bytes.iter().rev()),
                Endianness::Big => little(&mut bytes.iter()),
            })
        };
        let mut texts = content.get(3 * width..)?.split(|&byte| byte == 0);
        let mut text = || {
            let text = one_line(&decoded(texts.next()?));
            (!text.is_empty()).then_some(text)
        };
        Some(Self {
            address: number(0)?,
            base: number(1)?,
            semaphore: number(2)?,
            provider: text()?,
            name: text()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A file of 64 bits with a part that is loaded from 0x1000 to 0x401000 on, and one from 0x3000 to 0x404000; the
    /// section of the base is at `base`.
    fn file(base: u64, notes: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0_u8; 0x4000];
        let mut put = |at: usize, part: &[u8]| bytes[at..at + part.len()].copy_from_slice(part);
        put(0, b"\x7fELF\x02\x01\x01");
        put(16, &2_u16.to_le_bytes()); // executable
        put(18, &62_u16.to_le_bytes()); // x86-64
        put(20, &1_u32.to_le_bytes());
        put(32, &64_u64.to_le_bytes()); // program headers
        put(40, &0x200_u64.to_le_bytes()); // section headers
        for (at, value) in [(52, 64_u16), (54, 56), (56, 2), (58, 64), (60, 4), (62, 3)] {
            put(at, &value.to_le_bytes());
        }
        for (number, [offset, address]) in [[0x1000_u64, 0x40_1000], [0x3000, 0x40_4000]]
            .into_iter()
            .enumerate()
        {
            let at = 64 + 56 * number;
            put(at, &1_u32.to_le_bytes());
            for (field, value) in [(8, offset), (16, address), (32, 0x100), (40, 0x100)] {
                put(at + field, &value.to_le_bytes());
            }
        }
        let names = b"\0.note.stapsdt\0.stapsdt.base\0.shstrtab\0";
        let sections: [(u32, u32, u64, usize, usize); 3] = [
            (1, 7, 0, 0x800, notes.len()),
            (15, 1, base, 0x10, 1),
            (29, 3, 0, 0x700, names.len()),
        ];
        for (number, (name, kind, address, offset, size)) in (1..).zip(sections) {
            let at = 0x200 + 64 * number;
            put(at, &name.to_le_bytes());
            put(at + 4, &kind.to_le_bytes());
            put(at + 16, &address.to_le_bytes());
            put(at + 24, &(offset as u64).to_le_bytes());
            put(at + 32, &(size as u64).to_le_bytes());
            put(at + 48, &4_u64.to_le_bytes());
        }
        put(0x700, names);
        put(0x800, notes);
        bytes
    }

    fn note([address, base, semaphore]: [u64; 3], texts: &[u8]) -> Vec<u8> {
        let size = 24 + texts.len() as u32;
        let mut note = [8, size, 3].map(u32::to_le_bytes).concat();
        note.extend(b"stapsdt\0");
        note.extend([address, base, semaphore].map(u64::to_le_bytes).concat());
        note.extend(texts);
        note.resize(note.len().next_multiple_of(4), 0);
        note
    }

    fn site(name: &str, offset: u64, semaphore: Option<u64>) -> Site {
        Site {
            provider: "pilot".into(),
            name: name.into(),
            offset,
            semaphore,
        }
    }

    #[test]
    fn addresses_become_offsets_and_a_file_that_was_moved_is_followed() {
        let begin = note([0x40_1010, 0x40_2000, 0], b"pilot\0begin\0-4@%eax\0");
        let end = note([0x40_1020, 0x40_2000, 0x40_4008], b"pilot\0end\0\0");
        let notes = [begin, end].concat();
        let found = read(&*file(0x40_2000, &notes)).unwrap();
        assert_eq!(
            found,
            [
                site("begin", 0x1010, None),
                site("end", 0x1020, Some(0x3008))
            ]
        );
        let moved = read(&*file(0x40_2040, &notes)).unwrap();
        assert_eq!(moved[0].offset, 0x1050);
    }

    #[test]
    fn a_note_that_leads_nowhere_is_left_out() {
        let notes = [
            note([0x40_9000, 0, 0], b"pilot\0beyond\0\0"),
            note(
                [0x40_1000, 0, 0x50_0000],
                b"pilot\0without-its-semaphore\0\0",
            ),
            note([0x40_1000, 0, 0], b"\0\0\0"),
            note([0x40_1000, 0, 0], b"pilot\0unended"),
        ];
        let found = read(&*file(0, &notes.concat())).unwrap();
        assert_eq!(found, [site("unended", 0x1000, None)]);
        assert!(matches!(read(&b"#!/bin/sh\n"[..]), Err(NoProbes::NotElf)));
        assert!(matches!(read(&b""[..]), Err(NoProbes::NotElf)));
    }

    proptest! {
        #[test]
        fn damaged_files_are_refused_or_read_and_never_more(
            damage in proptest::collection::vec((0..0x900_usize, any::<u8>()), 1..24),
            cut in 0..0x4000_usize,
        ) {
            let notes = [
                note([0x40_1010, 0x40_2000, 0], b"pilot\0begin\0\0"),
                note([0x40_1020, 0x40_2000, 0x40_4008], b"pilot\0end\0\0"),
            ];
            let mut bytes = file(0x40_2000, &notes.concat());
            for (at, value) in damage {
                bytes[at] = value;
            }
            for bytes in [&bytes[..], &bytes[..cut]] {
                let _ = read(bytes);
            }
        }
    }
}
