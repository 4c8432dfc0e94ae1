//! The process that takes samples out of shared memory and onto disk, at ordinary priority and away from the
//! loop, so that a stalling disk stalls no cycle. It starts no loop and judges nothing.
//!
//! It reads lines of JSON on its standard input ([`Command`]) and answers with lines of JSON on its standard
//! output ([`Reply`]). When its input ends without [`Command::End`], the measuring process has died: it stops
//! the loop, empties the rings and leaves a log that `wakepath recover` turns into a readable run.

mod doubted;
mod drain;
#[cfg(test)]
mod every_fault;
mod format;
mod live;
mod process;
mod protocol;
mod told;

pub use doubted::DoubtedDueTimes;
pub use format::formatted;
pub use live::{LiveFigures, LivePlace, LiveTally, LiveThread, WITHIN_NS};
pub use process::run;
pub use protocol::{Command, Reply, SegmentRings};
