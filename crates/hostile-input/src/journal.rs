//! Any text as the journal of applied settings.
//!
//! It is refused with an existing line number, or read; the result can be traversed in reverse as
//! `revert` does.

use wakepath_tuning::History;

/// Reads `text` as a journal of applied settings.
///
/// # Panics
/// If the reader violates its properties.
pub fn journal(text: &str) {
    match History::parse(text) {
        Ok(history) => {
            for record in history.records.iter().rev() {
                let (action, before) = (&record.action, &record.before);
                let compare = action.compare();
                let _ = compare.same(before, &action.value());
                let _ = compare.writable(before);
                let _ = action.command();
            }
        }
        Err((line, why)) => {
            assert!(line >= 1 && line <= text.lines().count(), "{line}: {why}");
        }
    }
}
