//! The ground that figures are drawn on: marks, grid, criterion line, rows with labels. It knows
//! places and words, not their meaning.

use super::Figure;
use super::scale::{Linear, Log};
use super::style::colour;
use crate::markup::Markup;

/// A line of a legend: colour, name, and what scripts find of it.
pub(super) type Key<'a> = (usize, &'a str, Vec<(&'static str, String)>);

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
    /// Headings, drawn last so that no line crosses them.
    over: Vec<(f64, f64, String)>,
}

/// Width of a figure that a phone shows whole, with letters that can be read there.
pub(super) const NARROW: f64 = 420.0;

/// Width of a character of 12 px type, on average and rounded up.
const CHARACTER: f64 = 6.9;
/// Likewise of a capital.
const CAPITAL: f64 = 9.0;

/// Height of a heading above rows.
const HEADING: f64 = 17.0;

/// The text shortened to this room, with `…` for the rest.
pub(super) fn shortened(text: &str, most: f64) -> String {
    if room(text) <= most {
        return text.to_owned();
    }
    let mut short = String::new();
    for character in text.chars() {
        if room(&short) + 2.0 * CAPITAL > most {
            break;
        }
        short.push(character);
    }
    format!("{}…", short.trim_end())
}

/// The same for a policy and its task, which keep what tells them apart: the name after the last comma.
pub(super) fn shortened_within(text: &str, most: f64) -> String {
    match text.rsplit_once(", ") {
        Some((policy, task)) if room(text) > most && room(task) < most / 2.0 => {
            let left = most - room(", ") - room(task);
            format!("{}, {task}", shortened(policy, left))
        }
        _ => shortened(text, most),
    }
}

/// Room that a text takes.
pub(super) fn room(text: &str) -> f64 {
    let width = |character: char| {
        if character.is_uppercase() {
            CAPITAL
        } else {
            CHARACTER
        }
    };
    text.chars().map(width).sum()
}

/// One decimal: a tenth of a pixel is as much as a screen shows, and figures are most of a page.
pub(super) fn place(at: f64) -> f64 {
    (at * 10.0).round() / 10.0
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
            over: Vec::new(),
        }
    }

    /// A wide plot with as many rows below each other.
    pub(super) fn rows(count: usize, each: f64, left: f64, right: f64) -> Self {
        Self::new(620.0, 24.0 + 44.0 + count as f64 * each, left, right)
    }

    /// A plot with rows under headings, such as phases under their policy: long names are above
    /// their rows, not next to them. `rows` are heading and label of each, those of a heading
    /// together; it returns the plot and the upper edge of each row.
    pub(super) fn grouped(rows: &[(String, String)], each: f64, right: f64) -> (Self, Vec<f64>) {
        let labels = rows.iter().map(|(_, label)| room(label));
        let left = labels.fold(40.0, f64::max).min(NARROW / 3.0) + 16.0;
        let (mut edges, mut headings) = (Vec::new(), Vec::new());
        let mut y = 24.0;
        for (index, (heading, _)) in rows.iter().enumerate() {
            if index == 0 || rows[index - 1].0 != *heading {
                y += HEADING;
                headings.push((y, heading));
            }
            edges.push(y);
            y += each;
        }
        let mut plot = Self::new(NARROW, y + 46.0, left, right);
        for (index, (top, _)) in headings.iter().enumerate() {
            let end = headings
                .get(index + 1)
                .map_or(y, |(next, _)| next - HEADING);
            if index % 2 == 1 {
                let stripe = [0.0, top - HEADING + 2.0, NARROW, end - top + HEADING];
                plot.rect("stripe", stripe, "");
            }
        }
        plot.over = headings
            .into_iter()
            .map(|(top, heading)| (4.0, top - 2.0, heading.clone()))
            .collect();
        for ((_, label), top) in rows.iter().zip(&edges) {
            let shown = shortened(label, NARROW / 3.0);
            plot.text("end", left - 6.0, top + each / 2.0 + 4.0, &shown);
        }
        (plot, edges)
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

    /// Text that a browser shows when the pointer is on the open element.
    pub(super) fn hint(&mut self, hint: &str) {
        if !hint.is_empty() {
            self.body.element("title", &[], hint);
        }
    }

    /// A group in a policy's colour; close it with `ungroup`.
    pub(super) fn group(&mut self, colour_index: usize, data: &[(&'static str, String)]) {
        self.classed(&colour(colour_index), data);
    }

    /// A group in grey: its rows are labelled.
    pub(super) fn plain(&mut self, data: &[(&'static str, String)]) {
        self.classed("plain", data);
    }

    /// A group of a class; close it with `ungroup`.
    pub(super) fn classed(&mut self, class: &str, data: &[(&'static str, String)]) {
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
            self.mark_below(x, &text);
        }
        self.title_below(title);
    }

    /// A mark's text below it, or next to it at the figure's edge.
    fn mark_below(&mut self, x: f64, text: &str) {
        let half = room(text) / 2.0;
        let y = self.bottom + 15.0;
        match (x + half > self.width, x - half < 0.0) {
            (true, _) => self.text("mark end", self.width - 2.0, y, text),
            (_, true) => self.text("mark", 2.0, y, text),
            _ => self.text("mark middle", x, y, text),
        }
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
            self.mark_below(x, &text);
        }
        self.title_below(title);
    }

    /// Marks of times at the left, with grid lines to the right.
    pub(super) fn times_left(&mut self, axis: Log) {
        let times = axis.times();
        let apart = times.windows(2).map(|two| (two[0].0 - two[1].0).abs());
        // Where texts would touch, every second mark has none.
        let named = if apart.fold(f64::MAX, f64::min) < 15.0 {
            2
        } else {
            1
        };
        for (index, (y, text)) in times.iter().enumerate() {
            self.line("grid", [self.left, *y, self.right, *y]);
            if index % named == 0 {
                self.text("mark end", self.left - 6.0, y + 4.0, text);
            }
        }
    }

    /// The criterion as an upright line, named at its top.
    pub(super) fn limit_upright(&mut self, x: f64, text: &str) {
        self.line("limit", [x, self.top - 2.0, x, self.bottom]);
        self.limit_name(x, text);
    }

    /// The criterion's name above its place.
    pub(super) fn limit_name(&mut self, x: f64, text: &str) {
        let (class, at) = if x > (self.left + self.right) / 2.0 {
            ("limit end", x - 4.0)
        } else {
            ("limit", x + 4.0)
        };
        self.text(class, at, self.top - 6.0, text);
    }

    /// The legend of colours, below the figure.
    pub(super) fn legend(&mut self, keys: &[Key<'_>]) {
        let names: Vec<&str> = keys.iter().map(|(_, name, _)| *name).collect();
        let places = legend_places(&names, self.width);
        for ((colour, name, data), (x, row)) in keys.iter().zip(places) {
            let y = self.bottom + 40.0 + (row + 1) as f64 * LEGEND_ROW;
            self.group(*colour, data);
            self.line("series", [x, y - 4.0, x + 18.0, y - 4.0]);
            self.text("key", x + 23.0, y, name);
            self.ungroup();
        }
    }

    /// Something for scripts to find.
    pub(super) fn note(&mut self, name: &'static str, value: impl ToString) {
        self.data.push((name, value.to_string()));
    }

    pub(super) fn done(
        mut self,
        name: impl Into<String>,
        title: impl Into<String>,
        caption: impl Into<String>,
        alternative: impl Into<String>,
    ) -> Figure {
        for (x, y, heading) in std::mem::take(&mut self.over) {
            self.text("strong", x, y, &heading);
        }
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

const LEGEND_ROW: f64 = 18.0;
const LEGEND_EDGE: f64 = 8.0;

/// Where each name of a legend stands: from the left, and in which row.
fn legend_places<T: AsRef<str>>(names: &[T], width: f64) -> Vec<(f64, usize)> {
    let (mut x, mut row) = (LEGEND_EDGE, 0);
    let place = |name: &T| {
        let wide = 23.0 + room(name.as_ref()) + 12.0;
        if x + wide > width && x > LEGEND_EDGE {
            (x, row) = (LEGEND_EDGE, row + 1);
        }
        let place = (x, row);
        x += wide;
        place
    };
    names.iter().map(place).collect()
}

/// Room that a legend of these names takes below a figure.
pub(super) fn legend_height<T: AsRef<str>>(names: &[T], width: f64) -> f64 {
    let last = legend_places(names, width)
        .last()
        .map_or(0, |(_, row)| row + 1);
    last as f64 * LEGEND_ROW + 6.0
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
    use super::{room, shortened_within, slug};

    #[test]
    fn what_tells_rows_apart_is_not_what_is_left_out() {
        let long = "OTHER nice 0, budget 400 µs, loop12";
        let short = shortened_within(long, 140.0);
        assert!(
            short.starts_with("OTHER") && short.ends_with("…, loop12"),
            "{short}"
        );
        assert!(room(&short) <= 140.0, "{short}");
        assert_eq!(shortened_within("FIFO 80, loop0", 140.0), "FIFO 80, loop0");
        assert!(shortened_within("a policy of a very long name", 100.0).ends_with('…'));
    }

    #[test]
    fn file_names_are_plain_whatever_a_scenario_is_called() {
        assert_eq!(slug("DEADLINE 400 µs"), "deadline-400-us");
        assert_eq!(slug("../../etc/passwd"), "etc-passwd");
        assert_eq!(slug("<script>"), "script");
        assert_eq!(slug("…"), "unnamed");
    }
}
