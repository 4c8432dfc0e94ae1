//! The container that `perf record` writes: header, the events' attributes, records, and sections
//! about the machine. As in the kernel's `tools/perf/Documentation/perf.data-file-format.txt`.

use super::sample::Layout;
use crate::ImportError;
use crate::bytes::Bytes;

const MAGIC: &[u8; 8] = b"PERFILE2";
/// The header of a file that was written to a pipe has no more than magic and size.
const PIPE_HEADER: u64 = 16;
/// Bits of the features, from `tools/perf/util/header.h`.
const TRACING_DATA: u32 = 1;
const RELEASE: u32 = 4;
const VERSION: u32 = 5;
const COMMAND_LINE: u32 = 11;

/// A file's parts.
pub(super) struct File<'a> {
    /// How the samples of each event are laid out, with the numbers that name the event.
    pub(super) layouts: Vec<(Layout, Vec<u64>)>,
    /// Records one after the other.
    pub(super) records: Bytes<'a>,
    /// The kernel's descriptions of its formats.
    pub(super) tracing: Option<Bytes<'a>>,
    /// Release of the kernel.
    pub(super) kernel: Option<String>,
    /// Version of perf.
    pub(super) version: Option<String>,
    /// Its command line.
    pub(super) command: Vec<String>,
}

impl<'a> File<'a> {
    pub(super) fn parse(file: &'a [u8]) -> Result<Self, ImportError> {
        let mut reversed = *MAGIC;
        reversed.reverse();
        if file.starts_with(&reversed) {
            let why = "written on a machine of the other byte order, which is not supported";
            return Err(ImportError::whole(why));
        }
        let cut = || ImportError::whole("truncated: its sections extend past its end");
        let mut head = Bytes(file);
        if head.take(8) != Some(MAGIC) {
            let why = "does not begin with PERFILE2, as `perf record -o FILE` writes";
            return Err(ImportError::whole(why));
        }
        let size = head.u64().ok_or_else(cut)?;
        if size == PIPE_HEADER {
            return Err(ImportError::whole(
                "perf's form for pipes: write a file with `perf record -o FILE`, or make one \
                 with `perf inject -i PIPE -o FILE`",
            ));
        }
        let attribute_size = head.u64().ok_or_else(cut)?;
        let mut pair = || Some((head.u64()?, head.u64()?));
        let attributes = pair().ok_or_else(cut)?;
        let data = pair().ok_or_else(cut)?;
        let _event_types = pair().ok_or_else(cut)?;
        let features: Vec<u64> = (0..4)
            .map(|_| head.u64())
            .collect::<Option<_>>()
            .ok_or_else(cut)?;
        if data.1 == 0 {
            let why = "holds no records: perf was killed before it ended";
            return Err(ImportError::whole(why));
        }
        let after_data = data.0.checked_add(data.1).ok_or_else(cut)?;
        let is_whole = |bit: u32| feature(file, after_data, &features, bit).is_some();
        let is_set = |bit: &u32| features[*bit as usize / 64] >> (bit % 64) & 1 == 1;
        if !(0..256).filter(is_set).all(is_whole) {
            return Err(cut());
        }
        let feature = |bit: u32| feature(file, after_data, &features, bit);
        let text = |bit| feature(bit).and_then(|mut section| string(&mut section));
        Ok(Self {
            layouts: layouts(file, attributes, attribute_size).ok_or_else(cut)?,
            records: Bytes::section(file, data.0, data.1).ok_or_else(cut)?,
            tracing: feature(TRACING_DATA),
            kernel: text(RELEASE),
            version: text(VERSION),
            command: feature(COMMAND_LINE).and_then(strings).unwrap_or_default(),
        })
    }
}

fn layouts(file: &[u8], (offset, size): (u64, u64), entry: u64) -> Option<Vec<(Layout, Vec<u64>)>> {
    let mut entries = Bytes::section(file, offset, size)?;
    let mut layouts = Vec::new();
    while !entries.0.is_empty() {
        let mut attribute = Bytes(entries.take(entry.max(1))?);
        let mut numbers = Bytes(attribute.take(entry.checked_sub(16)?)?);
        let numbers_at = (attribute.u64()?, attribute.u64()?);
        let layout = Layout::of_attribute(&mut numbers)?;
        let mut numbers = Bytes::section(file, numbers_at.0, numbers_at.1)?;
        layouts.push((layout, std::iter::from_fn(move || numbers.u64()).collect()));
    }
    Some(layouts)
}

/// The section of a feature: after the records there is where each lies, for each set bit in order.
fn feature<'a>(file: &'a [u8], table: u64, features: &[u64], bit: u32) -> Option<Bytes<'a>> {
    let has = |bit: u32| features[bit as usize / 64] >> (bit % 64) & 1 == 1;
    if !has(bit) {
        return None;
    }
    let before = (0..bit).filter(|&other| has(other)).count() as u64;
    let mut entry = Bytes::section(file, table.checked_add(16 * before)?, 16)?;
    Bytes::section(file, entry.u64()?, entry.u64()?)
}

/// A length that counts the padding, and a text that ends with a NUL.
fn string(section: &mut Bytes<'_>) -> Option<String> {
    let length = section.u32()?;
    let text = Bytes(section.take(length.into())?).text()?;
    Some(text.to_owned())
}

fn strings(mut section: Bytes<'_>) -> Option<Vec<String>> {
    let count = section.u32()?;
    (0..count).map(|_| string(&mut section)).collect()
}
