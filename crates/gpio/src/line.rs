//! A line's name: the chip's name in /dev, and the line's number.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A line of a GPIO chip, written `gpiochip0:17`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineName {
    /// Name of the chip's file in /dev.
    pub chip: String,
    /// The line's number on that chip, from 0.
    pub offset: u32,
}

/// A text that names no line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("give CHIP:LINE, such as gpiochip0:17")]
pub struct NoLineName;

impl FromStr for LineName {
    type Err = NoLineName;

    fn from_str(text: &str) -> Result<Self, NoLineName> {
        let (chip, offset) = text.trim().rsplit_once(':').ok_or(NoLineName)?;
        let chip = chip.strip_prefix("/dev/").unwrap_or(chip);
        // It becomes a path in /dev: no other place.
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        let offset = if offset.bytes().all(|byte| byte.is_ascii_digit()) {
            offset.parse().map_err(|_| NoLineName)?
        } else {
            return Err(NoLineName);
        };
        if !chip.is_empty() && chip.chars().all(plain) {
            Ok(Self {
                chip: chip.into(),
                offset,
            })
        } else {
            Err(NoLineName)
        }
    }
}

impl fmt::Display for LineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.chip, self.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_written_as_its_chip_and_its_number() {
        let line: LineName = "gpiochip0:17".parse().unwrap();
        assert_eq!((line.chip.as_str(), line.offset), ("gpiochip0", 17));
        assert_eq!("/dev/gpiochip0:17".parse(), Ok(line.clone()));
        assert_eq!(line.to_string(), "gpiochip0:17");
        for wrong in [
            "",
            "17",
            "gpiochip0",
            "gpiochip0:",
            ":17",
            "gpiochip0:+1",
            "gpiochip0:99999999999",
            "../mem:1",
            "/etc/a:1",
            "gpiochip0:GPIO17",
        ] {
            assert_eq!(wrong.parse::<LineName>(), Err(NoLineName), "{wrong}");
        }
    }
}
