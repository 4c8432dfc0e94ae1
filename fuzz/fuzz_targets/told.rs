//! Bytes from anywhere as what a loop said beside its samples, in its file and in the ring that its program writes: no
//! reader may panic or allocate without bound, and what it gives is in order.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    wakepath_hostile_input::told(data);
});
