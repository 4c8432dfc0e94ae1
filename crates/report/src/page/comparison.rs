//! A comparison as one HTML file: the finding, what differs, what each metric shows, and the
//! distributions over each other. What it says was compared elsewhere.

use super::data::json_of_shapes;
use super::document;
use super::markup::Markup;
use super::sections::{figures, scrolling};
use crate::Figure;
use crate::figure::{Line, overlaid};
use crate::text::{BANNER, cells, conclusions, label, method, metric_label, reasons};
use wakepath_assess::{Bin, Comparison, ConditionComparison, Finding, RunFigures, Shape, Weight};

/// The file.
pub fn comparison_page(comparison: &Comparison) -> String {
    let shapes = shapes(comparison);
    let data = json_of_shapes(shapes.iter().flatten().flatten());
    let title = format!("Comparison: {} – wakepath compare", comparison.finding);
    document(&title, "To the finding", &[data], |markup| {
        markup.raw("<article id=\"run-0\">");
        head(markup, comparison);
        section(markup, "differences", "What differs", |markup| {
            differences(markup, comparison);
        });
        section(markup, "metrics", "What each metric shows", |markup| {
            metrics(markup, comparison);
        });
        section(
            markup,
            "distributions",
            "Distributions over each other",
            |markup| {
                let drawn = drawn(comparison, &shapes);
                markup.element(
                "p",
                &[("class", &"about")],
                "All due times of a side's runs together, for the eye: a judgement rests on runs, \
                 not on their samples. Values are kept to 0.8 %. Point at a curve to read it, \
                 press a name to hide a side.",
            );
                figures::pairs(markup, &drawn, "No due time was judged on either side.");
            },
        );
        section(markup, "method", "How this was compared", |markup| {
            list(markup, method(comparison).into_iter());
        });
        markup.raw("</article>\n");
    })
}

/// Its figures: of each condition the histogram and the complementary cumulative distribution.
pub fn comparison_figures(comparison: &Comparison) -> Vec<Figure> {
    drawn(comparison, &shapes(comparison))
}

/// Of each condition the shapes of both sides.
fn shapes(comparison: &Comparison) -> Vec<[Option<Shape>; 2]> {
    let shape = |bins: &[Bin], runs: &[RunFigures]| {
        let counts: Vec<_> = bins
            .iter()
            .map(|bin| (bin.low_ns, bin.high_ns, bin.count))
            .collect();
        let max = runs.iter().filter_map(|run| run.whole_maximum_ns).max()?;
        Shape::of_counts(&counts, max)
    };
    let of = |one: &ConditionComparison| {
        [
            shape(&one.base_distribution, &one.base),
            shape(&one.against_distribution, &one.against),
        ]
    };
    comparison.conditions.iter().map(of).collect()
}

fn drawn(comparison: &Comparison, shapes: &[[Option<Shape>; 2]]) -> Vec<Figure> {
    let mut figures = Vec::new();
    let mut number = 0;
    for (condition, sides) in comparison.conditions.iter().zip(shapes) {
        let named = [("base", &comparison.base), ("against", &comparison.against)];
        let mut lines = Vec::new();
        for (colour, (shape, (side, runs))) in sides.iter().zip(named).enumerate() {
            let Some(shape) = shape else { continue };
            lines.push(Line {
                name: match runs.len() {
                    1 => side.to_owned(),
                    many => format!("{side}, {many} runs"),
                },
                colour,
                condition: number,
                shape,
            });
            number += 1;
        }
        if !lines.is_empty() {
            let name = format!("{}, {}", label(condition), condition.name.phase);
            figures.extend(overlaid(&name, &lines, comparison.latency_limit_ns));
        }
    }
    figures
}

fn section(markup: &mut Markup, id: &str, heading: &str, write: impl FnOnce(&mut Markup)) {
    let heading_id = format!("{id}-heading");
    markup.raw("\n");
    markup.open("section", &[("id", &id), ("aria-labelledby", &heading_id)]);
    markup.element("h2", &[("id", &heading_id)], heading);
    write(markup);
    markup.close("section");
}

fn list(markup: &mut Markup, lines: impl Iterator<Item = String>) {
    markup.raw("<ul class=\"reasons\">");
    for line in lines {
        markup.element("li", &[], line);
    }
    markup.raw("</ul>");
}

fn class(finding: Finding) -> &'static str {
    match finding {
        Finding::Improved | Finding::Equivalent => "outcome good",
        Finding::Regressed | Finding::Invalid => "outcome bad",
        Finding::Inconclusive => "outcome doubt",
    }
}

fn head(markup: &mut Markup, comparison: &Comparison) {
    markup.raw("<header><h1>Comparison: ");
    markup.element(
        "span",
        &[("class", &class(comparison.finding))],
        comparison.finding,
    );
    markup.raw("</h1>");
    if !comparison.forced.is_empty() {
        markup.raw("<div class=\"remark\" role=\"note\">");
        markup.element("p", &[("class", &"outcome bad")], BANNER);
        list(markup, comparison.forced.iter().cloned());
        markup.raw("</div>");
    }
    list(markup, conclusions(comparison).into_iter());
    let mut table = Markup::default();
    table.raw(
        "<table><caption>The runs</caption><thead><tr><th scope=\"col\">Side</th>\
         <th scope=\"col\">Scenario</th><th scope=\"col\">Started</th>\
         <th scope=\"col\">Recording</th></tr></thead><tbody>",
    );
    for (side, runs) in [("base", &comparison.base), ("against", &comparison.against)] {
        for run in runs {
            table.raw("<tr>");
            table.element("th", &[("scope", &"row")], side);
            for cell in [&run.scenario, &run.started, &run.directory] {
                table.element("td", &[], cell);
            }
            table.raw("</tr>");
        }
    }
    table.raw("</tbody></table>");
    scrolling(markup, "The runs", &table);
    if !comparison.cautions.is_empty() {
        markup.raw("<h2>Cautions</h2>");
        list(markup, comparison.cautions.iter().cloned());
    }
    markup.raw("</header>");
}

fn differences(markup: &mut Markup, comparison: &Comparison) {
    if comparison.differences.is_empty() {
        let none = "Nothing that was looked at: machine, settings, kernel, scenario, loads, tool.";
        markup.element("p", &[("class", &"nothing")], none);
        return;
    }
    let mut table = Markup::default();
    table.raw(
        "<table class=\"facts\"><caption>Between the first runs of the sides</caption><thead><tr>\
         <th scope=\"col\">What</th><th scope=\"col\">Base</th><th scope=\"col\">Against</th>\
         <th scope=\"col\">For comparing</th></tr></thead><tbody>",
    );
    for difference in &comparison.differences {
        table.raw("<tr>");
        table.element("th", &[("scope", &"row")], &difference.what);
        table.element("td", &[], &difference.base);
        table.element("td", &[], &difference.against);
        let means = match difference.weight {
            Weight::Forbids => "forbids it",
            Weight::Explains => "may explain what is found",
            Weight::Note => "to be known",
        };
        table.element("td", &[], means);
        table.raw("</tr>");
    }
    table.raw("</tbody></table>");
    scrolling(markup, "What differs", &table);
}

const HEADS: [&str; 13] = [
    "base, lowest",
    "median",
    "highest",
    "against, lowest",
    "median",
    "highest",
    "shift",
    "90 % from",
    "to",
    "margin",
    "p no worse",
    "p no better",
    "p apart",
];

fn metrics(markup: &mut Markup, comparison: &Comparison) {
    let mut table = Markup::default();
    table.raw(
        "<table class=\"measured\"><caption>Over the runs of each side; p: how likely the like would \
         be seen, if the side were no worse, no better, or the sides apart by the margin</caption>\
         <thead><tr><th scope=\"col\">Metric</th><th scope=\"col\">Finding</th>",
    );
    for head in HEADS {
        table.element("th", &[("scope", &"col"), ("class", &"number")], head);
    }
    table.raw("</tr></thead><tbody>");
    for condition in &comparison.conditions {
        table.raw("<tr class=\"phase\">");
        let name = format!("{}, {}", label(condition), condition.name.phase);
        table.element(
            "th",
            &[("colspan", &(HEADS.len() + 2)), ("scope", &"rowgroup")],
            name,
        );
        table.raw("</tr>");
        for metric in &condition.metrics {
            table.raw("<tr>");
            table.element("th", &[("scope", &"row")], metric_label(metric.metric));
            let mut all = cells(condition, metric);
            let finding = all.pop();
            table.raw("<td>");
            let class = class(metric.finding);
            table.element("span", &[("class", &class)], finding.unwrap_or_default());
            table.raw("</td>");
            for cell in all {
                table.element("td", &[("class", &"number")], cell);
            }
            table.raw("</tr>");
        }
    }
    table.raw("</tbody></table>");
    scrolling(markup, "What each metric shows", &table);
    let reasons = reasons(comparison);
    if !reasons.is_empty() {
        list(markup, reasons.into_iter());
    }
}
