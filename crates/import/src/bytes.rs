//! Bytes taken from the front, one number after the other; `None` past the end.

/// The rest of a stretch of bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl<'a> Bytes<'a> {
    /// A stretch of a file, given by its offset and length.
    pub(crate) fn section(file: &'a [u8], offset: u64, size: u64) -> Option<Self> {
        let from = usize::try_from(offset).ok()?;
        let end = from.checked_add(usize::try_from(size).ok()?)?;
        file.get(from..end).map(Self)
    }

    pub(crate) fn take(&mut self, length: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn skip_words(&mut self, words: u64) -> Option<()> {
        self.take(words.checked_mul(8)?).map(drop)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.take(1).map(|one| one[0])
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u16::from_le_bytes(*taken))
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*taken))
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*taken))
    }

    /// Text up to its NUL.
    pub(crate) fn text(&mut self) -> Option<&'a str> {
        let end = self.0.iter().position(|&byte| byte == 0)?;
        let text = std::str::from_utf8(&self.0[..end]).ok()?;
        self.0 = &self.0[end + 1..];
        Some(text)
    }
}
