//! The figures of a run, drawn as SVG: for the page, and each as a file of its own. They show
//! numbers that were computed elsewhere.

mod averages;
mod boxes;
pub(crate) mod cause_colour;
mod cpus;
mod distributions;
mod flame;
mod flight;
pub(crate) mod gantt;
mod inflation;
mod multiples;
mod origin;
mod overview;
mod plot;
mod scale;
mod style;
pub(crate) mod sweep;
mod time;
mod timeline;
mod worst;

use crate::markup::Markup;
use wakepath_assess::{Assessment, Picture};
use wakepath_explain::Explanation;
use wakepath_explain::window::Windows;

pub use distributions::latencies_overlaid;
pub(crate) use distributions::{Line, MeasureName, overlaid};
pub use origin::{Origin, machine as machine_in_brief};
pub(crate) use style::style_sheet;

/// A drawn figure.
#[derive(Debug, Clone)]
pub struct Figure {
    /// Its name in file names: words with hyphens.
    pub name: String,
    /// Its heading.
    pub title: String,
    /// How to read it.
    pub caption: String,
    /// Text for readers who can't see it.
    pub alternative: String,
    width: f64,
    height: f64,
    /// For scripts: where the axes are.
    data: Vec<(&'static str, String)>,
    body: Markup,
}

/// All figures of a run, by the section that they belong to.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    /// The run at a glance.
    pub overview: Option<Figure>,
    /// Histograms and complementary cumulative distributions, by measure and phase.
    pub distributions: Vec<Figure>,
    /// Latency over the due times, one for each policy.
    pub time: Vec<Figure>,
    /// Box plots.
    pub boxes: Vec<Figure>,
    /// Latencies of each CPU over each other, where several were measured side by side.
    pub cpus: Vec<Figure>,
    /// Average latencies with their intervals.
    pub averages: Option<Figure>,
    /// Execution time idle and under load.
    pub inflation: Vec<Figure>,
    /// The worst cycles of a traced run, a panel for each policy.
    pub worst: Vec<Figure>,
    /// Cycles with the longest execution, of a loop that timed its sections.
    pub timelines: Vec<Figure>,
    /// The instructions of latencies in virtual time, where the run was made once more for them.
    pub windows: Vec<Figure>,
    /// Margins that the timing leaves the flight.
    pub flight: Vec<Figure>,
    /// Sentences in place of figures of the flight whose bars would all be equal.
    pub flight_alike: Vec<String>,
}

impl Figures {
    /// Draws all that the run has data for.
    pub fn new(
        assessment: &Assessment,
        pictures: &[Picture],
        explanation: Option<&Explanation>,
    ) -> Self {
        let drawn: Vec<Drawn<'_>> = pictures
            .iter()
            .filter(|picture| picture.latency.shape.is_some())
            .map(|picture| Drawn::new(picture, pictures))
            .collect();
        // Of an imported histogram the order is not known.
        let in_order: Vec<Drawn<'_>> = drawn
            .iter()
            .filter(|one| one.picture.due_times > 0)
            .copied()
            .collect();
        let (flight, flight_alike) = flight::draw(assessment);
        Self {
            overview: overview::draw(assessment),
            distributions: distributions::draw(&drawn),
            time: time::draw(&in_order),
            boxes: boxes::draw(&drawn),
            cpus: cpus::draw(&drawn),
            averages: averages::draw(&drawn),
            inflation: inflation::draw(&assessment.inflation),
            worst: worst::draw(assessment, explanation),
            timelines: timeline::draw(explanation),
            windows: Vec::new(),
            flight,
            flight_alike,
        }
    }

    /// The same with the flame graphs of these windows.
    #[must_use]
    pub fn with_windows(self, windows: &Windows) -> Self {
        Self {
            windows: flame::draw(windows),
            ..self
        }
    }

    /// All of them in the order of the page.
    pub fn all(&self) -> impl Iterator<Item = &Figure> {
        let before = [&self.distributions, &self.cpus, &self.time, &self.boxes];
        let after = [
            &self.inflation,
            &self.worst,
            &self.timelines,
            &self.windows,
            &self.flight,
        ];
        let single = self.averages.iter();
        let before = self.overview.iter().chain(before.into_iter().flatten());
        before.chain(single).chain(after.into_iter().flatten())
    }
}

impl Figure {
    /// As part of the page, which brings the style.
    pub(crate) fn inline(&self) -> Markup {
        let view = format!("0 0 {} {}", self.width, self.height);
        let (width, height) = (self.width.to_string(), self.height.to_string());
        let class = if self.width > plot::NARROW {
            "figure wide"
        } else {
            "figure"
        };
        let mut attributes: Vec<(&'static str, &dyn std::fmt::Display)> = vec![
            ("class", &class),
            ("viewBox", &view),
            ("width", &width),
            ("height", &height),
            ("role", &"img"),
            ("aria-label", &self.alternative),
            ("data-figure", &self.name),
        ];
        for (name, value) in &self.data {
            attributes.push((name, value));
        }
        let mut markup = Markup::default();
        markup.open("svg", &attributes);
        markup.append(&self.body);
        markup.close("svg");
        markup
    }
}

/// A picture with its place among the others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drawn<'a> {
    pub(crate) picture: &'a Picture,
    /// Which condition of the run, from 0.
    pub(crate) condition: usize,
    /// Which colour: that of the policy.
    pub(crate) colour: usize,
}

impl<'a> Drawn<'a> {
    fn new(picture: &'a Picture, all: &'a [Picture]) -> Self {
        let mut policies: Vec<String> = Vec::new();
        for one in all {
            let policy = policy_of(one);
            if !policies.contains(&policy) {
                policies.push(policy);
            }
        }
        let own = policy_of(picture);
        Self {
            picture,
            condition: all
                .iter()
                .position(|one| std::ptr::eq(one, picture))
                .unwrap_or(0),
            colour: policies
                .iter()
                .position(|policy| *policy == own)
                .unwrap_or(0),
        }
    }

    pub(crate) fn policy(&self) -> String {
        policy_of(self.picture)
    }

    pub(crate) fn phase(&self) -> &'a str {
        &self.picture.name.phase
    }

    /// Heading and label of a row for it.
    pub(crate) fn row(&self) -> (String, String) {
        (self.policy(), self.phase().to_owned())
    }
}

/// The policy, and the task where tasks are judged one by one.
pub(crate) fn policy_of(picture: &Picture) -> String {
    crate::label::policy(&picture.name)
}

/// Distinct values in order of their first appearance.
pub(crate) fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut all = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}
