//! Any text as a file of /proc or /sys: a process may name itself as it likes, a driver its
//! interrupt. Nothing panics or takes memory beyond the text's own length.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| wakepath_hostile_input::kernel_files(text));
