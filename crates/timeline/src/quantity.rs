//! Finds numbers with units in a text, which a line break must not separate.
//!
//! It parses no number, and breaks no line.

/// Units that can follow a number.
const UNITS: [&str; 21] = [
    "ns", "µs", "us", "ms", "s", "min", "h", "%", "Hz", "kHz", "MHz", "GHz", "B", "kB", "MB", "GB",
    "KiB", "MiB", "GiB", "m", "rad",
];

/// Whether the blank at this position of the text separates a number and its unit.
pub fn is_within(text: &str, blank: usize) -> bool {
    let is_number = text[..blank].ends_with(|before: char| before.is_ascii_digit());
    is_number && begins_with_a_unit(&text[blank + 1..])
}

fn begins_with_a_unit(text: &str) -> bool {
    let end = text
        .find(|of: char| !of.is_alphabetic() && of != '%')
        .unwrap_or(text.len());
    UNITS.contains(&&text[..end])
}

#[cfg(test)]
mod tests {
    use super::is_within;

    #[test]
    fn a_blank_before_a_unit_is_told_from_one_between_words() {
        let text = "at most 0.5 % in 100 s, FIFO 50 missed 3 samples at 20 rad/s, no s";
        let within = text
            .match_indices(' ')
            .filter(|(at, _)| is_within(text, *at));
        let before: Vec<&str> = within.map(|(at, _)| &text[at - 1..at + 2]).collect();
        assert_eq!(before, ["5 %", "0 s", "0 r"]);
    }
}
