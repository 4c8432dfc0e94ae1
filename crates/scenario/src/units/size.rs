//! Sizes in bytes: "64 KiB", "4 MiB". Binary multiples only, so that nothing depends on a habit.

use super::Complaint;
use super::decimal::number_and_unit;

const UNITS: [(&str, u128); 4] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
];

/// Parses a size (B, KiB, MiB, GiB) as whole bytes, at most 1024 GiB.
///
/// # Errors
/// A missing or unknown unit, a part of a byte, or too many bytes.
pub fn parse_size(text: &str) -> Result<u64, Complaint> {
    let remedy = "give a size in B, KiB, MiB or GiB, such as \"64 KiB\"";
    let (number, unit) = number_and_unit(text, "64 KiB")?;
    let Some((_, factor)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        let problem = if unit.is_empty() {
            "has no unit"
        } else {
            "has no unit of size after the number"
        };
        return Err(Complaint::new(problem, remedy));
    };
    let bytes = number
        .times(*factor)
        .ok_or_else(|| Complaint::new("is not a whole number of bytes", "give fewer decimals"))?;
    if bytes > 1 << 40 {
        return Err(Complaint::new("is too large", "give at most 1024 GiB"));
    }
    Ok(bytes as u64)
}

/// Writes bytes exactly in the largest unit that divides them: "64 KiB".
pub fn format_size(bytes: u64) -> String {
    let (unit, factor) = UNITS
        .iter()
        .find(|(_, factor)| bytes > 0 && u128::from(bytes).is_multiple_of(*factor))
        .unwrap_or(&UNITS[3]);
    format!("{} {unit}", u128::from(bytes) / factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_binary_multiples() {
        assert_eq!(parse_size("64 KiB"), Ok(65_536));
        assert_eq!(parse_size("1.5MiB"), Ok(1_572_864));
        assert_eq!(parse_size("10 B"), Ok(10));
        for text in ["64", "64 kB", "64 KB", "0.3 B", "2000 GiB"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_written_size_is_read_back_exactly(bytes in 0..=1_u64 << 40) {
            prop_assert_eq!(parse_size(&format_size(bytes)), Ok(bytes));
        }
    }
}
