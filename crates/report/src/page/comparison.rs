//! A comparison as one HTML file: first the finding and the figures that differ most, then chapters with
//! the differences, each metric and the distributions over each other. The comparison itself is made
//! elsewhere.

use super::data::json_of_shapes;
use super::sections::{figures, sentence};
use super::{chapters, document};
use crate::Figure;
use crate::figure::{Line, overlaid};
use crate::markup::Markup;
use crate::table::tone_class;
use crate::text::{
    BANNER, conclusions, differences_table, finding_tone, label, method, metrics_table,
    most_changed, reasons,
};
use wakepath_assess::{Bin, Comparison, ConditionComparison, RunFigures, Shape};
use wakepath_verdict::{counted, duration};

/// Figures on the first page; a chapter has all.
const MOST_SHOWN: usize = 8;

const CHAPTERS: &[(&str, &str)] = &[
    ("differences", "Machine, kernel and scenario"),
    ("metrics", "Metrics"),
    ("distributions", "Distributions over each other"),
    ("method", "How this was compared"),
];

/// The file.
pub fn comparison_page(comparison: &Comparison) -> String {
    let shapes = shapes(comparison);
    let data = json_of_shapes(shapes.iter().flatten().flatten());
    let title = format!("Comparison: {} – wakepath compare", comparison.finding);
    document(&title, "To the finding", &[data], |markup| {
        markup.raw("<article id=\"run-0\">");
        front(markup, comparison);
        let named = CHAPTERS
            .iter()
            .map(|(id, heading)| ((*id).to_owned(), *heading));
        chapters::contents(markup, None, named);
        for (id, heading) in CHAPTERS {
            chapters::write(markup, (id, heading), None, false, |markup| match *id {
                "differences" => differences(markup, comparison),
                "metrics" => metrics(markup, comparison),
                "distributions" => distributions(markup, &drawn(comparison, &shapes)),
                _ => list(markup, method(comparison).into_iter()),
            });
        }
        markup.raw("</article>\n");
    })
}

fn distributions(markup: &mut Markup, figures: &[Figure]) {
    markup.element(
        "p",
        &[("class", &"about")],
        "All due times of a side's runs together, for the eye: a judgement rests on runs, not on \
         their samples. Values are kept to 0.8 %. Point at a curve to read it, press a name to \
         hide a side.",
    );
    figures::pairs(markup, figures, "No due time was judged on either side.");
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
            let equal = at_equal_counts(condition);
            let pair = overlaid(&name, &lines, comparison.latency_limit_ns);
            figures.extend(pair.map(|mut figure| {
                figure.caption = format!("{} {equal}", figure.caption);
                figure
            }));
        }
    }
    figures
}

/// The largest of either side over as many due times: the longer run has larger ones for that alone.
fn at_equal_counts(condition: &ConditionComparison) -> String {
    let largest = |runs: &[RunFigures]| {
        let largest = runs.iter().filter_map(|run| run.maximum_ns).max();
        largest.map_or("not known".to_owned(), duration)
    };
    format!(
        "At equal counts, the largest of the first {} of each run: base {}, against {}.",
        counted(condition.equal_count, "due time", "due times"),
        largest(&condition.base),
        largest(&condition.against)
    )
}

fn list(markup: &mut Markup, lines: impl Iterator<Item = String>) {
    markup.raw("<ul class=\"reasons\">");
    for line in lines {
        markup.element("li", &[], line);
    }
    markup.raw("</ul>");
}

/// The finding and what it rests on, the figures that differ most, which runs it is of.
fn front(markup: &mut Markup, comparison: &Comparison) {
    markup.raw("<header class=\"front\"><h1>Comparison: ");
    markup.element(
        "span",
        &[("class", &tone_class(finding_tone(comparison.finding)))],
        comparison.finding,
    );
    markup.raw("</h1>");
    if !comparison.forced.is_empty() {
        markup.raw("<div class=\"remark\" role=\"note\">");
        markup.element("p", &[("class", &"outcome bad")], BANNER);
        list(markup, comparison.forced.iter().cloned());
        markup.raw("</div>");
    }
    for line in conclusions(comparison) {
        markup.element("p", &[("class", &"lead")], sentence(&line));
    }
    let changed = most_changed(comparison, MOST_SHOWN, usize::MAX);
    if changed.all > 0 {
        let several = comparison.base.len() > 1 || comparison.against.len() > 1;
        let about = format!(
            "The figures that differ most; {} of {} by more than the margin, {}.{}",
            changed.beyond,
            changed.all,
            comparison.margin,
            if several {
                " Medians over the runs of a side."
            } else {
                ""
            }
        );
        let table = changed.table.class("policies").caption(about);
        table.write_html(markup, "The figures that differ most");
    }
    let what = comparison.differences.iter().map(|of| of.what.as_str());
    let what: Vec<&str> = what.collect();
    if !what.is_empty() {
        let text = format!("Besides the timing, these differ: {}.", what.join(", "));
        markup.element("p", &[], text);
    }
    if let Some(gravity) = &comparison.gravity {
        let (first, rest) = gravity.split_at(1);
        let text = format!("{}{rest}.", first.to_uppercase());
        markup.element("p", &[("class", &"remark")], text);
    }
    for caution in &comparison.cautions {
        let text = format!("Caution: {caution}.");
        markup.element("p", &[("class", &"remark")], text);
    }
    markup.raw("<dl class=\"terms\">");
    for (side, runs) in [("Base", &comparison.base), ("Against", &comparison.against)] {
        markup.element("dt", &[], side);
        for run in runs {
            let text = format!("{}, {}, {}", run.scenario, run.started, run.directory);
            markup.element("dd", &[], text);
        }
    }
    markup.raw("</dl>");
    markup.raw("</header>\n");
}

fn differences(markup: &mut Markup, comparison: &Comparison) {
    if comparison.differences.is_empty() {
        let none = "As far as it was recorded, both sides had the same machine and settings, kernel, scenario, \
                    loads and version of wakepath.";
        markup.element("p", &[("class", &"nothing")], none);
        return;
    }
    differences_table(comparison).write_html(markup, "Machine, kernel and scenario");
}

fn metrics(markup: &mut Markup, comparison: &Comparison) {
    let [sides, tested] = metrics_table(comparison).parted(&["shift", "p if"]);
    sides
        .caption("Over the runs of each side")
        .write_html(markup, "Metrics of both sides");
    let tested = tested.caption(
        "Their difference; p: probability of a difference this large if the side were no worse, no better, or the \
         sides differed by the margin",
    );
    tested.write_html(markup, "Differences");
    let reasons = reasons(comparison);
    if !reasons.is_empty() {
        list(markup, reasons.into_iter().map(|(_, reason)| reason));
    }
}
