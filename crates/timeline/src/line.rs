//! Foreign text, made safe for one line.
//!
//! A name from a run, a program or the kernel must neither control a terminal nor end its line and
//! forge the next. Pages and files also escape it for their own markup.

use std::borrow::Cow;

/// Replaces a character that must not be shown.
const REPLACEMENT: char = '\u{fffd}';

/// Bytes from the kernel or another program as text, with replacement characters for invalid ones:
/// Linux cuts a name after 15 bytes, even in the middle of a character. Every name is decoded here,
/// once.
pub fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// `text` with control characters, line ends among them, and invisible or direction-changing
/// characters as replacement characters.
pub fn one_line(text: &str) -> String {
    let shown = |c: char| if is_unprintable(c) { REPLACEMENT } else { c };
    text.chars().map(shown).collect()
}

/// As [`one_line`], cut after `most` characters with an ellipsis.
pub fn shortened(text: &str, most: usize) -> String {
    let mut characters = text.chars();
    let mut kept = one_line(&characters.by_ref().take(most).collect::<String>());
    if characters.next().is_some() {
        kept.push('…');
    }
    kept
}

/// In quotation marks, unprintable characters escaped (`\u{1b}`), cut after 40: shows the exact content of a
/// file or a command line.
pub fn quoted(text: &str) -> String {
    const MOST_CHARACTERS: usize = 40;
    let mut shown = String::from("\"");
    for (index, character) in text.chars().enumerate() {
        if index == MOST_CHARACTERS {
            shown.push('…');
            break;
        }
        match character {
            '"' | '\\' => shown.extend(['\\', character]),
            c if is_unprintable(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    shown.push('"');
    shown
}

/// Control characters, and characters that are invisible or change the direction of a line.
pub fn is_unprintable(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}'
            | '\u{fdd0}'..='\u{fdef}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_hostile_name_neither_steers_the_terminal_nor_forges_a_line() {
        assert_eq!(
            one_line("a\u{1b}[2J\nverdict: PASSED\r\u{9b}1m\t"),
            "a\u{fffd}[2J\u{fffd}verdict: PASSED\u{fffd}\u{fffd}1m\u{fffd}"
        );
        assert_eq!(one_line("x\u{202e}y\u{200b}z"), "x\u{fffd}y\u{fffd}z");
        assert_eq!(one_line("ein Name, µs – ü 漢"), "ein Name, µs – ü 漢");
    }

    #[test]
    fn half_a_character_costs_that_character_alone() {
        let cut = &"x-äöüäöüäöü".as_bytes()[..15];
        assert_eq!(decoded(cut), "x-äöüäöü\u{fffd}");
        assert_eq!(decoded("ä".as_bytes()), "ä");
    }

    #[test]
    fn long_text_is_cut_and_says_so() {
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(shortened("ab\ncd", 3), "ab\u{fffd}…");
    }

    #[test]
    fn quoted_text_is_one_short_line_that_tells_exactly_what_is_there() {
        assert_eq!(quoted("a\u{1b}[31m\nb\""), "\"a\\u{1b}[31m\\u{a}b\\\"\"");
        assert_eq!(quoted("abc\u{202e}"), "\"abc\\u{202e}\"");
        assert_eq!(quoted(&"x".repeat(1_000)).chars().count(), 43);
    }

    proptest! {
        #[test]
        fn whatever_comes_in_one_printable_line_comes_out(text in "(?s).{0,60}") {
            for line in [one_line(&text), shortened(&text, 20), quoted(&text)] {
                prop_assert!(!line.chars().any(is_unprintable), "{:?}", line);
            }
        }
    }
}
