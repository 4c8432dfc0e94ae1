//! The machine, and what changed on it during the run.

use super::{nothing, scrolling};
use crate::page::Reported;
use crate::page::markup::Markup;
use wakepath_machine::Severity;

/// Writes facts and changes.
pub(super) fn write(markup: &mut Markup, _: usize, run: &Reported<'_>) {
    let assessment = run.assessment;
    if assessment.machine.is_empty() {
        nothing(
            markup,
            "The recording holds no facts of the machine that this version can read.",
        );
    } else {
        let mut table = Markup::default();
        table.raw("<table class=\"facts\"><caption>The machine before the run</caption><tbody>");
        for (label, text) in &assessment.machine {
            pair(&mut table, label, text);
        }
        pair(&mut table, "clock", &run.manifest.clock_source);
        table.raw("</tbody></table>");
        scrolling(markup, "Facts of the machine", &table);
    }
    markup.raw("<h3>What changed</h3>");
    if assessment.machine_changes.is_empty() {
        let why = match assessment.machine.is_empty() {
            true => "Not known: there are no facts to compare.",
            false => "Nothing that wakepath looks at changed from before the run to after it.",
        };
        nothing(markup, why);
    } else {
        let mut table = Markup::default();
        table.raw(
            "<table><caption>From the first look at the machine to the last</caption><thead><tr>\
             <th scope=\"col\">What</th><th scope=\"col\">Before</th><th scope=\"col\">After</th>\
             <th scope=\"col\">Matters</th></tr></thead><tbody>",
        );
        for change in &assessment.machine_changes {
            table.raw("<tr>");
            table.element("th", &[("scope", &"row")], &change.what);
            table.element("td", &[], &change.before);
            table.element("td", &[], &change.after);
            let matters = match change.severity {
                Severity::Note => "worth knowing",
                Severity::Warning => "can make cycles late",
                Severity::Serious => "before and after are different machines",
            };
            table.element("td", &[], matters);
            table.raw("</tr>");
        }
        table.raw("</tbody></table>");
        scrolling(markup, "Changes of the machine", &table);
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

fn pair(table: &mut Markup, label: &str, text: &str) {
    table.raw("<tr>");
    table.element("th", &[("scope", &"row")], label);
    table.element("td", &[], text);
    table.raw("</tr>");
}
