//! A run in other tools' forms. JSON is the assessment's own; Parquet is the archive itself.

mod csv;
mod junit;
mod markdown;
mod mcap;
mod mcap_writer;
mod open_metrics;
mod timelines;

pub use csv::{CsvError, csv};
pub use junit::junit;
pub use markdown::markdown;
pub use mcap::{McapExportError, mcap};
pub use open_metrics::open_metrics;
pub use timelines::Timelines;
