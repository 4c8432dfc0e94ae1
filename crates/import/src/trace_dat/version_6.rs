//! Where the parts of a `trace.dat` of version 6 lie: one after the other, as trace-cmd.dat.v6(5)
//! says.

use super::contents::{Contents, Told, cut};
use crate::ImportError;
use crate::bytes::Bytes;
use std::borrow::Cow;

const DONE: u16 = 0;
const BUFFER: u16 = 3;
/// Length of the words that say what follows, their NUL included.
const KIND: u64 = 10;

pub(super) fn contents<'a>(
    file: &'a [u8],
    mut rest: Bytes<'a>,
    page_bytes: u32,
) -> Result<Contents<'a>, ImportError> {
    let parts = parts(&mut rest).ok_or_else(cut)?;
    let count = rest.u32().ok_or_else(cut)?;
    let mut told = Told::default();
    let mut instances = Vec::new();
    let mut kind = rest.take(KIND).ok_or_else(cut)?;
    if kind.starts_with(b"options") {
        options(&mut rest, &mut told, &mut instances).ok_or_else(cut)?;
        kind = rest.take(KIND).ok_or_else(cut)?;
    }
    if !kind.starts_with(b"flyrecord") {
        let why = "holds a latency tracer's text: record events with `trace-cmd record`";
        return Err(ImportError::whole(why));
    }
    let count = told.cpus.unwrap_or(count);
    let mut cpus = of_cpus(file, &mut rest, count).ok_or_else(cut)?;
    if cpus.is_empty() {
        // The recording of an instance is stored separately.
        for (at, instance_cpus) in instances {
            let mut rest = Bytes::section(file, at, file.len() as u64 - at.min(file.len() as u64))
                .ok_or_else(cut)?;
            let kind = rest.take(KIND).ok_or_else(cut)?;
            if kind.starts_with(b"flyrecord") && cpus.is_empty() {
                cpus = of_cpus(file, &mut rest, instance_cpus.unwrap_or(count)).ok_or_else(cut)?;
            }
        }
    }
    let (headers, formats, symbols) = parts;
    Ok(Contents {
        page_bytes,
        headers: Cow::Borrowed(headers),
        formats: Cow::Borrowed(formats),
        symbols: Cow::Borrowed(symbols),
        clock: told.clock,
        kernel: told.kernel,
        version: told.version,
        cpus,
    })
}

/// Headers, formats and symbols.
fn parts<'a>(rest: &mut Bytes<'a>) -> Option<(&'a [u8], &'a [u8], &'a [u8])> {
    let before = rest.0;
    for _ in 0..2 {
        rest.text()?;
        let length = rest.u64()?;
        rest.take(length)?;
    }
    let headers = &before[..before.len() - rest.0.len()];
    for _ in 0..rest.u32()? {
        let length = rest.u64()?;
        rest.take(length)?;
    }
    let before = rest.0;
    for _ in 0..rest.u32()? {
        rest.text()?;
        for _ in 0..rest.u32()? {
            let length = rest.u64()?;
            rest.take(length)?;
        }
    }
    let formats = &before[..before.len() - rest.0.len()];
    let length = rest.u32()?;
    let symbols = rest.take(length.into())?;
    let printk = rest.u32()?;
    rest.take(printk.into())?;
    let names = rest.u64()?;
    rest.take(names)?;
    Some((headers, formats, symbols))
}

/// Options up to the last; where instances' pages lie is added to `instances`.
fn options(
    rest: &mut Bytes<'_>,
    told: &mut Told,
    instances: &mut Vec<(u64, Option<u32>)>,
) -> Option<()> {
    loop {
        let id = rest.u16()?;
        if id == DONE {
            return Some(());
        }
        let length = rest.u32()?;
        let data = Bytes(rest.take(length.into())?);
        match id {
            BUFFER => {
                let mut data = data;
                let at = data.u64()?;
                let _name = data.text()?;
                instances.push((at, None));
            }
            other => told.take(other, data),
        }
    }
}

/// Pages of each CPU that has some.
fn of_cpus<'a>(
    file: &'a [u8],
    rest: &mut Bytes<'_>,
    count: u32,
) -> Option<Vec<(u16, Cow<'a, [u8]>)>> {
    let mut cpus = Vec::new();
    for cpu in 0..u16::try_from(count).ok()? {
        let (at, length) = (rest.u64()?, rest.u64()?);
        if length > 0 {
            cpus.push((cpu, Cow::Borrowed(Bytes::section(file, at, length)?.0)));
        }
    }
    Some(cpus)
}
