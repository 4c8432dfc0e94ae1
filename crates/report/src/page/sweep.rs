//! A sweep as one HTML file: its figures, how far each policy holds, every point as a table.

use super::document;
use super::sections::figures;
use crate::figure::sweep;
use crate::markup::Markup;
use crate::table::{Table, number};
use crate::text::{sweep_headline, sweep_remarks, sweep_table};
use wakepath_assess::Sweep;

/// The file.
pub fn sweep_page(found: &Sweep) -> String {
    let title = "Share of task sets that hold – wakepath schedulability sweep";
    document(title, "To the figures", &[], |markup| {
        markup.raw("<article id=\"run-0\"><header><h1>Which share of task sets holds</h1>");
        markup.element("p", &[], sweep_headline(found));
        markup.raw("</header>\n<section aria-labelledby=\"curves\"><h2 id=\"curves\">Curves</h2>");
        figures::pairs(markup, &sweep::draw(found), "No point was computed.");
        markup.raw("</section>\n<section aria-labelledby=\"far\"><h2 id=\"far\">How far each policy holds</h2>");
        for distribution in &found.plan.distributions {
            let name = format!("How far each policy holds, {} tasks", distribution.name);
            sweep_table(found, &distribution.name).write_html(markup, &name);
        }
        markup.raw("</section>\n<section aria-labelledby=\"read\"><h2 id=\"read\">How to read it</h2><ul class=\"reasons\">");
        for line in sweep_remarks(found) {
            markup.element("li", &[], line);
        }
        markup.raw("</ul></section>\n<section aria-labelledby=\"points\"><h2 id=\"points\">Every point</h2>");
        for distribution in &found.plan.distributions {
            points(markup, found, &distribution.name);
        }
        markup.raw("</section></article>\n");
    })
}

const HEADINGS: [&str; 5] = ["P-FP", "P-EDF", "G-EDF", "C-EDF", "G-FP"];

fn points(markup: &mut Markup, found: &Sweep, distribution: &str) {
    for overheads in &found.plan.overheads {
        let caption = format!(
            "{distribution} tasks, {} overheads: sets that hold, in %",
            overheads.name
        );
        let columns: Vec<_> = found
            .plan
            .policies
            .iter()
            .filter_map(|policy| HEADINGS.iter().find(|heading| *heading == policy))
            .map(|heading| number(heading))
            .collect();
        let mut table = Table::new("Utilization, %")
            .caption(caption.clone())
            .column(number("Tasks"))
            .column(number("Sets"))
            .group("", "", &columns);
        for point in found
            .points
            .iter()
            .filter(|point| point.distribution == distribution)
        {
            let shares = point
                .shares
                .iter()
                .filter(|share| share.overheads == overheads.name);
            let cells = [
                point.tasks.to_string().into(),
                point.sets.to_string().into(),
            ]
            .into_iter();
            let cells =
                cells.chain(shares.map(|share| format!("{:.2}", share.share * 100.0).into()));
            table.row(format!("{:.1}", point.utilization * 100.0), cells.collect());
        }
        markup.raw("<details><summary>");
        markup.element("span", &[], &caption);
        markup.raw("</summary>");
        table.write_html(markup, &caption);
        markup.raw("</details>");
    }
}
