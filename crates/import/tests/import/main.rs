//! Files of other tools: real ones, and arbitrary bytes.

mod arbitrary;
mod kernel_events;
mod perf;
mod ros2;
