//! The table per policy and load: the same figures as in the terminal.

use super::nothing;
use crate::markup::Markup;
use crate::page::Reported;
use crate::text::conditions_table;

/// Writes the table.
pub(super) fn write(markup: &mut Markup, _: usize, run: &Reported<'_>) {
    let table = conditions_table(run.assessment);
    match table.is_empty() {
        true => nothing(
            markup,
            "No condition was measured, so there is nothing to list.",
        ),
        false => table.write_html(markup, "Table of all conditions"),
    }
}
