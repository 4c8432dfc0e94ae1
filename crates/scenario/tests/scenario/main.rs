//! Scenarios read, refused, written and described.

mod any_load;
mod any_work;
mod bad;
mod builtin;
mod files;
mod other_validators;
mod round_trip;
mod schema;
mod schema_agrees;
