//! Functions of one file by address: from its symbol tables, and with file, line and inlined functions from its
//! debugging information or that of a file installed for it.

use crate::demangle::demangled;
use crate::module::{Elf, Module};
use crate::symbols::{public_of, symbols_of};
use addr2line::Context;
use addr2line::gimli::{Dwarf, EndianSlice, LittleEndian, SectionId};
use object::{CompressionFormat, Object, ObjectSection, ReadCache, ReadRef};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use wakepath_explain::Frame;

/// Debugging information that is read at most, in bytes.
const MOST_DEBUG_BYTES: u64 = 512 << 20;
/// Functions that are inlined into each other, at most.
const MOST_INLINED: usize = 16;

/// Frames of addresses of a module, each address's own with the innermost first.
pub(crate) fn of(module: &Module, addresses: &BTreeSet<u64>) -> BTreeMap<u64, Vec<Frame>> {
    let data = ReadCache::new(&module.file);
    let own = Elf::parse(&data).ok();
    let apart = own.as_ref().and_then(debug_file);
    let apart = apart.as_ref().map(ReadCache::new);
    let apart = apart.as_ref().and_then(|data| Elf::parse(data).ok());
    let files: Vec<_> = own.iter().collect();
    let others: Vec<_> = apart.iter().collect();
    let mut symbols = BTreeMap::new();
    for elf in files.iter() {
        symbols.extend(symbols_of(elf, addresses));
    }
    for elf in others.iter() {
        symbols.extend(symbols_of(elf, addresses));
    }
    let public = own.as_ref().map(|elf| public_of(elf, addresses));
    let public = public.unwrap_or_default();
    let mut lines = BTreeMap::new();
    for elf in files.iter() {
        lines.extend(lines_of(elf, addresses).unwrap_or_default());
    }
    for elf in others.iter() {
        lines.extend(lines_of(elf, addresses).unwrap_or_default());
    }
    let path = module.path.to_string_lossy();
    let frames = addresses.iter().map(|&address| {
        let mut frames: Vec<Frame> = lines.remove(&address).unwrap_or_default();
        if frames.is_empty() {
            frames.push(empty());
        }
        let last = frames.len() - 1;
        let known = frames[last].function.take();
        let symbol = || symbols.get(&address).map(|of| demangled(of));
        let name = known.or_else(symbol);
        let of_library = public.get(&address).filter(|_| {
            let is_internal = |name: &String| name.starts_with('_');
            name.as_ref().is_none_or(is_internal)
        });
        frames[last].function = of_library.map(|of| demangled(of)).or(name);
        for frame in &mut frames {
            frame.module = Some(path.clone().into_owned());
            frame.address = Some(address);
        }
        (address, frames)
    });
    frames.collect()
}

/// The symbols of the functions around addresses of a module, as compilers write them.
pub(crate) fn symbols(module: &Module, addresses: &BTreeSet<u64>) -> BTreeMap<u64, String> {
    let data = ReadCache::new(&module.file);
    let Ok(own) = Elf::parse(&data) else {
        return BTreeMap::new();
    };
    let mut symbols = symbols_of(&own, addresses);
    let apart = debug_file(&own);
    let apart = apart.as_ref().map(ReadCache::new);
    if let Some(Ok(apart)) = apart.as_ref().map(Elf::parse) {
        symbols.extend(symbols_of(&apart, addresses));
    }
    symbols
}

fn empty() -> Frame {
    Frame {
        function: None,
        file: None,
        line: None,
        module: None,
        address: None,
        generated: false,
    }
}

/// The file with the debugging information of a program that was stripped, as distributions install it.
fn debug_file<'data>(elf: &Elf<'data, impl ReadRef<'data>>) -> Option<File> {
    if elf.section_by_name(".debug_info").is_some() {
        return None;
    }
    let (first, rest) = elf.build_id().ok()??.split_first()?;
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    File::open(format!("/usr/lib/debug/.build-id/{first:02x}/{rest}.debug")).ok()
}

/// The functions around addresses, those inlined into them before them, with file and line.
fn lines_of<'data>(
    elf: &Elf<'data, impl ReadRef<'data>>,
    addresses: &BTreeSet<u64>,
) -> Option<BTreeMap<u64, Vec<Frame>>> {
    elf.section_by_name(".debug_info")?;
    let sections = elf.sections();
    let is_debug = |name: &str| name.starts_with(".debug_");
    let bytes: u64 = sections
        .filter(|of| of.name().is_ok_and(is_debug))
        .map(|of| of.size())
        .sum();
    if bytes > MOST_DEBUG_BYTES {
        return None;
    }
    let mut held: BTreeMap<&str, Cow<'data, [u8]>> = BTreeMap::new();
    for section in elf.sections() {
        if let Ok(name) = section.name()
            && is_debug(name)
            && let Some(bytes) = uncompressed(&section)
        {
            held.insert(name, bytes);
        }
    }
    let load = |id: SectionId| -> Result<_, addr2line::gimli::Error> {
        let bytes = held.get(id.name()).map(|bytes| &**bytes);
        Ok(EndianSlice::new(bytes.unwrap_or_default(), LittleEndian))
    };
    let context = Context::from_dwarf(Dwarf::load(load).ok()?).ok()?;
    let mut found = BTreeMap::new();
    for &address in addresses {
        let Ok(mut frames) = context.find_frames(address).skip_all_loads() else {
            continue;
        };
        let mut own = Vec::new();
        while let Ok(Some(frame)) = frames.next() {
            let function = frame
                .function
                .and_then(|of| Some(demangled(&of.raw_name().ok()?)));
            let place = frame.location;
            own.push(Frame {
                function,
                file: place.as_ref().and_then(|of| of.file).map(str::to_owned),
                line: place.and_then(|of| of.line),
                ..empty()
            });
            if own.len() == MOST_INLINED {
                break;
            }
        }
        found.insert(address, own);
    }
    Some(found)
}

fn uncompressed<'data>(section: &impl ObjectSection<'data>) -> Option<Cow<'data, [u8]>> {
    let data = section.compressed_data().ok()?;
    if data.format == CompressionFormat::None {
        return Some(Cow::Borrowed(data.data));
    }
    if data.uncompressed_size > MOST_DEBUG_BYTES {
        return None;
    }
    let mut bytes = Vec::new();
    let limit = data.uncompressed_size;
    match data.format {
        CompressionFormat::Zlib => {
            let reader = flate2::read::ZlibDecoder::new(data.data);
            reader.take(limit).read_to_end(&mut bytes).ok()?;
        }
        CompressionFormat::Zstandard => {
            let reader = zstd::Decoder::new(data.data).ok()?;
            reader.take(limit).read_to_end(&mut bytes).ok()?;
        }
        _ => return None,
    }
    Some(Cow::Owned(bytes))
}
