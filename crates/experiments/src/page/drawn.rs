//! The figures of an experiment, from the pictures of its guests' first runs.

use crate::{Drawing, Repeated};
use wakepath_report::{Figure, Figures, latencies_overlaid};

/// A figure of the page.
pub struct Shown {
    /// Name of its file.
    pub file: String,
    /// Heading above it.
    pub heading: String,
    /// The figure.
    pub figure: Figure,
}

/// The figures in their order.
pub fn figures(repeated: &Repeated) -> Vec<Shown> {
    let experiment = repeated.experiment;
    let drawn: Vec<(String, Figure)> = match experiment.drawing {
        Drawing::Overlay => overlays(repeated),
        Drawing::Boxes => of_each(repeated, |figures| figures.boxes.first()),
        Drawing::Averages => of_each(repeated, |figures| figures.averages.as_ref()),
    };
    let numbered = drawn.into_iter().zip(1..);
    numbered
        .map(|((heading, figure), number)| Shown {
            file: format!("{}-{number}-{}.svg", experiment.name, figure.name),
            heading,
            figure,
        })
        .collect()
}

/// For each condition the guests over each other.
fn overlays(repeated: &Repeated) -> Vec<(String, Figure)> {
    let Some(first) = repeated.first_runs().next() else {
        return Vec::new();
    };
    let mut figures = Vec::new();
    for condition in first.pictures.iter().map(|picture| &picture.name) {
        let sources: Vec<_> = repeated
            .first_runs()
            .filter_map(|guest| {
                let mut all = guest.pictures.iter();
                let picture = all.find(|picture| picture.name == *condition)?;
                Some((guest.guest.name, picture.latency.shape.as_ref()?))
            })
            .collect();
        if !sources.is_empty() {
            let drawn = latencies_overlaid(&condition.to_string(), &sources);
            figures.extend(drawn.map(|figure| (figure.title.clone(), figure)));
        }
    }
    figures
}

fn of_each(
    repeated: &Repeated,
    choose: impl Fn(&Figures) -> Option<&Figure>,
) -> Vec<(String, Figure)> {
    let drawn = repeated.first_runs().filter_map(|run| {
        let mut figure = choose(&run.figures)?.clone();
        figure.alternative = format!("{}. {}", run.guest.name, figure.alternative);
        Some((format!("{}: {}", run.guest.name, figure.title), figure))
    });
    drawn.collect()
}
