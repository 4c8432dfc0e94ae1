//! What other systems read of a fleet.

mod kcidb;
mod open_metrics;

pub use kcidb::kcidb;
pub use open_metrics::open_metrics;
