//! Work of the loads, as each of them counted it.

use super::nothing;
use crate::markup::Markup;
use crate::page::Reported;
use crate::table::{Cell, Table, Tone, number, words};
use wakepath_timeline::number::three_digits;

/// Writes the proofs.
pub(super) fn write(markup: &mut Markup, _: usize, run: &Reported<'_>) {
    let loads = &run.assessment.loads;
    if loads.is_empty() {
        nothing(markup, "No phase of this run had a load.");
        return;
    }
    let mut table = Table::new("Phase")
        .caption(
            "Work done during the measured segments. A load without proof of work makes its \
             conditions invalid.",
        )
        .column(words("Load"))
        .column(number("Workers"))
        .column(number("Work per second"))
        .column(words("Proven"))
        .column(words("Notes"));
    for load in loads {
        let proven = if load.working {
            Cell::Toned("yes".into(), Tone::Good)
        } else {
            Cell::Toned("no".into(), Tone::Bad)
        };
        table.row(
            load.phase.as_str(),
            vec![
                load.load.as_str().into(),
                Cell::new(load.workers),
                format!("{} {}", three_digits(load.per_second), load.unit).into(),
                proven,
                load.notes.join("; ").into(),
            ],
        );
    }
    table.write_html(markup, "Loads");
}
