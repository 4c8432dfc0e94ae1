//! Bytes as text: UTF-8, with or without a byte-order mark, and UTF-16 with one, as some shells and
//! spreadsheets write it.

use crate::ImportError;
use std::borrow::Cow;

/// `µ` of the code pages that are not Unicode: the one such byte in names of columns.
const MICRO: u8 = 0xB5;

/// A whole file as text.
pub(crate) fn text(bytes: &[u8]) -> Result<Cow<'_, str>, ImportError> {
    if let Some(text) = utf_16(bytes) {
        return text
            .map(Cow::Owned)
            .ok_or_else(|| ImportError::whole("is not text: invalid UTF-16"));
    }
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return Ok(Cow::Borrowed(text)),
        Err(error) => error,
    };
    let others = bytes.iter().filter(|&&byte| byte >= 0x80);
    if others.clone().all(|&byte| byte == MICRO) {
        let text = bytes.iter().map(|&byte| char::from(byte)).collect();
        return Ok(Cow::Owned(text));
    }
    let before = &bytes[..error.valid_up_to()];
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    Err(ImportError::at(line, "is not text"))
}

/// The text of a file's beginning, which may end within a character; `None` if it is none.
pub(crate) fn beginning(bytes: &[u8]) -> Option<Cow<'_, str>> {
    if bytes.contains(&0) && utf_16(bytes).is_none() {
        return None;
    }
    // At most three bytes of UTF-8, or one of UTF-16, are cut off.
    (0..=3).find_map(|cut| text(&bytes[..bytes.len().saturating_sub(cut)]).ok())
}

/// Of bytes with a mark of UTF-16: their text, or `None` inside if they are broken.
fn utf_16(bytes: &[u8]) -> Option<Option<String>> {
    let (rest, from): (_, fn([u8; 2]) -> u16) = match bytes {
        [0xFF, 0xFE, rest @ ..] => (rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => (rest, u16::from_be_bytes),
        _ => return None,
    };
    let (pairs, odd) = rest.as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().map(|pair| from(*pair)).collect();
    let whole = odd.is_empty().then(|| String::from_utf16(&units).ok());
    Some(whole.flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_dropped_and_utf_16_is_read() {
        assert_eq!(text(b"\xEF\xBB\xBFdue").unwrap(), "due");
        let wide = |mark: [u8; 2], bytes: fn(u16) -> [u8; 2]| {
            let units = "due µs\n".encode_utf16().flat_map(bytes);
            mark.into_iter().chain(units).collect::<Vec<u8>>()
        };
        let little = wide([0xFF, 0xFE], u16::to_le_bytes);
        assert_eq!(text(&little).unwrap(), "due µs\n");
        let big = wide([0xFE, 0xFF], u16::to_be_bytes);
        assert_eq!(text(&big).unwrap(), "due µs\n");
        assert!(text(&little[..5]).is_err());
        assert_eq!(beginning(&little[..5]).as_deref(), Some("d"));
        assert_eq!(text(b"due_\xB5s").unwrap(), "due_µs");
    }

    #[test]
    fn what_is_no_text_is_named_with_its_line() {
        assert_eq!(text(b"a\nb\xC3(").unwrap_err().line, Some(2));
        assert_eq!(beginning(b"a\0b"), None);
        // The beginning of a file may end within a character.
        assert_eq!(beginning(b"a\xC2").as_deref(), Some("a"));
    }
}
