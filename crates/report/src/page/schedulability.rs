//! The page of a task set's analysis: the answer, a row for each task, the worst window of each, and the
//! overheads that were and were not included.

use super::document;
use crate::Style;
use crate::figure::gantt;
use crate::text::{ToText, response_sums, schedulability_table};
use wakepath_assess::Schedulability;
use wakepath_schedulability::Window;

/// The whole file. `windows` are those of the tasks that have one.
pub fn schedulability_page(answer: &Schedulability, windows: &[Window]) -> String {
    let title = format!("{} under {} – wakepath", answer.word(), answer.set.method);
    document(&title, "To the answer", &[], |markup| {
        markup.raw("<section aria-labelledby=\"answer\">");
        let text = answer.to_text(Style::default());
        let mut lines = text.lines();
        markup.element("h1", &[("id", &"answer")], lines.next().unwrap_or_default());
        markup.element("p", &[("class", &"lead")], lines.next().unwrap_or_default());
        schedulability_table(answer).write_html(markup, "Tasks");
        let sums = response_sums(answer);
        if !sums.is_empty() {
            markup.raw("<h2>What each response consists of</h2><ul>");
            for sum in sums {
                markup.element("li", &[], sum);
            }
            markup.raw("</ul>");
        }
        markup.raw("<h2>Worst windows</h2>");
        if windows.is_empty() {
            markup.element(
                "p",
                &[],
                "None is drawn: this analysis adds up what no single schedule shows.",
            );
        }
        for window in windows {
            let figure = gantt::draw(answer, window);
            markup.open("figure", &[]);
            markup.element("h3", &[], &figure.title);
            markup.append(&figure.inline());
            markup.element("figcaption", &[], &figure.caption);
            markup.raw("</figure>");
        }
        markup.raw("<h2>In full</h2>");
        markup.element("pre", &[], &text);
        markup.raw("</section>\n");
    })
}
