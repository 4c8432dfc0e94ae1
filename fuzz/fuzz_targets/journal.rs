//! Any text as the journal of applied settings: it is refused with the number of a line that is there,
//! or read; what is read can be gone through in reverse as `revert` does.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| wakepath_hostile_input::journal(text));
