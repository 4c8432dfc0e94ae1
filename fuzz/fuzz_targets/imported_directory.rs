//! Bytes from anywhere as what each other tool writes: a part of a directory. A reader answers with cycles in
//! order, no more of them than there are bytes, or refuses in one printable line.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    wakepath_hostile_input::imported_directory(data);
});
