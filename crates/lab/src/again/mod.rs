//! A run repeated with the emulator's plugin attached, so that the instructions of its latencies can
//! be had. What they are is told by the folder `window`.

// The plugin is compiled by itself; what it decides by bytes is tested here.
#[cfg(test)]
#[path = "../../plugin/flow.rs"]
mod flow;
mod kept_symbols;
mod line;
mod plugin;

pub use kept_symbols::{KALLSYMS, keep_symbols, kept_symbols};
pub use line::{Kept, attend};
pub use plugin::Plugin;
