//! The machine, and changes to it during the run.

use super::nothing;
use crate::markup::Markup;
use crate::page::Reported;
use crate::table::{Cell, Table, words};
use wakepath_machine::Severity;

/// Writes facts and changes.
pub(super) fn write(markup: &mut Markup, _: usize, run: &Reported<'_>) {
    let assessment = run.assessment;
    if assessment.machine.is_empty() {
        nothing(
            markup,
            "The recording has no facts about the machine that this version can read.",
        );
    } else {
        let mut table = Table::new("")
            .class("facts")
            .caption("The machine before the run")
            .column(words(""));
        for line in &assessment.machine {
            table.row(line.topic.label(), vec![line.text.as_str().into()]);
        }
        table.write_html(markup, "Facts of the machine");
    }
    markup.raw("<h3>Changes during the run</h3>");
    if assessment.machine_changes.is_empty() {
        let why = if assessment.machine.is_empty() {
            "Unknown: there are no facts to compare."
        } else {
            "None of the settings and counters that wakepath checks changed during the run."
        };
        nothing(markup, why);
    } else {
        let mut table = Table::new("Fact")
            .caption("From the first look at the machine to the last")
            .column(words("Before"))
            .column(words("After"))
            .column(words("Matters"));
        for change in &assessment.machine_changes {
            let matters = match change.severity {
                Severity::Note => "worth knowing",
                Severity::Warning => "can make cycles late",
                Severity::Serious => "results before and after can't be compared",
            };
            let cells = [change.before.as_str(), &change.after, matters].map(Cell::from);
            table.row(change.what.as_str(), cells.to_vec());
        }
        table.write_html(markup, "Changes of the machine");
    }
    // Another tool does not count them.
    if assessment.imported.is_none() {
        let faults = assessment.page_faults;
        markup.element(
            "p",
            &[],
            format!("Page faults in the loop after its warm-up: {faults}."),
        );
    }
    if !assessment.controllers.is_empty() {
        markup.raw("<h3>Controllers</h3><ul>");
        for controller in &assessment.controllers {
            markup.element("li", &[], controller);
        }
        markup.raw("</ul>");
    }
    if !assessment.run.notes.is_empty() {
        markup.raw("<h3>Notes of the run</h3><ul>");
        for note in &assessment.run.notes {
            markup.element("li", &[], note);
        }
        markup.raw("</ul>");
    }
}
