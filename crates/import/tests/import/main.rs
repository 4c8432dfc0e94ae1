//! Files of other tools: real ones, and arbitrary bytes.

mod arbitrary;
mod corpus;
mod hostile_metadata;
mod kernel_events;
mod one_trace;
mod perf;
mod ros2;
mod sessions;
