//! What another tool measured: where it comes from, and which cells it says nothing of.

use super::rows::{IN_A_ROW, MISSES, SCHEDULED, SKIPPED};
use std::fmt::Write;
use wakepath_archive::Imported;
use wakepath_assess::more_may_be_late;

/// Cells of the table that the tool says nothing of. Columns as in `rows`.
pub(crate) fn unknown_cells(cells: &mut [String], imported: &Imported) {
    let lacks = |what: &str| imported.lacks.iter().any(|lack| lack.starts_with(what));
    let mut unknown = Vec::new();
    if lacks("skipped periods: the tool") {
        unknown.extend([SCHEDULED, SKIPPED]);
    }
    if lacks("the order of values") {
        unknown.push(IN_A_ROW);
    }
    let more = more_may_be_late(imported);
    if let Some(cell) = cells.get_mut(MISSES).filter(|_| more) {
        // Late for certain; of the overflowed values more may be.
        *cell = format!("≥ {cell}");
    }
    for place in unknown {
        if let Some(cell) = cells.get_mut(place) {
            *cell = "–".to_owned();
        }
    }
}

/// What was read, and what its numbers are.
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

/// Where it comes from, for the remarks.
pub(crate) fn write_source(text: &mut String, imported: &Imported) -> std::fmt::Result {
    let how = match imported.is_watched() {
        true => "watched from outside",
        false => "imported",
    };
    writeln!(text, "{how}: {}", source(imported))?;
    for lack in &imported.lacks {
        writeln!(text, "  lacks {lack}")?;
    }
    Ok(())
}
