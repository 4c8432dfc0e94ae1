//! Encodes and decodes whole numbers in as few bytes as they need.
//!
//! LEB128; signed ones zigzag-encoded, as Protocol Buffers do. Decoding accepts any bytes.

/// Appends a number, 7 bits to a byte, lowest first.
pub(crate) fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Appends a signed number: 0, −1, 1, −2 … as 0, 1, 2, 3 …
pub(crate) fn put_signed(bytes: &mut Vec<u8>, value: i64) {
    put(bytes, ((value << 1) ^ (value >> 63)) as u64);
}

/// Appends a length and that many bytes.
pub(crate) fn put_bytes(bytes: &mut Vec<u8>, text: &[u8]) {
    put(bytes, text.len() as u64);
    bytes.extend_from_slice(text);
}

/// Takes numbers off the front of bytes. `None` wherever they end too early or a number is too
/// large for its place.
pub(crate) struct Take<'a>(pub(crate) &'a [u8]);

impl<'a> Take<'a> {
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    #[inline]
    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return None;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    pub(crate) fn signed(&mut self) -> Option<i64> {
        let folded = self.number()?;
        Some((folded >> 1) as i64 ^ -((folded & 1) as i64))
    }

    pub(crate) fn fitting<T: TryFrom<u64>>(&mut self) -> Option<T> {
        self.number()?.try_into().ok()
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length: usize = self.fitting()?;
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_published_example_has_its_published_bytes() {
        // Protocol Buffers, "Encoding": 150 is 96 01; −2 folds to 3.
        let mut bytes = Vec::new();
        put(&mut bytes, 150);
        put_signed(&mut bytes, -2);
        assert_eq!(bytes, [0x96, 0x01, 0x03]);
    }

    #[test]
    fn a_number_beyond_64_bits_is_refused() {
        assert_eq!(Take(&[0xff; 10]).number(), None);
        assert_eq!(Take(&[0x80; 3]).number(), None);
    }

    proptest! {
        #[test]
        fn numbers_come_back(value in any::<u64>(), signed in any::<i64>()) {
            let mut bytes = Vec::new();
            put(&mut bytes, value);
            put_signed(&mut bytes, signed);
            let mut take = Take(&bytes);
            prop_assert_eq!(take.number(), Some(value));
            prop_assert_eq!(take.signed(), Some(signed));
            prop_assert!(take.0.is_empty());
        }
    }
}
