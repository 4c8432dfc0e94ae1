//! Where the parts of a `trace.dat` of version 7 lie: in sections that options name, packed or not,
//! as trace-cmd.dat.v7(5) says.

use super::contents::{Contents, Told, cut, unpacked};
use crate::ImportError;
use crate::bytes::Bytes;
use std::borrow::Cow;

/// Options, and the sections that some of them name.
const DONE: u16 = 0;
const BUFFER: u16 = 3;
const HEADER_INFO: u16 = 16;
const EVENT_FORMATS: u16 = 18;
const SYMBOLS: u16 = 19;
/// A section's flag.
const PACKED: u16 = 1;
/// A chain of option sections is no longer.
const MOST_OPTION_SECTIONS: usize = 64;

pub(super) fn contents<'a>(
    file: &'a [u8],
    mut rest: Bytes<'a>,
    page_bytes: u32,
) -> Result<Contents<'a>, ImportError> {
    let packing = rest.text().ok_or_else(cut)?;
    let _version = rest.text().ok_or_else(cut)?;
    let mut reader = Reader {
        file,
        packing,
        unpacked: 0,
    };
    let first = rest.u64().ok_or_else(cut)?;
    let found = reader.options(first)?;
    let mut section = |id: u16| {
        let at = found.sections.iter().find(|(known, _)| *known == id);
        at.map(|(_, at)| reader.section(id, *at)).transpose()
    };
    let headers = section(HEADER_INFO)?.ok_or_else(cut)?;
    let formats = section(EVENT_FORMATS)?.ok_or_else(cut)?;
    let symbols = section(SYMBOLS)?.unwrap_or_default();
    let symbols = match symbols.split_first_chunk::<4>() {
        Some((_, text)) => text.to_vec(),
        None => Vec::new(),
    };
    let Some(buffer) = found.buffers.iter().find(|buffer| !buffer.cpus.is_empty()) else {
        return Err(ImportError::whole("holds no events of any CPU"));
    };
    let mut cpus = Vec::new();
    for (cpu, at, length) in &buffer.cpus {
        cpus.push((*cpu, reader.pages(buffer.at, *at, *length)?));
    }
    Ok(Contents {
        page_bytes: match buffer.page_bytes {
            0 => page_bytes,
            own if super::PAGE_BYTES.contains(&own) => own,
            _ => return Err(cut()),
        },
        headers,
        formats,
        symbols: Cow::Owned(symbols),
        clock: buffer.clock.clone().or(found.told.clock),
        kernel: found.told.kernel,
        version: found.told.version,
        cpus,
    })
}

struct Reader<'a> {
    file: &'a [u8],
    packing: &'a str,
    /// How many bytes were unpacked so far.
    unpacked: u64,
}

#[derive(Default)]
struct Found {
    told: Told,
    sections: Vec<(u16, u64)>,
    buffers: Vec<Buffer>,
}

/// The pages of one instance.
struct Buffer {
    /// Where its section begins.
    at: u64,
    clock: Option<String>,
    page_bytes: u32,
    /// CPU, where its pages lie, how many bytes.
    cpus: Vec<(u16, u64, u64)>,
}

impl<'a> Reader<'a> {
    fn options(&mut self, first: u64) -> Result<Found, ImportError> {
        let mut found = Found::default();
        let mut next = first;
        for _ in 0..MOST_OPTION_SECTIONS {
            let section = self.section(DONE, next)?;
            let mut rest = Bytes(&section);
            next = loop {
                let id = rest.u16().ok_or_else(cut)?;
                let length = rest.u32().ok_or_else(cut)?;
                let mut data = Bytes(rest.take(length.into()).ok_or_else(cut)?);
                match id {
                    DONE => break data.u64().ok_or_else(cut)?,
                    BUFFER => found.buffers.push(buffer(data).ok_or_else(cut)?),
                    HEADER_INFO | EVENT_FORMATS | SYMBOLS => {
                        found.sections.push((id, data.u64().ok_or_else(cut)?));
                    }
                    other => found.told.take(other, data),
                }
            };
            if next == 0 {
                return Ok(found);
            }
        }
        let why = "its options have no end: trace-cmd did not write them";
        Err(ImportError::whole(why))
    }

    /// A section's head, whether it is packed, and what follows.
    fn head(&self, id: u16, at: u64) -> Option<(bool, Bytes<'a>)> {
        let start = usize::try_from(at).ok()?;
        let mut rest = Bytes(self.file.get(start..)?);
        let (own, flags, _about, length) = (rest.u16()?, rest.u16()?, rest.u32()?, rest.u64()?);
        let body = Bytes(rest.take(length)?);
        (own == id).then_some((flags & PACKED != 0, body))
    }

    fn section(&mut self, id: u16, at: u64) -> Result<Cow<'a, [u8]>, ImportError> {
        let (packed, mut body) = self.head(id, at).ok_or_else(cut)?;
        if !packed {
            return Ok(Cow::Borrowed(body.0));
        }
        self.piece(&mut body).map(Cow::Owned)
    }

    /// The pages of one CPU.
    fn pages(&mut self, section: u64, at: u64, length: u64) -> Result<Cow<'a, [u8]>, ImportError> {
        let (packed, _) = self.head(BUFFER, section).ok_or_else(cut)?;
        if !packed {
            let pages = Bytes::section(self.file, at, length).ok_or_else(cut)?;
            return Ok(Cow::Borrowed(pages.0));
        }
        // The length does not count the number of pieces that stands before them.
        let mut rest = length
            .checked_add(4)
            .and_then(|length| Bytes::section(self.file, at, length))
            .ok_or_else(cut)?;
        let mut pages = Vec::new();
        for _ in 0..rest.u32().ok_or_else(cut)? {
            pages.extend(self.piece(&mut rest)?);
        }
        Ok(Cow::Owned(pages))
    }

    /// One packed piece, which says how long it is.
    fn piece(&mut self, rest: &mut Bytes<'_>) -> Result<Vec<u8>, ImportError> {
        if self.packing != "zstd" {
            let why = format!(
                "packed with {:?}; zstd is known: make one with `trace-cmd convert --compression \
                 zstd`",
                self.packing
            );
            return Err(ImportError::whole(why));
        }
        let (packed, length) = (rest.u32(), rest.u32());
        let (packed, length) = packed.zip(length).ok_or_else(cut)?;
        let packed = rest.take(packed.into()).ok_or_else(cut)?;
        unpacked(packed, length, &mut self.unpacked).ok_or_else(|| {
            ImportError::whole("a packed section can't be unpacked: changed or truncated")
        })
    }
}

fn buffer(mut data: Bytes<'_>) -> Option<Buffer> {
    let at = data.u64()?;
    let _name = data.text()?;
    let clock = data.text()?;
    let page_bytes = data.u32()?;
    let mut cpus = Vec::new();
    for _ in 0..data.u32()? {
        let (cpu, at, length) = (data.u32()?, data.u64()?, data.u64()?);
        if length > 0 {
            cpus.push((u16::try_from(cpu).ok()?, at, length));
        }
    }
    Some(Buffer {
        at,
        clock: (!clock.is_empty()).then(|| clock.to_owned()),
        page_bytes,
        cpus,
    })
}
