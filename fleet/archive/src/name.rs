//! Checks names that become file names, because the author of a run chooses its name.

use crate::{FleetArchiveError, Result};
use sha2::{Digest, Sha256};

const LONGEST: usize = 64;

/// Whether a text can be the name of one of our files: short, plain, not hidden.
pub fn is_plain(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    text.len() <= LONGEST
        && !text.contains("..")
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(plain)
}

/// A board, by the name that the fleet gives it. A run does not know it: no host's name is recorded.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Board(String);

impl Board {
    /// Takes a name.
    ///
    /// # Errors
    /// [`FleetArchiveError::BoardName`].
    pub fn new(name: &str) -> Result<Self> {
        if is_plain(name) {
            Ok(Self(name.to_owned()))
        } else {
            Err(FleetArchiveError::BoardName {
                name: name.to_owned(),
            })
        }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

/// A run's number in tables: the first 63 bits of its name's SHA-256. Engines join and group by it.
/// Two of a million runs have the same number once in 18 million archives, and a reader refuses
/// them.
pub fn run_number(run_id: &str) -> i64 {
    let digest = Sha256::digest(run_id.as_bytes());
    let first = u64::from_be_bytes(std::array::from_fn(|i| digest[i]));
    (first >> 1) as i64
}

/// A digest in hexadecimal.
pub(crate) fn hexadecimal(digest: impl AsRef<[u8]>) -> String {
    let mut text = String::new();
    for byte in digest.as_ref() {
        text += &format!("{byte:02x}");
    }
    text
}

/// Whether a text is a SHA-256 as we write it.
pub(crate) fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for bad in [
            "",
            ".",
            "..",
            ".x",
            "a/b",
            "a..b",
            "-x",
            "a b",
            "ü",
            "a\n",
            "a\0",
            &"x".repeat(65),
        ] {
            assert!(Board::new(bad).is_err(), "{bad:?}");
        }
        assert_eq!(Board::new("pi5-07.lab_2").unwrap().name(), "pi5-07.lab_2");
    }

    #[test]
    fn a_runs_number_is_the_first_63_bits_of_its_names_digest() {
        // sha256sum of `abc`: ba7816bf 8f01cfea …
        assert_eq!(run_number("abc"), (0xba78_16bf_8f01_cfea_u64 >> 1) as i64);
    }
}
