//! Bytes from anywhere as a log and as a manifest: neither reader may panic, loop or allocate
//! without bound, and what the log reader gives must account for every byte.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| wakepath_hostile_input::recording(data));
