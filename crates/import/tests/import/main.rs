//! Files of other tools: real ones, and arbitrary bytes.

mod arbitrary;
mod perf;
