//! Scenarios read, refused, written and described.

mod bad;
mod builtin;
mod files;
mod other_validators;
mod round_trip;
mod schema;
mod schema_agrees;
