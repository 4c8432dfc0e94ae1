//! A program or library that a process has mapped: its file, kept open while the process may end, and what is needed of
//! it to unwind.

use crate::maps::{Mapping, VDSO};
use object::elf::PF_X;
use object::read::elf::ElfFile;
use object::{Endianness, Object, ObjectSection, ObjectSegment, ReadCache, ReadRef, SegmentFlags};
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files of the programs that this machine runs.
#[cfg(target_pointer_width = "64")]
pub(crate) type Elf<'data, R> = ElfFile<'data, object::elf::FileHeader64<Endianness>, R>;
#[cfg(target_pointer_width = "32")]
pub(crate) type Elf<'data, R> = ElfFile<'data, object::elf::FileHeader32<Endianness>, R>;

/// More than the largest browser has.
const MOST_UNWIND_BYTES: u64 = 128 << 20;

/// A file with code.
#[derive(Debug)]
pub(crate) struct Module {
    /// As its process sees it.
    pub(crate) path: PathBuf,
    pub(crate) file: File,
    /// Device and inode.
    pub(crate) identity: (u64, u64),
    segments: Vec<Segment>,
    pub(crate) unwind: Unwind,
}

/// A stretch of the file that is mapped as code.
#[derive(Debug, PartialEq, Eq)]
struct Segment {
    in_file: Range<u64>,
    /// Its first address, as the file has it.
    address: u64,
}

/// Tables of how each function keeps its caller's registers.
#[derive(Debug, Default)]
pub(crate) struct Unwind {
    pub(crate) frames: Section,
    pub(crate) header: Section,
}

/// Addresses of a section, as the file has them, and its bytes.
pub(crate) type Section = Option<(Range<u64>, Arc<[u8]>)>;

/// Opens the file of a mapping: that which is mapped if it was deleted, and that of the container that the process is
/// in.
pub(crate) fn open(process: u32, mapping: &Mapping) -> io::Result<File> {
    let Range { start, end } = mapping.addresses;
    if mapping.file.as_deref() == Some(Path::new(VDSO)) {
        return vdso(process, start..end);
    }
    let mapped = format!("/proc/{process}/map_files/{start:x}-{end:x}");
    File::open(mapped).or_else(|_| {
        let path = mapping.file.as_deref().unwrap_or(Path::new(""));
        let path = path.strip_prefix("/").unwrap_or(path);
        File::open(Path::new(&format!("/proc/{process}/root")).join(path))
    })
}

/// More than any kernel's has.
const MOST_VDSO_BYTES: u64 = 1 << 20;

/// The kernel's functions, which no file has, copied from a process's memory.
fn vdso(process: u32, addresses: Range<u64>) -> io::Result<File> {
    let length = (addresses.end - addresses.start).min(MOST_VDSO_BYTES);
    let mut bytes = vec![0; length as usize];
    let memory = File::open(format!("/proc/{process}/mem"))?;
    memory.read_exact_at(&mut bytes, addresses.start)?;
    let mut file = File::from(memfd_create("vdso", MemfdFlags::CLOEXEC)?);
    file.write_all(&bytes)?;
    Ok(file)
}

/// Device and inode of a file.
pub(crate) fn identity(file: &File) -> io::Result<(u64, u64)> {
    file.metadata().map(|of| (of.dev(), of.ino()))
}

impl Module {
    /// Reads what is needed to unwind; `None` if it is no program.
    pub(crate) fn read(file: File, path: PathBuf) -> Option<Self> {
        let identity = identity(&file).ok()?;
        let data = ReadCache::new(&file);
        let (segments, unwind) = parts(&data)?;
        drop(data);
        Some(Self {
            path,
            file,
            identity,
            segments,
            unwind,
        })
    }

    /// Difference between a mapping's addresses and the file's.
    pub(crate) fn bias(&self, mapping: &Mapping) -> Option<u64> {
        let mut segments = self.segments.iter();
        // The mapping begins on a page, at or before the segment.
        let end = mapping.offset + (mapping.addresses.end - mapping.addresses.start);
        let of = segments.find(|of| of.in_file.start < end && mapping.offset < of.in_file.end)?;
        let address = of
            .address
            .wrapping_add(mapping.offset)
            .wrapping_sub(of.in_file.start);
        Some(mapping.addresses.start.wrapping_sub(address))
    }
}

fn parts<'data, R: ReadRef<'data>>(data: R) -> Option<(Vec<Segment>, Unwind)> {
    let elf = Elf::parse(data).ok()?;
    // The one before it may end on the page that this begins on, which is then mapped for both.
    let is_code =
        |flags| matches!(flags, SegmentFlags::Elf { p_flags, .. } if p_flags.contains(PF_X));
    let code = elf.segments().filter(|of| is_code(of.flags()));
    let code = code.map(|of| {
        let (offset, bytes) = of.file_range();
        Segment {
            in_file: offset..offset.saturating_add(bytes),
            address: of.address(),
        }
    });
    let segments = code.collect();
    let section = |name: &str| -> Section {
        let of = elf.section_by_name(name)?;
        let bytes = (of.size() <= MOST_UNWIND_BYTES).then(|| of.data().ok())??;
        Some((of.address()..of.address() + of.size(), bytes.into()))
    };
    let unwind = Unwind {
        frames: section(".eh_frame"),
        header: section(".eh_frame_hdr"),
    };
    Some((segments, unwind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_a_file_are_found_in_its_mapping() {
        let file = File::open("/proc/self/exe").unwrap();
        let module = Module::read(file, "/x".into()).unwrap();
        assert!(module.unwind.frames.is_some());
        let maps = std::fs::read("/proc/self/maps").unwrap();
        let own = std::fs::read_link("/proc/self/exe").unwrap();
        let mappings = crate::maps::parse(&maps);
        let code = mappings.iter().find(|of| of.file.as_ref() == Some(&own));
        let bias = module.bias(code.unwrap()).unwrap();
        assert_eq!(bias % 4096, 0);
        let here = addresses_of_a_file_are_found_in_its_mapping as *const () as u64;
        let data = ReadCache::new(&module.file);
        let elf = Elf::parse(&data).unwrap();
        use object::ObjectSymbol;
        let has = elf.symbols().any(|of| of.address() == here - bias);
        assert!(has, "{here:#x} {bias:#x}");
    }

    #[test]
    fn the_kernels_functions_are_a_module_too() {
        let maps = std::fs::read("/proc/self/maps").unwrap();
        let mappings = crate::maps::parse(&maps);
        let mapping = mappings.iter().find(|of| of.file == Some(VDSO.into()));
        let mapping = mapping.unwrap();
        let file = open(std::process::id(), mapping).unwrap();
        let module = Module::read(file, VDSO.into()).unwrap();
        assert!(module.unwind.frames.is_some());
        assert_eq!(module.bias(mapping), Some(mapping.addresses.start));
    }

    #[test]
    fn what_is_no_program_is_no_module() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("text");
        for bytes in [&b"#!/bin/sh\n"[..], b"", b"\x7fELF\x02\x01\x01"] {
            std::fs::write(&path, bytes).unwrap();
            let file = File::open(&path).unwrap();
            assert!(Module::read(file, path.clone()).is_none());
        }
    }
}
