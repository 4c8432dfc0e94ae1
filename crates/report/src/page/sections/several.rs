//! The list of runs on a page of several, with their verdicts. Comparing them is left to
//! `wakepath compare`.

use crate::markup::Markup;
use crate::page::Reported;
use crate::table::{Cell, Table, words};
use crate::text::tone;

/// A table with a link to each run.
pub(in crate::page) fn write(markup: &mut Markup, runs: &[Reported<'_>]) {
    markup.raw("<section aria-labelledby=\"runs\"><h1 id=\"runs\">");
    markup.text(format!("{} runs", runs.len()));
    markup.raw("</h1>");
    let mut table = Table::new("Scenario")
        .caption(
            "The runs of this page, each judged by its own scenario. Nothing is compared here.",
        )
        .column(words("Started"))
        .column(words("Verdict"))
        .column(words("Recording"));
    for (number, run) in runs.iter().enumerate() {
        let identity = &run.assessment.run;
        let outcome = run.assessment.outcome;
        table.row(
            Cell::Link(identity.scenario.clone(), format!("#run-{number}")),
            vec![
                identity.started.as_str().into(),
                Cell::Toned(outcome.to_string(), tone(outcome)),
                identity.directory.as_str().into(),
            ],
        );
    }
    table.write_html(markup, "Runs");
    markup.raw("</section>\n");
}
