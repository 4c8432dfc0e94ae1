//! A file's root table.

use crate::document::Section;
use crate::error::{Finding, Findings};
use crate::units::Complaint;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use wakepath_timeline::{quoted, shortened};

/// Largest file that is read, in bytes.
const MOST_BYTES: usize = 1 << 20;

/// Result of `read` for a file's root table, unless the file is too long or not TOML.
pub(crate) fn with_root<T>(
    text: &str,
    findings: &mut Findings,
    read: impl FnOnce(&Section<'_>, &mut Findings) -> Option<T>,
) -> Option<T> {
    let whole_file = |at, problem: String, remedy: &str| Finding {
        at,
        key: String::new(),
        found: String::new(),
        complaint: Complaint::new(problem, remedy),
    };
    if text.len() > MOST_BYTES {
        let problem = format!("the file has {} bytes", text.len());
        findings.push(whole_file(0, problem, "a scenario has at most 1 MiB"));
        return None;
    }
    let (document, mut errors) = DeTable::parse_recoverable(text);
    let start = |error: &toml::de::Error| error.span().map_or(0, |span| span.start);
    errors.sort_by_cached_key(start);
    let mut before = None;
    for error in &errors {
        // The rest of a wrong line is wrong because of its beginning.
        let is_same_line = |from: usize| {
            text.get(from..start(error))
                .is_some_and(|part| !part.contains('\n'))
        };
        if before.replace(start(error)).is_some_and(is_same_line) {
            continue;
        }
        let message = shortened(error.message(), 200);
        let span = error.span().unwrap_or(0..0);
        findings.push(match text.get(span.clone()) {
            Some(key) if message == "duplicate key" => {
                let problem = format!("the key {} is repeated", quoted(key));
                whole_file(span.start, problem, "give each key once")
            }
            _ => whole_file(span.start, format!("the file is not TOML: {message}"), ""),
        });
    }
    if !errors.is_empty() {
        return None;
    }
    let span = document.span();
    let root = Spanned::new(span, DeValue::Table(document.into_inner()));
    read(&Section::root(&root)?, findings)
}
