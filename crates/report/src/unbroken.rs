//! A number stays in one line with its unit, and with ≤ or ≥: the blank between them becomes one at which no line is
//! broken. Of text that people read; text to type or copy keeps its blanks.

use std::borrow::Cow;
use wakepath_timeline::quantity::is_within;

/// The text with no line end to come between a number and its unit.
pub(crate) fn unbroken(text: &str) -> Cow<'_, str> {
    let mut kept = 0;
    let mut made = String::new();
    for (at, _) in text.match_indices(' ') {
        if is_within(text, at) || text[..at].ends_with(['≤', '≥']) {
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
            ("0 (≤ 0.81 %)", "0 (≤\u{a0}0.81\u{a0}%)"),
            ("noise: 20 rad/s²", "noise: 20\u{a0}rad/s²"),
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
