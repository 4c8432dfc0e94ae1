//! The sections of the page, in the order in which a reader decides. One without data gives the reason.

mod callbacks;
mod causes;
mod chains;
pub(super) mod figures;
mod flight;
mod interference;
mod loads;
mod machine;
pub(super) mod repeat;
pub(super) mod several;
mod stacks;
mod statistics;
mod table;
mod why;
mod worst;
mod worst_case;

use super::{Reported, Titles, chapters, front};
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
    ("why", "Why each policy passed or failed", why::write),
    ("table", "Policy by policy, load by load", table::write),
    (
        "distributions",
        "How latencies are distributed",
        figures::distributions,
    ),
    ("time", "Over the run", figures::time),
    ("boxes", "Policies side by side", figures::boxes),
    ("inflation", "Execution under load", figures::inflation),
    ("causes", "Causes and worst cycles", causes::write),
    ("chains", "Chains of threads", chains::write),
    (
        "callbacks",
        "Callbacks and chains of ROS 2",
        callbacks::write,
    ),
    (
        "worst-case",
        "Worst case: bounds from this run",
        worst_case::write,
    ),
    ("flight", "Flight", flight::write),
    ("machine", "The machine and its changes", machine::write),
    ("loads", "Work of the loads", loads::write),
    (
        "statistics",
        "Statistics and their limits",
        statistics::write,
    ),
    ("repeat", "How to repeat it", repeat::write),
];

/// Whether a run has a section: without a flight there is none about it, since most loops fly nothing, without ROS 2 none
/// about its callbacks, none about chains if there are none, and none about loads of a program that was only watched.
fn has(run: &Reported<'_>, name: &str) -> bool {
    match name {
        "inflation" | "loads" => !front::is_watched(run.assessment),
        "flight" => run.assessment.flights.is_some(),
        "callbacks" => !run.callbacks.is_empty(),
        "chains" => !run.chains.is_empty(),
        _ => true,
    }
}

/// A section's heading; the rows of a watched program are its threads.
fn heading(run: &Reported<'_>, name: &str, usual: &'static str) -> &'static str {
    match (name, front::is_watched(run.assessment)) {
        ("why", true) => "Each thread's verdict and its reason",
        ("table", true) => "Thread by thread",
        ("boxes", true) => "Threads side by side",
        _ => usual,
    }
}

/// The first page of a run and all its chapters, folded. `number` is its place on the page.
pub(super) fn write(
    markup: &mut Markup,
    (number, is_one_of_several): (usize, bool),
    run: &Reported<'_>,
    titles: &Titles,
) {
    let id = format!("run-{number}");
    markup.open("article", &[("id", &id)]);
    front::write(markup, number, run, titles);
    let name_of = |name: &str| format!("{name}-{number}");
    let own = || SECTIONS.iter().filter(|(name, ..)| has(run, name));
    let named = own().map(|(name, usual, _)| (name_of(name), heading(run, name, usual)));
    let of = is_one_of_several.then_some(number);
    chapters::contents(markup, of, named);
    for (name, usual, section) in own() {
        let heading = heading(run, name, usual);
        let named = (&*name_of(name), heading);
        chapters::write(markup, named, of, titles.unfolded, |markup| {
            section(markup, number, run);
        });
    }
    markup.raw("</article>\n");
}

/// An outcome as a word with its colour.
pub(super) fn outcome(markup: &mut Markup, outcome: Outcome) {
    markup.element("span", &[("class", &tone_class(tone(outcome)))], outcome);
}

/// Why a section is empty.
pub(super) fn nothing(markup: &mut Markup, why: &str) {
    markup.prose("p", &[("class", &"nothing")], why);
}

/// A line of the terminal as a sentence of a page.
pub(crate) fn sentence(line: &str) -> String {
    let mut characters = line.chars();
    let first = characters
        .next()
        .map(|first| first.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), characters.as_str())
}
