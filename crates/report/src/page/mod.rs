//! The report as one HTML file that needs nothing else: no network, no other file, and no script
//! for anything but moving about in the figures. The verdict comes from elsewhere.

mod chapters;
mod comparison;
mod csp;
mod data;
mod front;
mod schedulability;
mod sections;
mod sweep;
mod titles;
mod trial;

pub use comparison::{comparison_figures, comparison_page};
pub use schedulability::schedulability_page;
pub use sweep::sweep_page;
pub use titles::Titles;
pub use trial::{
    before_and_after as trial_before_and_after, steps as trial_steps,
    steps_in_short as trial_steps_in_short, trial_page,
};

use crate::figure::{Figures, style_sheet};
use crate::markup::Markup;
pub(crate) use sections::sentence;
use wakepath_archive::Manifest;
use wakepath_assess::watched::{Ros2Figures, ThreadChain};
use wakepath_assess::{Assessment, Bounds, Picture};
use wakepath_explain::Explanation;

/// A run as it is reported.
#[derive(Debug, Clone, Copy)]
pub struct Reported<'a> {
    /// The run without its samples.
    pub manifest: &'a Manifest,
    /// Its verdict.
    pub assessment: &'a Assessment,
    /// Causes of its late cycles; `None` if the run was not traced.
    pub explanation: Option<&'a Explanation>,
    /// Callbacks of ROS 2 in its traces.
    pub callbacks: &'a [Ros2Figures],
    /// Its chains of threads, if it was watched.
    pub chains: &'a [ThreadChain],
    /// Bounds on its largest latency; `None` if no cycle was recorded.
    pub bounds: Option<&'a Bounds>,
    /// Data for the figures of its conditions.
    pub pictures: &'a [Picture],
    /// The figures drawn.
    pub figures: &'a Figures,
}

const STYLE: &str = include_str!("assets/page.css");
/// Rows of a table as cards, for screens that it does not fit.
const CARDS: &str = include_str!("assets/cards.css");
const PLOT_STYLE: &str = include_str!("assets/uplot/uPlot.min.css");
const PLOT_SCRIPT: &str = include_str!("assets/uplot/uPlot.iife.min.js");
const SCRIPT: &str = include_str!("assets/page.js");
const EXPLORER_SCRIPT: &str = include_str!("assets/explorer.js");

/// The whole file: one run, or several below each other.
pub fn page(runs: &[Reported<'_>], titles: &Titles) -> String {
    let data: Vec<String> = runs.iter().map(data::json).collect();
    let page = document(&title(runs, titles), "To the verdict", &data, |markup| {
        if runs.len() > 1 {
            sections::several::write(markup, runs);
        }
        for (number, run) in runs.iter().enumerate() {
            sections::write(markup, (number, runs.len() > 1), run, titles);
        }
    });
    match titles.unfolded {
        // Parts folded inside chapters. No foreign text can read like this: its `<` is escaped.
        true => page.replace("<details><summary>", "<details open><summary>"),
        false => page,
    }
}

/// A file of its own around `write`'s content, with the data that its scripts move about in.
fn document(title: &str, skip: &str, data: &[String], write: impl FnOnce(&mut Markup)) -> String {
    let style = format!(
        "{}{PLOT_STYLE}{STYLE}{}{}",
        style_sheet(),
        cards(),
        foot(title)
    );
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
    markup.element("title", &[], title);
    markup.raw("\n");
    markup.own("style", &style);
    markup.raw("\n</head>\n<body>\n");
    markup.element("a", &[("class", &"skip"), ("href", &"#content")], skip);
    markup.raw("\n<main id=\"content\">\n");
    write(&mut markup);
    markup.raw("</main>\n");
    for (number, json) in data.iter().enumerate() {
        markup.data(&format!("data-{number}"), json);
        markup.raw("\n");
    }
    markup.own("script", &script);
    markup.raw("\n</body>\n</html>\n");
    markup.into_string()
}

/// Tables become cards on a phone; those of very many columns on a tablet too.
fn cards() -> String {
    let broad = CARDS.replace(".stacks", ".broad");
    format!(
        "@media screen and (max-width:560px){{{CARDS}}}\n@media screen and (max-width:920px){{{broad}}}\n"
    )
}

/// The foot of each printed page. The title is foreign text: only its letters and digits are written
/// plainly into a style sheet.
fn foot(title: &str) -> String {
    let mut text = String::new();
    for character in title.chars() {
        if character.is_ascii_alphanumeric() || character == ' ' {
            text.push(character)
        } else {
            text += &format!("\\{:x} ", u32::from(character))
        }
    }
    format!("@page{{@bottom-left{{content:\"{text}\";font:7pt sans-serif;color:#59636e}}}}")
}

fn title(runs: &[Reported<'_>], titles: &Titles) -> String {
    let name = |run: &Reported<'_>| format!("{}: {}", titles.title(run), run.assessment.outcome);
    let names: Vec<String> = runs.iter().map(name).collect();
    format!("{} – wakepath report", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::foot;

    #[test]
    fn the_foot_of_a_printed_page_is_the_title_and_no_character_of_it_ends_the_style() {
        let foot = foot("Cell 7\"}</style>: 5 µs");
        assert!(
            foot.contains("Cell 7\\22 \\7d \\3c \\2f style\\3e \\3a  5 \\b5 s"),
            "{foot}"
        );
    }
}
