//! A run repeated with the emulator's plugin attached, so that the instructions of its latencies can
//! be had. What they are is told by `wakepath-window`.

// The plugin is compiled by itself; what it decides by bytes is tested here.
#[cfg(test)]
#[path = "../../plugin/flow.rs"]
mod flow;
mod line;
mod plugin;
mod symbols;

pub use line::{Kept, attend};
pub use plugin::Plugin;
pub use symbols::{KALLSYMS, keep_symbols, kept_symbols};
