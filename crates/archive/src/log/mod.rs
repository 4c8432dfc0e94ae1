//! The append-only log: the single source of truth while a run is being recorded. It knows blocks,
//! events and samples, and nothing about Parquet or the manifest.

pub(crate) mod block;
mod damage;
mod reader;
mod reserve;
mod writer;

pub use damage::{Damage, Gap, Tail, TailKind};
pub use reader::{Block, Content, LogReader};
pub(crate) use reserve::RESERVE_NAME;
pub(crate) use writer::LOG_ANEW;
pub use writer::LogWriter;

/// Name of the log in a run directory.
pub const LOG_NAME: &str = "samples.log";
