//! A figure as a separate file: since it leaves the page, it names its content, its run, the machine and
//! the date.

use super::{Figure, style};
use crate::markup::Markup;
use wakepath_assess::{Assessment, Comparison, RunIdentity};
use wakepath_machine::Topic;
use wakepath_timeline::columns::wrapped;

/// Where a figure comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// The run, the comparison, the experiment.
    pub of: String,
    /// The machine in a few words; empty if unknown.
    pub machine: String,
    /// When it was measured; empty if unknown.
    pub date: String,
}

/// Room for a line of each kind.
const TITLE: f64 = 18.0;
const LINE: f64 = 15.0;
const EDGE: f64 = 8.0;
/// Widths of a character of the title and of the lines below it, rounded up.
const TITLE_CHARACTER: f64 = 7.8;
const CHARACTER: f64 = 6.4;

impl Origin {
    /// A run.
    pub fn of_run(assessment: &Assessment) -> Self {
        let run = &assessment.run;
        Self {
            of: format!("{} (wakepath {})", run.scenario, run.wakepath),
            machine: machine(assessment),
            date: run.started.clone(),
        }
    }

    /// A comparison: both sides, by their first runs.
    pub fn of_comparison(comparison: &Comparison) -> Self {
        let side = |word: &str, runs: &[RunIdentity]| {
            let first = runs.first()?;
            let more = match runs.len() {
                1 => String::new(),
                all => format!(" and {} more", all - 1),
            };
            Some(format!(
                "{word}: {}, {}{more}",
                first.directory, first.started
            ))
        };
        let sides = [
            side("base", &comparison.base),
            side("against", &comparison.against),
        ];
        let sides: Vec<String> = sides.into_iter().flatten().collect();
        Self {
            of: sides.join("; "),
            ..Self::default()
        }
    }
}

/// The machine in a few words: its CPUs, its kernel.
pub fn machine(assessment: &Assessment) -> String {
    let brief = |topic| {
        let found = assessment.machine.iter().find(|line| line.topic == topic);
        found.and_then(|line| line.brief.clone())
    };
    let kernel = brief(Topic::Kernel).map(|release| format!("Linux {release}"));
    let parts: Vec<String> = [brief(Topic::Cpus), kernel].into_iter().flatten().collect();
    parts.join(", ")
}

impl Figure {
    /// As a separate file, in light colours, with its title and its origin above it.
    pub fn to_svg(&self, origin: &Origin) -> String {
        let room = |each: f64| ((self.width - 2.0 * EDGE) / each) as usize;
        let title = wrapped(&self.title, "", "", room(TITLE_CHARACTER));
        let parts = [&origin.of, &origin.machine, &origin.date];
        let parts: Vec<&str> = parts
            .into_iter()
            .map(String::as_str)
            .filter(|part| !part.is_empty())
            .collect();
        let about = wrapped(&parts.join(" · "), "", "", room(CHARACTER));
        let above = EDGE
            + title.lines().count() as f64 * TITLE
            + about.lines().count() as f64 * LINE
            + EDGE;
        let height = self.height + above;

        let mut markup = Markup::default();
        let view = format!("0 0 {} {height}", self.width);
        markup.raw("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        markup.open(
            "svg",
            &[
                ("xmlns", &"http://www.w3.org/2000/svg"),
                ("viewBox", &view),
                ("width", &self.width),
                ("height", &height),
            ],
        );
        markup.element("title", &[], &self.title);
        markup.element("desc", &[], &self.alternative);
        markup.element("style", &[], style::on_paper());
        markup.raw("<rect width=\"100%\" height=\"100%\" class=\"paper\"/>");
        let mut y = EDGE;
        for (class, step, text) in [("title", TITLE, &title), ("mark", LINE, &about)] {
            for line in text.lines() {
                y += step;
                let (x, at) = (EDGE, y - 4.0);
                markup.element("text", &[("class", &class), ("x", &x), ("y", &at)], line);
            }
        }
        let down = format!("translate(0,{above})");
        markup.open("g", &[("transform", &down)]);
        markup.append(&self.body);
        markup.close("g");
        markup.close("svg");
        markup.raw("\n");
        markup.into_string()
    }
}
