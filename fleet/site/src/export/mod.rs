//! Exports of a fleet for other systems.

mod kcidb;
mod open_metrics;

pub use kcidb::kcidb;
pub use open_metrics::open_metrics;
