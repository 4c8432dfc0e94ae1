//! The sections that are figures.

use super::nothing;
use crate::figure::{Figure, distinct};
use crate::label;
use crate::markup::Markup;
use crate::page::Reported;

const NO_SAMPLES: &str = "No cycle was judged, so there is nothing to draw.";

const NO_ORDER: &str = "A histogram alone was imported: the order of its values is not known.";

pub(super) fn distributions(markup: &mut Markup, _: usize, run: &Reported<'_>) {
    let figures = &run.figures.distributions;
    if !figures.is_empty() {
        markup.raw(
            "<p class=\"keys\">Point at a curve to read how many values lie at or above a time; \
             press a policy's name to hide or show it.</p>",
        );
    }
    if !run.figures.cpus.is_empty() {
        markup.raw("<h3>CPU by CPU</h3>");
        pairs(markup, &run.figures.cpus, NO_SAMPLES);
        markup.raw("<h3>Policy by policy</h3>");
    }
    pairs(markup, figures, NO_SAMPLES);
}

pub(super) fn time(markup: &mut Markup, number: usize, run: &Reported<'_>) {
    if !run.figures.time.is_empty() {
        explorer(markup, number, run);
    }
    let has_counts = !run.figures.distributions.is_empty();
    let why_none = if has_counts { NO_ORDER } else { NO_SAMPLES };
    pairs(markup, &run.figures.time, why_none);
}

pub(super) fn boxes(markup: &mut Markup, _: usize, run: &Reported<'_>) {
    let boxes = run.figures.boxes.iter();
    let figures: Vec<Figure> = boxes.chain(&run.figures.averages).cloned().collect();
    pairs(markup, &figures, NO_SAMPLES);
}

pub(super) fn inflation(markup: &mut Markup, _: usize, run: &Reported<'_>) {
    pairs(
        markup,
        &run.figures.inflation,
        "Nothing to compare: the loop did no work, or no idle phase did the same work as a loaded one.",
    );
}

/// Figures side by side if there is room.
pub(in crate::page) fn pairs(markup: &mut Markup, figures: &[Figure], why_none: &str) {
    if figures.is_empty() {
        nothing(markup, why_none);
        return;
    }
    // Alike figures are explained once, above them.
    let shares = |caption: &str| figures.iter().filter(|of| of.caption == caption).count() > 1;
    for caption in distinct(figures.iter().map(|figure| figure.caption.as_str())) {
        if shares(caption) {
            markup.element("p", &[("class", &"about")], caption);
        }
    }
    if figures
        .iter()
        .any(|figure| figure.name.starts_with("histogram"))
    {
        markup.raw("<div class=\"figures pairs\">")
    } else {
        markup.raw("<div class=\"figures\">")
    }
    for figure in figures {
        self::figure(markup, figure, "h3", !shares(&figure.caption));
    }
    markup.raw("</div>");
}

/// A figure under its title, with its caption if that is not shown yet. A wide one scrolls.
pub(in crate::page) fn figure(
    markup: &mut Markup,
    figure: &Figure,
    heading: &'static str,
    is_explained: bool,
) {
    markup.raw("<figure>");
    markup.element(heading, &[], &figure.title);
    markup.open(
        "div",
        &[
            ("class", &"scroll"),
            ("tabindex", &"0"),
            ("role", &"group"),
            ("aria-label", &figure.title),
        ],
    );
    markup.append(&figure.inline());
    markup.raw("</div>");
    if is_explained {
        markup.element("figcaption", &[], &figure.caption);
    }
    markup.raw("</figure>");
}

/// The place of the interactive view; a script fills it, and without one it stays hidden.
fn explorer(markup: &mut Markup, number: usize, run: &Reported<'_>) {
    let id = |what: &str| format!("explorer-{number}-{what}");
    markup.open(
        "div",
        &[
            ("class", &"explorer"),
            ("data-run", &number),
            ("hidden", &""),
        ],
    );
    markup.raw("<div class=\"tools\">");
    markup.element("label", &[("for", &id("policy"))], "Policy");
    markup.open(
        "select",
        &[("id", &id("policy")), ("data-choice", &"policy")],
    );
    let policies = run
        .pictures
        .iter()
        .map(|picture| label::policy(&picture.name));
    for policy in distinct(policies) {
        markup.element("option", &[], policy);
    }
    markup.raw("</select>");
    markup.element("label", &[("for", &id("measure"))], "Time");
    markup.open(
        "select",
        &[("id", &id("measure")), ("data-choice", &"measure")],
    );
    for measure in crate::figure::MeasureName::ALL {
        markup.element("option", &[("value", &measure.key())], measure.title());
    }
    markup.raw(
        "</select><span class=\"buttons\">\
         <button type=\"button\" data-do=\"in\" aria-label=\"Zoom in\">+</button>\
         <button type=\"button\" data-do=\"out\" aria-label=\"Zoom out\">−</button>\
         <button type=\"button\" data-do=\"earlier\" aria-label=\"Earlier\">◂</button>\
         <button type=\"button\" data-do=\"later\" aria-label=\"Later\">▸</button>\
         <button type=\"button\" data-do=\"all\">Whole run</button>\
         <button type=\"button\" data-do=\"previous\">Previous miss</button>\
         <button type=\"button\" data-do=\"next\">Next miss</button></span>\
         <span class=\"phases\"></span></div>\
         <div class=\"chart\" tabindex=\"0\" role=\"group\"></div>\
         <p class=\"readout\" aria-live=\"polite\">Point at the chart to read a value.</p>\
         <p class=\"keys\">Drag to zoom, double-click for the whole run. With the keyboard: arrows \
         move, + and − zoom, 0 shows the whole run, n and p go to the next and previous miss. The \
         band reaches from the smallest to the largest value of neighbouring cycles; each red square \
         is a missed one.</p></div>",
    );
}
