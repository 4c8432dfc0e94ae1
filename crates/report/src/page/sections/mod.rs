//! The sections of the page, in the order in which a reader decides. One that has no data says why.

mod causes;
pub(super) mod figures;
mod flight;
mod interference;
mod loads;
mod machine;
mod repeat;
pub(super) mod several;
mod statistics;
mod table;
mod verdict;
mod worst;

use super::Reported;
use crate::markup::Markup;
use crate::table::tone_class;
use crate::text::tone;
use wakepath_verdict::Outcome;

/// A section: its name in links, its heading, what writes it.
type Section = (
    &'static str,
    &'static str,
    fn(&mut Markup, usize, &Reported<'_>),
);

const SECTIONS: &[Section] = &[
    ("table", "Policy by policy, load by load", table::write),
    ("distributions", "Distributions", figures::distributions),
    ("time", "Over the run", figures::time),
    ("boxes", "Box plots, maxima and averages", figures::boxes),
    ("inflation", "Execution under load", figures::inflation),
    ("causes", "Causes and worst cycles", causes::write),
    ("flight", "Flight", flight::write),
    ("machine", "The machine, and what changed", machine::write),
    ("loads", "What the loads did", loads::write),
    (
        "statistics",
        "Statistics, and what this run can't say",
        statistics::write,
    ),
    ("repeat", "How to repeat it", repeat::write),
];

/// All sections of a run. `number` is its place on the page.
pub(super) fn write(markup: &mut Markup, number: usize, run: &Reported<'_>) {
    let id = format!("run-{number}");
    markup.open("article", &[("id", &id)]);
    verdict::write(markup, number, run);
    contents(markup, number);
    for (name, heading, section) in SECTIONS {
        let id = format!("{name}-{number}");
        let heading_id = format!("{name}-{number}-heading");
        markup.raw("\n");
        markup.open("section", &[("id", &id), ("aria-labelledby", &heading_id)]);
        markup.element("h2", &[("id", &heading_id)], heading);
        section(markup, number, run);
        markup.close("section");
    }
    markup.raw("</article>\n");
}

fn contents(markup: &mut Markup, number: usize) {
    markup.raw("<nav aria-label=\"Sections\"><ul>");
    for (name, heading, _) in SECTIONS {
        markup.raw("<li>");
        markup.element("a", &[("href", &format!("#{name}-{number}"))], heading);
        markup.raw("</li>");
    }
    markup.raw("</ul></nav>");
}

/// An outcome as a word with its colour.
fn outcome(markup: &mut Markup, outcome: Outcome) {
    markup.element("span", &[("class", &tone_class(tone(outcome)))], outcome);
}

/// Why a section is empty.
fn nothing(markup: &mut Markup, why: &str) {
    markup.element("p", &[("class", &"nothing")], why);
}
