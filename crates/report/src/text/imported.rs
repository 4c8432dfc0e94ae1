//! Origin of an imported run.

use std::fmt::Write;
use wakepath_archive::Imported;

/// The source, and the meaning of its numbers.
pub(crate) fn source(imported: &Imported) -> String {
    if imported.is_watched() {
        return imported.measures.clone();
    }
    let names: Vec<&str> = imported
        .sources
        .iter()
        .map(|file| file.name.as_str())
        .collect();
    format!(
        "{} from {}: {}",
        imported.form,
        names.join(", "),
        imported.measures
    )
}

/// Its source, for the remarks.
pub(crate) fn write_source(text: &mut String, imported: &Imported) -> std::fmt::Result {
    let how = if imported.is_watched() {
        "watched from outside"
    } else {
        "imported"
    };
    writeln!(text, "{how}: {}", source(imported))?;
    for lack in &imported.lacks {
        writeln!(text, "  lacks {lack}")?;
    }
    Ok(())
}
