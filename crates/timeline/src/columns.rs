//! Lays text out in a terminal's columns: width, line breaks, cutting.
//!
//! The only place where widths are counted. It knows no terminal; callers pass the width.

use crate::quantity;

/// Least width left for words, after a line's beginning.
const LEAST_FOR_WORDS: usize = 8;

/// Width of `text` in columns: zero for a style's escape sequence and for a combining character,
/// two for East Asian wide characters and emoji, else one.
pub fn width(text: &str) -> usize {
    let mut columns = 0;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => {
                // Only our own sequences get this far: they end with the first letter.
                characters.by_ref().find(char::is_ascii_alphabetic);
            }
            other => columns += width_of(other),
        }
    }
    columns
}

/// The ranges are those of the Unicode East Asian Width property W and F (UAX 11) as terminals
/// draw them, in blocks.
fn width_of(character: char) -> usize {
    match character as u32 {
        0..0x300 => 1,
        0x300..=0x36f | 0x200b..=0x200f | 0x20d0..=0x20ff | 0xfe00..=0xfe0f | 0xfe20..=0xfe2f => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// Breaks `text` into lines of at most `columns`, between words; the first begins with `first`, the
/// others with `rest`, and each ends with a line end. A number and its unit are one word. A word
/// that is longer than a line is broken.
pub fn wrapped(text: &str, first: &str, rest: &str, columns: usize) -> String {
    in_lines(&words_of(text), first, rest, columns)
}

/// The words of a text, a number with its unit as one.
fn words_of(text: &str) -> Vec<&str> {
    let is_between = |at: usize, character: char| {
        character.is_whitespace() && !(character == ' ' && quantity::is_within(text, at))
    };
    parted(text, is_between)
}

/// The words of a command for a shell: a quoted text is one word.
fn shell_words_of(command: &str) -> Vec<&str> {
    let mut quoted = None;
    parted(command, |_, character| {
        match (quoted, character) {
            (None, '\'' | '"') => quoted = Some(character),
            (Some(quote), _) if quote == character => quoted = None,
            _ => {}
        }
        quoted.is_none() && character.is_whitespace()
    })
}

/// The pieces of a text between characters for which `is_between` holds.
fn parted(text: &str, mut is_between: impl FnMut(usize, char) -> bool) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut begin = 0;
    for (at, character) in text.char_indices() {
        if is_between(at, character) {
            pieces.push(&text[begin..at]);
            begin = at + character.len_utf8();
        }
    }
    pieces.push(&text[begin..]);
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

fn in_lines(words: &[&str], first: &str, rest: &str, columns: usize) -> String {
    let mut laid = String::new();
    let mut line = first.to_owned();
    let mut used = width(first);
    let mut is_empty = true;
    let least = width(first).max(width(rest)) + LEAST_FOR_WORDS;
    let columns = columns.max(least);
    let mut end = |line: &mut String, used: &mut usize, is_empty: &mut bool| {
        laid.push_str(line.trim_end());
        laid.push('\n');
        *line = rest.to_owned();
        *used = width(rest);
        *is_empty = true;
    };
    for word in words {
        let gap = usize::from(!is_empty);
        if !is_empty && used + gap + width(word) > columns {
            end(&mut line, &mut used, &mut is_empty);
        }
        if !is_empty {
            line.push(' ');
            used += 1;
        }
        if used + width(word) <= columns {
            line.push_str(word);
            used += width(word);
            is_empty = false;
            continue;
        }
        for character in word.chars() {
            if used + width_of(character) > columns {
                end(&mut line, &mut used, &mut is_empty);
            }
            line.push(character);
            used += width_of(character);
            is_empty = false;
        }
    }
    end(&mut line, &mut used, &mut is_empty);
    laid
}

/// Breaks every line of `text` that is wider than `columns` between words, and indents
/// continuations by four columns more than the line. Blanks within a line that fits are kept.
pub fn folded(text: &str, columns: usize) -> String {
    let mut laid = String::new();
    for line in text.lines() {
        if width(line) <= columns {
            laid.push_str(line);
            laid.push('\n');
            continue;
        }
        let words = line.trim_start();
        // However deep a line begins, the lines after it keep columns for words.
        let indent = (line.len() - words.len()).min(columns * 2 / 5);
        let head = (columns * 3 / 5).min(columns.saturating_sub(indent + LEAST_FOR_WORDS));
        let indent = " ".repeat(indent);
        // The line's heading columns keep their spacing.
        let (first, text) = words.split_at(head_of(words, head));
        let deeper = if first.is_empty() { 4 } else { width(first) };
        let rest = format!("{indent}{}", " ".repeat(deeper));
        laid += &wrapped(text, &format!("{indent}{first}"), &rest, columns);
    }
    laid
}

/// Start of the last word that has two blanks before it and begins within `within` columns.
fn head_of(line: &str, within: usize) -> usize {
    let gaps = line.match_indices("  ");
    let begins = gaps.map(|(at, _)| line.len() - line[at..].trim_start().len());
    let inside = begins.take_while(|&begin| width(&line[..begin]) < within);
    inside.last().unwrap_or(0)
}

/// A command for a shell in lines of at most `columns`: each but the last ends with a backslash, so
/// that all together can be pasted.
pub fn command(command: &str, indent: &str, columns: usize) -> String {
    let rest = format!("{indent}    ");
    let within = columns.saturating_sub(2);
    let words = shell_words_of(command);
    // A command with a broken word can't be pasted, so the terminal breaks it instead.
    let are_whole = words
        .iter()
        .all(|word| width(&rest) + width(word) <= within);
    if width(indent) + width(command) <= columns || !are_whole {
        return format!("{indent}{command}\n");
    }
    let lines = in_lines(&words, indent, &rest, within);
    lines.trim_end().replace('\n', " \\\n") + "\n"
}

/// `text`, cut with an ellipsis if it is longer than `columns`.
pub fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 1;
    for character in text.chars() {
        used += width_of(character);
        if used > columns {
            break;
        }
        kept.push(character);
    }
    kept.truncate(kept.trim_end().len());
    kept + "…"
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn styling_takes_no_columns_and_wide_characters_take_two() {
        assert_eq!(width("\u{1b}[32mPASSED\u{1b}[0m"), 6);
        assert_eq!(width("µs – 漢字"), 9);
        assert_eq!(width("e\u{301}"), 1);
    }

    #[test]
    fn lines_break_between_words_and_hang_below_their_beginning() {
        assert_eq!(
            wrapped("one two three four", "why  ", "     ", 14),
            "why  one two\n     three\n     four\n"
        );
        assert_eq!(
            wrapped("a /a/path/without/a/blank", "", "  ", 10),
            "a\n  /a/path/\n  without/\n  a/blank\n"
        );
        assert_eq!(wrapped("", "why", "", 10), "why\n");
        assert_eq!(
            wrapped("one in 200 µs or 3 of 5", "", "", 12),
            "one in\n200 µs or 3\nof 5\n"
        );
    }

    #[test]
    fn only_lines_that_are_too_long_are_folded_and_keep_their_heads() {
        let text = "a  b\n  K1  a reason of several words\nplain words without any head here";
        assert_eq!(
            folded(text, 20),
            "a  b\n  K1  a reason of\n      several words\nplain words without\n    any head here\n"
        );
    }

    #[test]
    fn figures_in_columns_stay_where_they_are() {
        let text = "     21  621.4 µs   6.5 %  thread rustc, sharing the CPU";
        assert_eq!(
            folded(text, 45),
            "     21  621.4 µs   6.5 %  thread rustc,\n                           sharing the CPU\n"
        );
    }

    #[test]
    fn a_command_in_several_lines_can_be_pasted() {
        assert_eq!(command("wakepath show", "  ", 20), "  wakepath show\n");
        assert_eq!(
            command("wakepath check --policy 'FIFO 80'", "  ", 28),
            "  wakepath check --policy \\\n      'FIFO 80'\n"
        );
        // Within quotes a backslash can't end a line.
        let text = "wakepath record --criterion 'latency 200us, outage 1 s' -- ./my-loop";
        assert_eq!(
            command(text, "", 42),
            "wakepath record --criterion \\\n    'latency 200us, outage 1 s' -- \\\n    ./my-loop\n"
        );
        assert_eq!(command(text, "", 24), format!("{text}\n"));
    }

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "ab…");
        assert_eq!(cut("漢字漢字", 5), "漢字…");
    }

    proptest! {
        #[test]
        fn nothing_is_wider_than_it_may_be_and_no_word_is_lost(
            text in "[a-z漢µ ]{0,80}", columns in 20usize..100
        ) {
            let letters = |text: &str| text.split_whitespace().collect::<String>();
            let laid = wrapped(&text, "> ", "  ", columns);
            prop_assert!(laid.lines().all(|line| width(line) <= columns), "{laid:?}");
            prop_assert_eq!(letters(&laid), letters(&format!("> {text}")));
            prop_assert!(width(&cut(&text, columns)) <= columns);
        }

        #[test]
        fn what_is_folded_is_no_wider_however_deep_it_begins_and_whatever_heads_it(
            indent in " {0,30}", head in "[a-z]{0,20} {0,20}", text in "[a-z漢µ ]{0,80}",
            columns in 20usize..100
        ) {
            let line = format!("{indent}{head}{text}");
            let laid = folded(&line, columns);
            prop_assert!(laid.lines().all(|line| width(line) <= columns), "{laid:?}");
        }
    }
}
