//! Reads the emulator's fw_cfg device by its ports (QEMU, docs/specs/fw_cfg.rst).
#![allow(unsafe_code)] // Port instructions have no wrapper.

use std::arch::asm;
use std::io;

/// Port that selects an item, with 16 bits; the next one reads its bytes.
const SELECT: u16 = 0x510;
const DATA: u16 = 0x511;
/// The item that lists the files.
const LIST: u16 = 0x19;
/// Bytes of an entry of the list, and where its name begins.
const ENTRY: usize = 64;
const NAME_AT: usize = 8;
/// The longest text of programs.
const MOST: usize = 1 << 24;

/// Allows this process to use the two ports.
pub(super) fn open() -> io::Result<()> {
    // SAFETY: it changes which ports this process may use, and nothing in its memory.
    match unsafe { libc::ioperm(SELECT.into(), 2, 1) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Writes bytes to a port, one after the other.
pub(super) fn write(port: u16, bytes: &[u8]) -> io::Result<()> {
    // SAFETY: as in `open`.
    if unsafe { libc::ioperm(port.into(), 1, 1) } != 0 {
        return Err(io::Error::last_os_error());
    }
    for byte in bytes {
        // SAFETY: the port is allowed now; memory stays as it is.
        unsafe { asm!("out dx, al", in("dx") port, in("al") *byte, options(nomem, nostack)) }
    }
    Ok(())
}

fn select(key: u16) {
    // SAFETY: `open` has allowed the port; the device takes the number, and memory stays as it is.
    unsafe { asm!("out dx, ax", in("dx") SELECT, in("ax") key, options(nomem, nostack)) }
}

fn read(bytes: &mut [u8]) {
    for byte in bytes {
        // SAFETY: `open` has allowed the port; the byte comes in a register.
        unsafe { asm!("in al, dx", in("dx") DATA, out("al") *byte, options(nomem, nostack)) }
    }
}

/// The key of a file.
pub(super) fn key(name: &str) -> Option<u16> {
    select(LIST);
    let mut count = [0; 4];
    read(&mut count);
    for _ in 0..u32::from_be_bytes(count).min(1024) {
        let mut entry = [0; ENTRY];
        read(&mut entry);
        let text = entry[NAME_AT..].split(|byte| *byte == 0).next()?;
        if text == name.as_bytes() {
            return Some(u16::from_be_bytes([entry[4], entry[5]]));
        }
    }
    None
}

/// The text of a file that begins with its length in eight digits; none if the digits are spaces.
pub(super) fn text(key: u16) -> Option<String> {
    select(key);
    let mut digits = [0; 8];
    read(&mut digits);
    let length: usize = std::str::from_utf8(&digits).ok()?.trim().parse().ok()?;
    let mut text = vec![0; length.min(MOST)];
    read(&mut text);
    String::from_utf8(text).ok()
}
