//! The name of a thread: at most 15 bytes, as the kernel keeps it, without an allocation.

use std::fmt;

/// Name of a thread, as in `/proc/PID/comm`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct ThreadName([u8; 16]);

impl ThreadName {
    /// The name up to its first NUL, cut after 15 bytes as the kernel does.
    pub fn new(name: &[u8]) -> Self {
        let mut kept = [0; 16];
        let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
        let length = name.len().min(15);
        kept[..length].copy_from_slice(&name[..length]);
        Self(kept)
    }

    /// Its bytes without the NULs: no promise of UTF-8, nor of being harmless in markup.
    pub fn bytes(&self) -> &[u8] {
        let end = self.0.iter().position(|&byte| byte == 0).unwrap_or(15);
        &self.0[..end]
    }
}

/// Readable: invalid UTF-8 and unprintable characters become replacement characters.
impl fmt::Display for ThreadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&crate::one_line(&crate::decoded(self.bytes())))
    }
}

impl fmt::Debug for ThreadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_cut_at_its_first_nul_and_after_fifteen_bytes() {
        assert_eq!(ThreadName::new(b"ktimers/0\0rest").to_string(), "ktimers/0");
        assert_eq!(
            ThreadName::new(b"a-name-that-is-too-long").to_string(),
            "a-name-that-is-"
        );
    }

    #[test]
    fn a_hostile_name_shows_no_control_characters() {
        assert_eq!(
            ThreadName::new(b"a\x1b[2J\nb").to_string(),
            "a\u{fffd}[2J\u{fffd}b"
        );
    }
}
