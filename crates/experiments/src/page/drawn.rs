//! The figures of an experiment, from the pictures of its guests.

use crate::{Drawing, Repeated};
use wakepath_report::{Figure, Figures, latencies_overlaid};

/// Each with the name of its file.
pub fn figures(repeated: &Repeated) -> Vec<(String, Figure)> {
    let experiment = repeated.experiment;
    let drawn: Vec<Figure> = match experiment.drawing {
        Drawing::Overlay => overlays(repeated),
        Drawing::Boxes => of_each(repeated, |figures| figures.boxes.first()),
        Drawing::Averages => of_each(repeated, |figures| {
            let mut maxima = figures.maxima.iter();
            maxima.find(|figure| figure.name.starts_with("averages"))
        }),
    };
    let mut named: Vec<(String, Figure)> = Vec::new();
    for figure in drawn {
        let number = named.len() + 1;
        let name = format!("{}-{number}-{}.svg", experiment.name, figure.name);
        named.push((name, figure));
    }
    named
}

/// For each condition the guests over each other.
fn overlays(repeated: &Repeated) -> Vec<Figure> {
    let Some(first) = repeated.guests.first() else {
        return Vec::new();
    };
    let mut figures = Vec::new();
    for condition in first.pictures.iter().map(|picture| &picture.name) {
        let sources: Vec<_> = repeated
            .guests
            .iter()
            .filter_map(|guest| {
                let mut all = guest.pictures.iter();
                let picture = all.find(|picture| picture.name == *condition)?;
                Some((guest.guest.name, picture.latency.shape.as_ref()?))
            })
            .collect();
        if !sources.is_empty() {
            figures.extend(latencies_overlaid(&condition.to_string(), &sources));
        }
    }
    figures
}

fn of_each(repeated: &Repeated, choose: impl Fn(&Figures) -> Option<&Figure>) -> Vec<Figure> {
    let drawn = repeated.guests.iter().filter_map(|run| {
        let mut figure = choose(&run.figures)?.clone();
        figure.alternative = format!("{}. {}", run.guest.name, figure.alternative);
        Some(figure)
    });
    drawn.collect()
}
