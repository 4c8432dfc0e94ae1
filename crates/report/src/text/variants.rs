//! Programs that a run tried in turns, side by side, in the whole text. The table's contents are the
//! answer's.

use crate::Style;
use crate::answer::{variants, variants_table};
use wakepath_assess::Assessment;

/// The table with its title; nothing if one program alone was measured.
pub(super) fn to_text(assessment: &Assessment, style: Style) -> String {
    let rows = variants(assessment);
    if rows.is_empty() {
        String::new()
    } else {
        format!(
            "programs side by side\n{}\n",
            variants_table(&rows).to_terminal(style.columns)
        )
    }
}
