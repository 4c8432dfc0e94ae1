//! Assigns a ring's numbers to cache lines.
//!
//! After a sleep each line that a loop touches is a wait for memory. So the data for every cycle is
//! together, and apart from what the recorder writes. It doesn't order accesses.

use crate::{ring, said};
use std::sync::atomic::AtomicU32;

/// Data that a loop accesses for each telemetry record. 128: the pairs of lines that x86 fetches
/// together, and the longer lines of some arm64 cores.
#[repr(C, align(128))]
#[derive(Debug, Default)]
pub(crate) struct LoopLine {
    pub(super) samples: ring::WriterSide,
    pub(super) said: said::WriterSide,
    /// As [`super::Words::generation`], repeated in the line that the loop writes.
    pub(crate) generation: AtomicU32,
    /// A bit for each running section: where a loop was when its program ended.
    pub(crate) running_sections: AtomicU32,
}

const _: () =
    assert!(std::mem::offset_of!(LoopLine, running_sections) + size_of::<AtomicU32>() <= 64);

/// Data that the recorder writes after taking samples, and a loop reads only if a ring seems full.
#[repr(C, align(128))]
#[derive(Debug, Default)]
pub(super) struct RecorderLine {
    pub(super) samples: ring::ReaderSide,
    pub(super) said: said::ReaderSide,
}
