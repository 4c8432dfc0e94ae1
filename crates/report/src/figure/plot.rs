//! The ground that figures are drawn on: marks, grid, criterion line, rows with labels. It knows
//! places and words, not what they stand for.

use super::Figure;
use super::scale::{Linear, Log};
use super::style::colour;
use crate::markup::Markup;

/// A figure in the making. Places are in pixels of its own size.
pub(super) struct Plot {
    pub(super) body: Markup,
    pub(super) width: f64,
    pub(super) height: f64,
    /// Room for labels at the left, and at the right.
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    data: Vec<(&'static str, String)>,
}

/// Width of a character of 12 px type, on average and rounded up.
const CHARACTER: f64 = 6.9;
/// Likewise of a capital.
const CAPITAL: f64 = 9.0;

/// Room that a text takes.
pub(super) fn room(text: &str) -> f64 {
    let width = |character: char| match character.is_uppercase() {
        true => CAPITAL,
        false => CHARACTER,
    };
    text.chars().map(width).sum()
}

/// Two decimals: a hundredth of a pixel is more than any screen shows.
pub(super) fn place(at: f64) -> f64 {
    (at * 100.0).round() / 100.0
}

impl Plot {
    pub(super) fn new(width: f64, height: f64, left: f64, right: f64) -> Self {
        Self {
            body: Markup::default(),
            width,
            height,
            left,
            right: width - right,
            top: 24.0,
            bottom: height - 40.0,
            data: Vec::new(),
        }
    }

    /// A plot with as many rows below each other.
    pub(super) fn rows(count: usize, each: f64, left: f64, right: f64) -> Self {
        Self::new(620.0, 24.0 + 44.0 + count as f64 * each, left, right)
    }

    pub(super) fn line(&mut self, class: &'static str, [x1, y1, x2, y2]: [f64; 4]) {
        let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(place);
        self.body.shape(
            "line",
            &[
                ("class", &class),
                ("x1", &x1),
                ("y1", &y1),
                ("x2", &x2),
                ("y2", &y2),
            ],
        );
    }

    pub(super) fn text(&mut self, class: &'static str, x: f64, y: f64, text: &str) {
        let (x, y) = (place(x), place(y));
        let place = [
            ("class", &class as &dyn std::fmt::Display),
            ("x", &x),
            ("y", &y),
        ];
        self.body.element("text", &place, text);
    }

    pub(super) fn rect(&mut self, class: &str, [x, y, width, height]: [f64; 4], hint: &str) {
        let [x, y, width, height] = [x, y, width.max(0.0), height.max(0.0)].map(place);
        self.body.open(
            "rect",
            &[
                ("class", &class),
                ("x", &x),
                ("y", &y),
                ("width", &width),
                ("height", &height),
            ],
        );
        self.hint(hint);
        self.body.close("rect");
    }

    pub(super) fn dot(&mut self, class: &str, x: f64, y: f64, radius: f64, hint: &str) {
        let (x, y) = (place(x), place(y));
        self.body.open(
            "circle",
            &[("class", &class), ("cx", &x), ("cy", &y), ("r", &radius)],
        );
        self.hint(hint);
        self.body.close("circle");
    }

    /// What a browser shows when one points at the element that is open.
    pub(super) fn hint(&mut self, hint: &str) {
        if !hint.is_empty() {
            self.body.element("title", &[], hint);
        }
    }

    /// A group in a policy's colour; close it with `ungroup`.
    pub(super) fn group(&mut self, colour_index: usize, data: &[(&'static str, String)]) {
        let class = colour(colour_index);
        let mut attributes: Vec<(&'static str, &dyn std::fmt::Display)> = vec![("class", &class)];
        for (name, value) in data {
            attributes.push((name, value));
        }
        self.body.open("g", &attributes);
    }

    pub(super) fn ungroup(&mut self) {
        self.body.close("g");
    }

    /// A time axis at the bottom, with grid lines up to the top.
    pub(super) fn times_below(&mut self, axis: Log, title: &str) {
        for (x, text) in axis.times() {
            self.line("grid", [x, self.top, x, self.bottom]);
            self.text("mark middle", x, self.bottom + 15.0, &text);
        }
        self.title_below(title);
    }

    pub(super) fn title_below(&mut self, title: &str) {
        let middle = (self.left + self.right) / 2.0;
        self.text("mark middle", middle, self.bottom + 32.0, title);
    }

    /// A linear axis at the bottom.
    pub(super) fn numbers_below(&mut self, axis: Linear, unit: &str, title: &str) {
        for mark in axis.marks() {
            let x = axis.at(mark);
            self.line("grid", [x, self.top, x, self.bottom]);
            let digits = if mark.fract() == 0.0 { 0 } else { 2 };
            let text = format!("{mark:.digits$}{unit}");
            self.text("mark middle", x, self.bottom + 15.0, &text);
        }
        self.title_below(title);
    }

    /// Marks of times at the left, with grid lines to the right.
    pub(super) fn times_left(&mut self, axis: Log) {
        for (y, text) in axis.times() {
            self.line("grid", [self.left, y, self.right, y]);
            self.text("mark end", self.left - 6.0, y + 4.0, &text);
        }
    }

    /// The criterion as an upright line, named at its top.
    pub(super) fn limit_upright(&mut self, x: f64, text: &str) {
        self.line("limit", [x, self.top - 2.0, x, self.bottom]);
        let (class, at) = match x > (self.left + self.right) / 2.0 {
            true => ("limit end", x - 4.0),
            false => ("limit", x + 4.0),
        };
        self.text(class, at, self.top - 6.0, text);
    }

    /// Something for scripts to find.
    pub(super) fn note(&mut self, name: &'static str, value: impl ToString) {
        self.data.push((name, value.to_string()));
    }

    pub(super) fn done(
        self,
        name: impl Into<String>,
        title: impl Into<String>,
        caption: impl Into<String>,
        alternative: impl Into<String>,
    ) -> Figure {
        Figure {
            name: name.into(),
            title: title.into(),
            caption: caption.into(),
            alternative: alternative.into(),
            width: self.width,
            height: self.height,
            data: self.data,
            body: self.body,
        }
    }
}

/// A name as part of a file's: letters and digits, everything else a hyphen.
pub(super) fn slug(text: &str) -> String {
    let mut slug = String::new();
    for character in text.chars().take(60) {
        match character.is_ascii_alphanumeric() {
            true => slug.push(character.to_ascii_lowercase()),
            false if matches!(character, 'µ' | 'μ') => slug.push('u'),
            false if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
            false => {}
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "unnamed" } else { slug }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn file_names_are_plain_whatever_a_scenario_is_called() {
        assert_eq!(slug("DEADLINE 400 µs"), "deadline-400-us");
        assert_eq!(slug("../../etc/passwd"), "etc-passwd");
        assert_eq!(slug("<script>"), "script");
        assert_eq!(slug("…"), "unnamed");
    }
}
