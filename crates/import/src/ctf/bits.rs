//! Bits of a packet, lowest first, one number after the other; `None` past the end.

/// A packet from some bit on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    at: u64,
    end: u64,
}

impl<'a> Bits<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            end: bytes.len() as u64 * 8,
        }
    }

    /// Drops everything after this many bits; `false` if there are fewer.
    pub(super) fn end_at(&mut self, end: u64) -> bool {
        let holds = end <= self.end;
        self.end = self.end.min(end);
        holds
    }

    pub(super) fn at(&self) -> u64 {
        self.at
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.end
    }

    pub(super) fn align(&mut self, to: u32) -> Option<()> {
        let at = self.at.checked_next_multiple_of(u64::from(to.max(1)))?;
        (at <= self.end).then_some(())?;
        self.at = at;
        Some(())
    }

    /// A number of at most 64 bits.
    pub(super) fn number(&mut self, bits: u32) -> Option<u64> {
        let end = self.at.checked_add(bits.into())?;
        if bits == 0 || bits > 64 || end > self.end {
            return None;
        }
        let first = usize::try_from(self.at / 8).ok()?;
        let last = usize::try_from((end - 1) / 8).ok()?;
        let window = self.bytes.get(first..=last)?;
        let whole = window
            .iter()
            .rev()
            .fold(0_u128, |sum, byte| sum << 8 | u128::from(*byte));
        let number = (whole >> (self.at % 8)) & ((1_u128 << bits) - 1);
        self.at = end;
        u64::try_from(number).ok()
    }

    /// A number of seven bits in each byte, lowest first, from a whole byte on.
    pub(super) fn variable(&mut self, signed: bool) -> Option<i128> {
        let mut value = 0_u128;
        for place in 0..10 {
            let byte = u128::from(self.number(8)?);
            value |= (byte & 0x7f) << (7 * place);
            if byte & 0x80 == 0 {
                let bits = 7 * (place + 1);
                let is_negative = signed && value >> (bits - 1) & 1 == 1;
                let found = i128::try_from(value).ok()?;
                return Some(if is_negative {
                    found - (1 << bits)
                } else {
                    found
                });
            }
        }
        None
    }

    /// Text up to its NUL, from a whole byte on.
    pub(super) fn text(&mut self) -> Option<String> {
        let from = usize::try_from(self.at / 8).ok()?;
        let end = usize::try_from(self.end / 8).ok()?;
        let rest = self.bytes.get(from..end)?;
        let length = rest.iter().position(|&byte| byte == 0)?;
        self.at += (length as u64 + 1) * 8;
        Some(String::from_utf8_lossy(&rest[..length]).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_begin_within_bytes_and_never_beyond_the_end() {
        // 5 bits 31, 27 bits 1: as LTTng's compact head.
        let word = (31_u32 | 1 << 5).to_le_bytes();
        let mut bits = Bits::new(&word);
        assert_eq!((bits.number(5), bits.number(27)), (Some(31), Some(1)));
        assert_eq!(bits.number(1), None);
        let mut bits = Bits::new(b"\x01ab\0");
        assert_eq!(bits.number(1), Some(1));
        bits.align(8).unwrap();
        assert_eq!(bits.text().as_deref(), Some("ab"));
        assert!(bits.is_at_end() && bits.text().is_none());
        let mut bits = Bits::new(&[0xe5, 0x8e, 0x26, 0x7f, 0xff]);
        assert_eq!(
            (bits.variable(false), bits.variable(true)),
            (Some(624_485), Some(-1))
        );
        assert_eq!(bits.variable(false), None);
        let mut bits = Bits::new(&[0xff; 9]);
        assert!(bits.end_at(65) && !bits.end_at(99));
        bits.number(1);
        assert_eq!(bits.number(64), Some(u64::MAX));
        assert_eq!(bits.align(u32::MAX), None);
    }
}
