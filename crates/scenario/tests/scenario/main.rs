//! Scenarios read, refused, written and described.

mod bad;
mod builtin;
mod files;
mod round_trip;
mod schema;
mod schema_agrees;
