//! Answers that fit their part of a screen: written with fewer entries of each kind until they do.

use wakepath_console::terminal::folded_for_people;

/// Entries of each kind at first.
pub const MOST: usize = 6;

/// The text that `write` makes with the largest number of entries, at most `most`, whose lines are at most `lines`; with
/// one entry of each kind if none is.
pub fn fit_to_screen(lines: usize, most: usize, write: impl Fn(usize) -> String) -> String {
    let laid = |most| folded_for_people(&write(most));
    let mut all = (1..=most).rev().map(&laid);
    let fits = |text: &String| text.lines().count() <= lines;
    all.find(fits).unwrap_or_else(|| laid(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_entries_are_written_as_have_room() {
        let two_lines_each = |most: usize| "entry\nits figures\n".repeat(most);
        for (room, entries) in [(40, 6), (12, 6), (11, 5), (3, 1), (1, 1)] {
            let text = fit_to_screen(room, MOST, two_lines_each);
            assert_eq!(text.matches("entry").count(), entries, "{room} lines");
        }
    }
}
