//! Which of a ring's numbers share a cache line: after a sleep each line that a loop touches is a wait for memory, so
//! what it touches in every cycle is together, and apart from what the recorder writes. It orders nothing.

use crate::{ring, said};
use std::sync::atomic::AtomicU32;

/// What a loop reads and writes whenever it says something. 128: the pairs of lines that x86 fetches together, and the
/// longer lines of some arm64 cores.
#[repr(C, align(128))]
#[derive(Debug, Default)]
pub(crate) struct LoopLine {
    pub(super) samples: ring::WriterSide,
    pub(super) said: said::WriterSide,
    /// As [`super::Words::generation`]: here too, so that a loop finds it where it writes.
    pub(crate) generation: AtomicU32,
    /// A bit for each section that runs: what a loop was in when its program ended.
    pub(crate) running_sections: AtomicU32,
}

const _: () =
    assert!(std::mem::offset_of!(LoopLine, running_sections) + size_of::<AtomicU32>() <= 64);

/// What the recorder writes when it has taken something, and a loop reads only where a ring seems full.
#[repr(C, align(128))]
#[derive(Debug, Default)]
pub(super) struct RecorderLine {
    pub(super) samples: ring::ReaderSide,
    pub(super) said: said::ReaderSide,
}
