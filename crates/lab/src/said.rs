//! Error messages of programs that failed.

/// The last line of a program's output, for a message.
pub(crate) fn last_line(said: &[u8]) -> String {
    let said = String::from_utf8_lossy(said);
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    last.unwrap_or("it said nothing").trim().to_owned()
}
