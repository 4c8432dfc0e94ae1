//! A number and its unit stay in one line: the blank between them becomes one at which no line is broken. Of text that
//! people read; what is typed or copied keeps its blanks.

use std::borrow::Cow;

/// What follows a number.
const UNITS: [&str; 20] = [
    "ns", "µs", "us", "ms", "s", "min", "h", "%", "Hz", "kHz", "MHz", "GHz", "B", "kB", "MB", "GB",
    "KiB", "MiB", "GiB", "m",
];

/// The text with no line end to come between a number and its unit.
pub(crate) fn unbroken(text: &str) -> Cow<'_, str> {
    let mut kept = 0;
    let mut made = String::new();
    for (at, _) in text.match_indices(' ') {
        let is_number = text[..at].ends_with(|before: char| before.is_ascii_digit());
        if is_number && begins_with_a_unit(&text[at + 1..]) {
            made.push_str(&text[kept..at]);
            made.push('\u{a0}');
            kept = at + 1;
        }
    }
    match kept {
        0 => text.into(),
        _ => (made + &text[kept..]).into(),
    }
}

fn begins_with_a_unit(text: &str) -> bool {
    let end = text
        .find(|of: char| !of.is_alphabetic() && of != '%')
        .unwrap_or(text.len());
    UNITS.contains(&&text[..end])
}

#[cfg(test)]
mod tests {
    use super::unbroken;

    #[test]
    fn a_number_and_its_unit_are_one_word_and_nothing_else_is() {
        for (text, wanted) in [
            (
                "at most 0.5 % in 100 s.",
                "at most 0.5\u{a0}% in 100\u{a0}s.",
            ),
            ("2 s", "2\u{a0}s"),
            ("400 µs, 4 ms", "400\u{a0}µs, 4\u{a0}ms"),
            (
                "FIFO 50 missed 3 samples of 5 sets",
                "FIFO 50 missed 3 samples of 5 sets",
            ),
            ("no s, % or ms", "no s, % or ms"),
            ("", ""),
        ] {
            assert_eq!(unbroken(text), wanted);
        }
    }
}
