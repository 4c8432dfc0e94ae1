//! The runs of a page that holds several: which there are, and what became of each. It compares
//! nothing: that is the business of `wakepath compare`.

use super::outcome;
use crate::page::Reported;
use crate::page::markup::Markup;

/// A table with a link to each run.
pub(in crate::page) fn write(markup: &mut Markup, runs: &[Reported<'_>]) {
    markup.raw("<section aria-labelledby=\"runs\"><h1 id=\"runs\">");
    markup.text(format!("{} runs", runs.len()));
    markup.raw(
        "</h1><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Runs\"><table><caption>The runs of this page, each judged by \
                its own scenario. Nothing is compared here.</caption><thead><tr>\
                <th scope=\"col\">Scenario</th><th scope=\"col\">Started</th>\
                <th scope=\"col\">Verdict</th><th scope=\"col\">Recording</th></tr></thead><tbody>",
    );
    for (number, run) in runs.iter().enumerate() {
        let identity = &run.assessment.run;
        markup.raw("<tr><th scope=\"row\">");
        markup.element(
            "a",
            &[("href", &format!("#run-{number}"))],
            &identity.scenario,
        );
        markup.raw("</th><td>");
        markup.text(&identity.started);
        markup.raw("</td><td>");
        outcome(markup, run.assessment.outcome);
        markup.raw("</td>");
        markup.element("td", &[], &identity.directory);
        markup.raw("</tr>");
    }
    markup.raw("</tbody></table></div></section>\n");
}
