//! In the guest: random numbers for a kernel that has too few at boot.
//!
//! Such a kernel (before 5.4) makes programs wait, possibly forever, because nothing happens in a
//! guest. The numbers follow from the guest's seed; a kernel with enough gets none.
#![allow(unsafe_code)] // The one request that counts what it is given has no wrapper in rustix.

use super::InsideError;
use crate::digest::sha256_hex;
use rustix::io::Errno;
use rustix::ioctl::{self, Setter, opcode};
use rustix::rand::{GetRandomFlags, getrandom};
use std::fs::File;

const DEVICE: &str = "/dev/random";
/// Digits of a SHA-256.
const BYTES: usize = 64;

/// `rand_pool_info` of random(4).
#[repr(C)]
struct Given {
    /// Bits that they count as.
    bits: i32,
    length: i32,
    bytes: [u8; BYTES],
}

/// RNDADDENTROPY: `_IOW('R', 0x03, int[2])`.
const ADD: ioctl::Opcode = opcode::write::<[i32; 2]>(b'R', 3);

/// Adds them if the kernel has too few.
pub(super) fn give_enough(seed: u64) -> Result<(), InsideError> {
    let answer = getrandom(&mut [0_u8; 1], GetRandomFlags::NONBLOCK);
    if answer != Err(Errno::AGAIN) {
        return Ok(());
    }
    let digits = sha256_hex(format!("wakepath-lab {seed}").as_bytes());
    let mut bytes = [0; BYTES];
    bytes.copy_from_slice(digits.as_bytes());
    let given = Given {
        // Four bits each digit.
        bits: 4 * BYTES as i32,
        length: BYTES as i32,
        bytes,
    };
    let failed = |error: std::io::Error| InsideError::at(DEVICE, error);
    let device = File::options().write(true).open(DEVICE).map_err(failed)?;
    // SAFETY: the request reads a `rand_pool_info` followed by the number of bytes it names
    // (random(4)), which is the layout of `Given`; it writes nothing there.
    let added = unsafe { ioctl::ioctl(&device, Setter::<ADD, Given>::new(given)) };
    added.map_err(|error| failed(error.into()))
}
