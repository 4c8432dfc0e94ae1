//! State of a run or a watch under way, served as OpenMetrics. A finished run's OpenMetrics are
//! `wakepath export`'s.

mod address;
mod connection;
mod server;
mod text;

pub use server::Listening;
