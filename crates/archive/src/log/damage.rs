//! Unreadable parts of a log, with texts for the manifest.
//!
//! The reader finds them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Unreadable parts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Damage {
    /// Holes with readable blocks after them.
    pub gaps: Vec<Gap>,
    /// Bytes after the last readable block.
    pub tail: Option<Tail>,
}

impl Damage {
    /// Whether a readable block follows unreadable bytes, or the end is more than an incomplete
    /// block.
    pub fn is_corruption(&self) -> bool {
        !self.gaps.is_empty() || self.tail.is_some_and(|tail| tail.kind == TailKind::Damaged)
    }
}

/// A hole in the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// First unreadable byte.
    pub offset: u64,
    /// Number of unreadable bytes.
    pub bytes: u64,
    /// Number of the first block that is missing.
    pub first_lost_block: u64,
    /// Number of missing blocks.
    pub lost_blocks: u64,
    /// The fault of the first unreadable block.
    pub why: String,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            offset,
            bytes,
            first_lost_block,
            lost_blocks,
            why,
        } = self;
        write!(
            f,
            "{bytes} bytes at offset {offset} can't be read ({why}): "
        )?;
        match lost_blocks {
            0 => write!(f, "no block is missing"),
            1 => write!(f, "block {first_lost_block} is lost"),
            _ => write!(
                f,
                "blocks {first_lost_block} to {} are lost",
                first_lost_block + lost_blocks - 1
            ),
        }
    }
}

/// The unreadable end of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tail {
    /// First unreadable byte.
    pub offset: u64,
    /// Number of bytes to the end of the file.
    pub bytes: u64,
    /// Its kind.
    pub kind: TailKind,
}

impl fmt::Display for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            TailKind::Torn => "a block that was being written",
            TailKind::Zeros => "zeros: the file had grown, but its data had not reached the disk",
            TailKind::Damaged => "damaged",
        };
        write!(
            f,
            "the last {} bytes, from offset {}: {what}",
            self.bytes, self.offset
        )
    }
}

/// Kinds of unreadable ends of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TailKind {
    /// An incomplete block: its writer was stopped. No complete block is missing.
    Torn,
    /// Zeros, as a power cut leaves them.
    Zeros,
    /// Neither: at least one block was altered.
    Damaged,
}
