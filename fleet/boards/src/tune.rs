//! `wakepath tune` on a board, as root there, while it measures nothing.

use crate::inventory::Board;
use crate::ssh::{CallError, Ssh};
use wakepath_timeline::shortened;

/// Its output and exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tuned {
    /// Its exit code.
    pub code: u8,
    /// Its lines.
    pub lines: Vec<String>,
}

/// `tune` never prints more lines than this.
const MOST_LINES: usize = 1000;

/// Whether a word has no special meaning for a board's shell.
pub fn is_plain(word: &str) -> bool {
    !word.is_empty()
        && word.len() <= 100
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._,:=%+-".contains(c))
}

/// Calls it.
///
/// # Errors
/// An unreachable board, one that measures, words that a shell would change.
pub fn tune(ssh: &Ssh, board: &Board, words: &[String]) -> Result<Tuned, CallError> {
    if let Some(word) = words.iter().find(|word| !is_plain(word)) {
        return Err(CallError::Refused(format!(
            "{word:?} can't be handed to a board"
        )));
    }
    let words: Vec<&str> = ["tune"]
        .into_iter()
        .chain(words.iter().map(String::as_str))
        .collect();
    let answer = ssh.call(board, &words, Vec::new())?;
    read(&answer).ok_or_else(|| CallError::NoAnswer("it was cut short".into()))
}

fn read(answer: &str) -> Option<Tuned> {
    let mut lines: Vec<&str> = answer.lines().collect();
    (lines.pop()? == "end").then_some(())?;
    let code = lines.pop()?.strip_prefix("code ")?.parse().ok()?;
    (lines.len() <= MOST_LINES).then(|| Tuned {
        code,
        lines: lines.into_iter().map(|line| shortened(line, 300)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_has_a_code_and_an_end() {
        let tuned = read("applied\ncode 3\nend\n").unwrap();
        assert_eq!((tuned.code, tuned.lines), (3, vec!["applied".to_owned()]));
        for cut in [
            "",
            "end",
            "applied\nend\n",
            "applied\ncode 3\n",
            "code x\nend",
        ] {
            assert_eq!(read(cut), None, "{cut}");
        }
        assert!(is_plain("--rate") && is_plain("1kHz") && !is_plain("$(id)") && !is_plain("a b"));
    }
}
