//! Any text as the journal of applied settings: it is either refused with the number of an existing line,
//! or read; a journal that was read can be traversed in reverse as `revert` does.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| wakepath_hostile_input::journal(text));
