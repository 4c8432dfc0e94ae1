//! Any text as a scenario file: reading neither panics nor takes unbounded time or memory; each refusal is
//! a single printable line; an accepted scenario is written and read back to the same.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| wakepath_hostile_input::scenario(text));
