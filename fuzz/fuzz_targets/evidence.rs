//! Bytes from anywhere as a seal, a trust file, a key or a certificate: no reader may panic, and nothing is verified
//! that was not signed.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    wakepath_hostile_input::evidence(data);
});
