//! The steps that lead on, as they are typed, with what each is for.

use super::super::{Answer, Next, Word};
use wakepath_timeline::columns::{self, width, wrapped};

impl Answer {
    /// Each step whole, as many as there are lines for; and whether that is all of them.
    pub(super) fn next(&self, run: &str, columns: usize, room: usize) -> (String, bool) {
        let mut text = String::from("next\n");
        let mut left = room;
        let commands: Vec<String> = self.next.iter().map(|next| next.command(run)).collect();
        let widest = commands.iter().map(|command| width(command));
        let aligned = widest.filter(|&wide| wide <= columns * 2 / 5).max();
        let aligned = aligned.unwrap_or(0);
        for (next, command) in self.next.iter().zip(&commands) {
            let step = if width(command) <= aligned {
                let gap = " ".repeat(aligned - width(command));
                let rest = " ".repeat(aligned + 5);
                wrapped(&next.what, &format!("  {command}{gap}   "), &rest, columns)
            } else {
                typed(command, columns) + &wrapped(&next.what, "      ", "      ", columns)
            };
            let lines = step.lines().count();
            if lines > left {
                return (text, false);
            }
            left -= lines;
            text += &step;
        }
        (text, true)
    }
}

/// A command in as many lines as it takes.
fn typed(command: &str, columns: usize) -> String {
    let pasted = columns::command(command, "  ", columns);
    if pasted.lines().all(|line| width(line) <= columns) {
        pasted
    } else {
        wrapped(command, "  ", "      ", columns)
    }
}

impl Next {
    /// As it is typed.
    fn command(&self, run: &str) -> String {
        let words = self.words.iter().map(|word| match word {
            Word::Text(text) => text.clone(),
            Word::Run if run.is_empty() => String::new(),
            Word::Run => wakepath_archive::shell_word(run),
        });
        let words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
        words.join(" ")
    }
}
