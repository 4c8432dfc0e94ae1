//! The section in which perf stores the kernel's descriptions of its events: `read_tracing_data` of the
//! kernel's `tools/perf/util/trace-event-info.c`, version 0.5 and 0.6.

use crate::bytes::Bytes;

const MAGIC: &[u8] = b"\x17\x08\x44tracing";

/// The subsystem and the `format` text of every event that was recorded; `None` where the section
/// is not laid out as perf does.
pub(super) fn formats<'a>(mut section: Bytes<'a>) -> Option<Vec<(&'a str, &'a str)>> {
    if section.take(MAGIC.len() as u64)? != MAGIC {
        return None;
    }
    let _version = section.text()?;
    let (is_big_endian, _long_bytes) = (section.u8()?, section.u8()?);
    if is_big_endian != 0 {
        return None;
    }
    let _page_bytes = section.u32()?;
    for part in ["header_page", "header_event"] {
        if section.text()? != part {
            return None;
        }
        let length = section.u64()?;
        section.take(length)?;
    }
    for _ in 0..section.u32()? {
        let length = section.u64()?;
        section.take(length)?;
    }
    let mut formats = Vec::new();
    for _ in 0..section.u32()? {
        let system = section.text()?;
        for _ in 0..section.u32()? {
            let length = section.u64()?;
            formats.push((system, std::str::from_utf8(section.take(length)?).ok()?));
        }
    }
    Some(formats)
}
