//! The code that a process has in memory, out of the text of `/proc/PID/maps`. Pure.

use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// A stretch of memory with code in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub(crate) addresses: Range<u64>,
    /// Its offset in its file.
    pub(crate) offset: u64,
    /// Its file as the process sees it, deleted or not, or [`VDSO`]; `None` for what the program made itself.
    pub(crate) file: Option<PathBuf>,
}

/// The kernel's functions that every process has in memory, such as `clock_gettime`.
pub(crate) const VDSO: &str = "[vdso]";

/// All stretches with code, in the order of their addresses.
pub(crate) fn parse(maps: &[u8]) -> Vec<Mapping> {
    maps.split(|&byte| byte == b'\n').filter_map(line).collect()
}

/// `55d0…-55d1… r-xp 00001000 fd:00 1234    /usr/bin/robot (deleted)`
fn line(line: &[u8]) -> Option<Mapping> {
    let mut words = line.splitn(6, |&byte| byte == b' ');
    let mut word = || std::str::from_utf8(words.next()?).ok();
    let hexadecimal = |text: &str| u64::from_str_radix(text, 16).ok();
    let (from, to) = word()?.split_once('-')?;
    let is_code = word()?.as_bytes().get(2) == Some(&b'x');
    let offset = hexadecimal(word()?)?;
    let (_device, inode) = (word()?, word()?);
    let is_file = inode.trim() != "0";
    let path = words.next().unwrap_or_default().trim_ascii_start();
    let path = path.strip_suffix(b" (deleted)").unwrap_or(path);
    let mapping = Mapping {
        addresses: hexadecimal(from)?..hexadecimal(to)?,
        offset,
        file: ((is_file && path.starts_with(b"/")) || path == VDSO.as_bytes())
            .then(|| OsStr::from_bytes(path).into()),
    };
    // The kernel's page of vsyscalls is not to be read.
    let is_special = path.starts_with(b"[v") && path != VDSO.as_bytes();
    (is_code && !is_special && !mapping.addresses.is_empty()).then_some(mapping)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_found_with_its_file_and_without_one() {
        let text = "\
55d000000000-55d000001000 r--p 00000000 fd:00 12                         /usr/bin/my robot\n\
55d000001000-55d000003000 r-xp 00001000 fd:00 12                         /usr/bin/my robot (deleted)\n\
7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n\
7f0000002000-7f0000003000 rw-p 00000000 00:00 0                          [heap]\n\
7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0                          [vdso]\n\
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n\
nonsense\n";
        let found = parse(text.as_bytes());
        assert_eq!(found.len(), 3, "{found:?}");
        assert_eq!(found[0].addresses, 0x55d0_0000_1000..0x55d0_0000_3000);
        assert_eq!(found[0].offset, 0x1000);
        assert_eq!(found[0].file, Some("/usr/bin/my robot".into()));
        assert_eq!(found[1].file, None);
        assert_eq!(found[2].file, Some(VDSO.into()));
    }
}
