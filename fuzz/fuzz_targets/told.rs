//! Arbitrary bytes as a loop's log, in its file and in the ring that its program writes: no reader panics
//! or allocates without bound, and its output is in order.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    wakepath_hostile_input::told(data);
});
