//! How a run or a watch stands, served as OpenMetrics while it goes on. What a finished run is as
//! OpenMetrics is `wakepath export`'s.

mod address;
mod connection;
mod server;
mod text;

pub use server::Listening;
