//! Any bytes as a loop's telemetry.
//!
//! As a segment's file, as blocks of one, as the records of a block, and as words of the ring that
//! the program writes. No reader may panic or allocate without bound, and its output is in order.

use std::path::Path;

use wakepath_archive::{FORMAT_VERSION, SegmentTold};
use wakepath_rt::said::{Said, Told};

/// Kind of a block of them: see docs/reference/archive.md.
const KIND_TOLD: u8 = 5;

/// Reads `data` as each of them; returns whether it was a valid file.
///
/// # Panics
/// If a reader violates its properties.
pub fn told(data: &[u8]) -> bool {
    let is_file = file(data);
    let mut with_header = header();
    with_header.extend(data);
    file(&with_header);
    file(&in_a_block(data));
    words(data);
    is_file
}

fn file(bytes: &[u8]) -> bool {
    let Ok(told) = SegmentTold::from_bytes(bytes, Path::new("segment-0.told")) else {
        return false;
    };
    for thread in told.threads.values() {
        assert!(thread.spans.len() + thread.dues.len() <= bytes.len());
        assert!(thread.names.len() <= 32, "{} names", thread.names.len());
        assert!(
            !thread
                .names
                .iter()
                .any(|name| name.contains(char::is_control)),
            "a name that steers a terminal"
        );
        assert!(thread.spans.is_sorted_by_key(|span| span.cycle));
        assert!(thread.dues.is_sorted_by(|a, b| a.0 < b.0));
        for span in &thread.spans {
            assert!(span.to_ns >= span.from_ns);
            assert!(thread.spans_of(span.cycle).contains(span));
        }
        for &(cycle, due_ns) in &thread.dues {
            assert_eq!(thread.due_ns(cycle), Some(due_ns));
        }
    }
    true
}

fn header() -> Vec<u8> {
    let mut bytes = b"WAKETLD\n".to_vec();
    bytes.extend(FORMAT_VERSION.to_le_bytes());
    let crc = crc32fast::hash(&bytes);
    bytes.extend(crc.to_le_bytes());
    bytes
}

/// A whole file with these records, so that no check sum keeps them from being read.
fn in_a_block(records: &[u8]) -> Vec<u8> {
    let mut bytes = header();
    let length = u32::try_from(records.len())
        .unwrap_or(u32::MAX)
        .to_le_bytes();
    let sequence = 0_u64.to_le_bytes();
    let mut crc = crc32fast::Hasher::new();
    for part in [&[KIND_TOLD, 0, 0, 0][..], &length, &sequence, records] {
        crc.update(part);
    }
    bytes.extend([0xb7, b'W', b'K', 0x9e, KIND_TOLD, 0, 0, 0]);
    bytes.extend(length);
    bytes.extend(crc.finalize().to_le_bytes());
    bytes.extend(sequence);
    bytes.extend(records);
    bytes
}

fn words(data: &[u8]) {
    let words: Vec<u64> = data
        .chunks_exact(8)
        .map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")))
        .collect();
    for from in 0..words.len().min(64) {
        let record = &words[from..words.len().min(from + wakepath_rt::said::MOST_WORDS)];
        if let Some(Said::Line { arguments, .. }) = Said::new(record) {
            assert!(arguments.len() <= wakepath_rt::said::MOST_ARGUMENTS);
            for argument in &arguments {
                if let Told::Text(text) = argument {
                    // Each invalid byte becomes a character of three bytes.
                    assert!(text.len() <= 3 * wakepath_rt::said::TEXT_BYTES);
                }
            }
        }
    }
}
