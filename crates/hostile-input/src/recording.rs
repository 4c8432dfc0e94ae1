//! Any bytes as a log and as a manifest.
//!
//! Neither reader may panic, loop or allocate without bound, and the log reader must account for
//! every byte.

use std::io::Cursor;
use std::path::Path;

use wakepath_archive::{FORMAT_VERSION, LogReader, Manifest};

/// Reads `data` as a manifest, as a log, and as the blocks of a log.
///
/// # Panics
/// If a reader violates its properties.
pub fn recording(data: &[u8]) {
    let _ = Manifest::from_bytes(data, Path::new("manifest.json"));
    read_log(data);
    // With a valid header in front, so that the blocks are reached at once.
    let mut log = b"WAKELOG\n".to_vec();
    log.extend(FORMAT_VERSION.to_le_bytes());
    let crc = crc32fast::hash(&log);
    log.extend(crc.to_le_bytes());
    log.extend(data);
    read_log(&log);
}

fn read_log(bytes: &[u8]) {
    let Ok(mut log) = LogReader::new(Cursor::new(bytes), Path::new("samples.log")) else {
        return;
    };
    let mut next = 16;
    while let Some(block) = log.next_block().expect("a cursor has no I/O errors") {
        assert!(block.offset >= next, "a block overlaps the one before");
        next = block.offset + 24;
    }
    let damage = log.damage();
    assert!(
        damage
            .gaps
            .iter()
            .all(|gap| gap.offset + gap.bytes <= bytes.len() as u64)
    );
    if let Some(tail) = damage.tail {
        assert_eq!(tail.offset + tail.bytes, bytes.len() as u64);
    }
}
