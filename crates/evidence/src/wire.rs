//! The binary form in which OpenSSH writes keys: big-endian numbers, and strings with their length
//! before them (RFC 4251, section 5). It knows no key.

/// The unread bytes. Every reader returns none if too few are left.
pub(crate) struct Wire<'a>(pub &'a [u8]);

impl<'a> Wire<'a> {
    pub fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub fn u32(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.bytes(4)?.try_into().ok()?))
    }

    pub fn u64(&mut self) -> Option<u64> {
        Some(u64::from_be_bytes(self.bytes(8)?.try_into().ok()?))
    }

    pub fn string(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.u32()?).ok()?;
        self.bytes(length)
    }

    pub fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.string()?).ok()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Appends a short string with its length.
pub(crate) fn put(to: &mut Vec<u8>, string: &[u8]) {
    let length = u32::try_from(string.len()).expect("a short string");
    to.extend(length.to_be_bytes());
    to.extend(string);
}
