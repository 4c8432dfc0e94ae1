//! The report as one HTML file that needs nothing else: no network, no other file, and no script
//! for anything but moving about in the figures. What it says was judged elsewhere.

mod csp;
mod data;
pub(crate) mod markup;
mod sections;
pub(crate) mod words;

use crate::figure::{Figures, style_sheet};
use crate::{Assessment, Picture};
use markup::Markup;
use wakepath_archive::Manifest;
use wakepath_explain::Explanation;

/// A run as it is reported.
#[derive(Debug, Clone, Copy)]
pub struct Reported<'a> {
    /// The run without its samples.
    pub manifest: &'a Manifest,
    /// Its verdict.
    pub assessment: &'a Assessment,
    /// Why its late cycles were late; `None` where the run was not traced.
    pub explanation: Option<&'a Explanation>,
    /// What is drawn of its conditions.
    pub pictures: &'a [Picture],
    /// The figures drawn.
    pub figures: &'a Figures,
}

const STYLE: &str = include_str!("assets/page.css");
const PLOT_STYLE: &str = include_str!("assets/uplot/uPlot.min.css");
const PLOT_SCRIPT: &str = include_str!("assets/uplot/uPlot.iife.min.js");
const SCRIPT: &str = include_str!("assets/page.js");
const EXPLORER_SCRIPT: &str = include_str!("assets/explorer.js");

/// The whole file: one run, or several below each other.
pub fn page(runs: &[Reported<'_>]) -> String {
    let style = format!("{}{PLOT_STYLE}{STYLE}", style_sheet());
    let script = format!("{PLOT_SCRIPT}\n{EXPLORER_SCRIPT}\n{SCRIPT}");
    let mut markup = Markup::default();
    markup.raw("<!DOCTYPE html>\n<html lang=\"en-GB\">\n<head>\n<meta charset=\"utf-8\">\n");
    let policy = csp::policy(&script, &style);
    markup.open(
        "meta",
        &[
            ("http-equiv", &"Content-Security-Policy"),
            ("content", &policy),
        ],
    );
    markup.raw("\n<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n");
    markup.raw("<meta name=\"referrer\" content=\"no-referrer\">\n");
    markup.element("title", &[], title(runs));
    markup.raw("\n");
    markup.own("style", &style);
    markup.raw("\n</head>\n<body>\n<a class=\"skip\" href=\"#content\">To the verdict</a>\n");
    markup.raw("<main id=\"content\">\n");
    if runs.len() > 1 {
        sections::several::write(&mut markup, runs);
    }
    for (number, run) in runs.iter().enumerate() {
        sections::write(&mut markup, number, run);
    }
    markup.raw("</main>\n");
    for (number, run) in runs.iter().enumerate() {
        markup.data(&format!("data-{number}"), &data::json(run));
        markup.raw("\n");
    }
    markup.own("script", &script);
    markup.raw("\n</body>\n</html>\n");
    markup.into_string()
}

fn title(runs: &[Reported<'_>]) -> String {
    let name = |run: &Reported<'_>| {
        let assessment = run.assessment;
        format!("{}: {}", assessment.run.scenario, assessment.outcome)
    };
    let names: Vec<String> = runs.iter().map(name).collect();
    format!("{} – wakepath report", names.join(", "))
}
