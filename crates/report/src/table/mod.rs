//! A table as what it says: columns with heading and unit, rows under headings, cells that may be
//! unknown. How it looks is the business of a renderer each: terminal, HTML, Markdown.

mod html;
mod markdown;
mod terminal;

pub(crate) use html::class as tone_class;
pub(crate) use markdown::escaped;
use std::fmt::Display;
use wakepath_timeline::duration::three_digits;

/// In place of an unknown figure.
pub const UNKNOWN: &str = "–";

/// Rows under columns in groups.
#[derive(Debug, Clone, Default)]
pub struct Table {
    caption: String,
    /// Heading of the rows' labels.
    labels: &'static str,
    class: &'static str,
    groups: Vec<Group>,
    rows: Vec<Row>,
}

#[derive(Debug, Clone)]
struct Group {
    title: &'static str,
    unit: &'static str,
    columns: Vec<Column>,
}

/// A column: its heading, unit and side.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    heading: &'static str,
    unit: &'static str,
    is_number: bool,
    leads: bool,
    longest: usize,
}

/// A column of numbers, flush right.
pub fn number(heading: &'static str) -> Column {
    Column {
        heading,
        unit: "",
        is_number: true,
        leads: false,
        longest: usize::MAX,
    }
}

/// A column of words, flush left.
pub fn words(heading: &'static str) -> Column {
    Column {
        is_number: false,
        ..number(heading)
    }
}

impl Column {
    /// In a unit of its own, where its group has none.
    pub fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    /// Next to the label on a page, where a wide table begins before it scrolls.
    pub fn leading(self) -> Self {
        Self {
            leads: true,
            ..self
        }
    }

    /// Characters at most in a terminal; other forms have all of them.
    pub fn within(self, longest: usize) -> Self {
        Self { longest, ..self }
    }
}

/// The content of a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    /// Nothing: the column does not concern the row.
    Blank,
    /// A figure that there is and that is not known.
    Unknown,
    /// A figure or words.
    Text(String),
    /// A word with its weight.
    Toned(String, Tone),
    /// One thing below the other.
    Lines(Vec<String>),
    /// Words that lead somewhere else on the page.
    Link(String, String),
    /// A cause with the class of its colour.
    Cause(String, &'static str),
}

/// How a word is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// As it should be.
    Good,
    /// Not as it should be.
    Bad,
    /// Unknown.
    Doubtful,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(known: Option<T>) -> Self {
        known.map_or(Self::Unknown, Into::into)
    }
}

impl Cell {
    /// Anything that can be written.
    pub fn new(value: impl Display) -> Self {
        Self::Text(value.to_string())
    }

    /// A measured time: three digits in its unit.
    pub fn time(ns: i64) -> Self {
        Self::Text(three_digits(ns))
    }

    /// As [`Cell::time`], of a length, which has no sign.
    pub fn length(ns: u64) -> Self {
        Self::time(i64::try_from(ns).unwrap_or(i64::MAX))
    }

    /// As [`Cell::time`], of a mean.
    pub fn mean_time(ns: f64) -> Self {
        Self::time(ns.round() as i64)
    }

    /// As plain characters.
    fn plain(&self) -> String {
        match self {
            Self::Blank => String::new(),
            Self::Unknown => UNKNOWN.to_owned(),
            Self::Text(text)
            | Self::Toned(text, _)
            | Self::Link(text, _)
            | Self::Cause(text, _) => text.clone(),
            Self::Lines(lines) => lines.join("; "),
        }
    }
}

#[derive(Debug, Clone)]
enum Row {
    /// Begins a group of rows.
    Heading(String),
    Cells {
        label: Cell,
        cells: Vec<Cell>,
        weight: Weight,
    },
    /// Words in place of all figures.
    Instead { label: String, words: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    Usual,
    /// Below the row that it belongs to.
    Aside,
    /// The one to take.
    Chosen,
}

impl Table {
    /// A table whose rows are labelled with these.
    pub fn new(labels: &'static str) -> Self {
        Self {
            labels,
            ..Self::default()
        }
    }

    /// Text above it on a page.
    pub fn caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }

    /// Its class in the page's style sheet.
    pub fn class(mut self, class: &'static str) -> Self {
        self.class = class;
        self
    }

    /// A column by itself.
    pub fn column(self, column: Column) -> Self {
        self.group("", "", &[column])
    }

    /// Columns under a title, in one unit or each in its own.
    pub fn group(mut self, title: &'static str, unit: &'static str, columns: &[Column]) -> Self {
        self.groups.push(Group {
            title,
            unit,
            columns: columns.to_vec(),
        });
        self
    }

    /// Begins a group of rows.
    pub fn heading(&mut self, text: impl Into<String>) {
        self.rows.push(Row::Heading(text.into()));
    }

    /// A row with a cell for each column. Columns that are left out at its end are blank.
    pub fn row(&mut self, label: impl Into<Cell>, cells: Vec<Cell>) {
        self.weighed(label, cells, Weight::Usual);
    }

    /// A row that belongs to the one before it.
    pub fn aside(&mut self, label: impl Into<Cell>, cells: Vec<Cell>) {
        self.weighed(label, cells, Weight::Aside);
    }

    /// The row to take of all.
    pub fn chosen(&mut self, label: impl Into<Cell>, cells: Vec<Cell>) {
        self.weighed(label, cells, Weight::Chosen);
    }

    /// Words in place of a row's figures.
    pub fn instead(&mut self, label: impl Into<String>, words: impl Into<String>) {
        self.rows.push(Row::Instead {
            label: label.into(),
            words: words.into(),
        });
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Number of columns without the labels.
    pub fn width(&self) -> usize {
        self.columns().count()
    }

    /// In two: the groups of these titles in the second, all others in the first, leading columns and
    /// rows in both. A page is not as wide as a terminal.
    pub(crate) fn parted(&self, titles: &[&str]) -> [Self; 2] {
        [false, true].map(|second| {
            let belongs = |group: &Group, column: &Column| {
                column.leads || titles.contains(&group.title) == second
            };
            let columns = self.groups.iter();
            let kept: Vec<bool> = columns
                .flat_map(|group| group.columns.iter().map(|column| belongs(group, column)))
                .collect();
            let groups = self.groups.iter().map(|group| Group {
                columns: group
                    .columns
                    .iter()
                    .filter(|column| belongs(group, column))
                    .copied()
                    .collect(),
                ..group.clone()
            });
            let rows = self.rows.iter().filter_map(|row| match row {
                Row::Cells {
                    label,
                    cells,
                    weight,
                } => {
                    let own: Vec<Cell> = cells
                        .iter()
                        .zip(&kept)
                        .filter(|(_, kept)| **kept)
                        .map(|(cell, _)| cell.clone())
                        .collect();
                    let says = own.iter().any(|cell| *cell != Cell::Blank);
                    (says || *weight != Weight::Aside).then(|| Row::Cells {
                        label: label.clone(),
                        cells: own,
                        weight: *weight,
                    })
                }
                other => Some(other.clone()),
            });
            Self {
                groups: groups.filter(|group| !group.columns.is_empty()).collect(),
                rows: rows.collect(),
                ..self.clone()
            }
        })
    }

    fn weighed(&mut self, label: impl Into<Cell>, mut cells: Vec<Cell>, weight: Weight) {
        debug_assert!(cells.len() <= self.width(), "more cells than columns");
        cells.resize(self.width(), Cell::Blank);
        self.rows.push(Row::Cells {
            label: label.into(),
            cells,
            weight,
        });
    }

    fn columns(&self) -> impl Iterator<Item = &Column> {
        self.groups.iter().flat_map(|group| &group.columns)
    }
}

/// A heading with its unit.
fn with_unit(heading: &str, unit: &str) -> String {
    match (heading, unit) {
        (_, "") => heading.to_owned(),
        ("", _) => unit.to_owned(),
        _ => format!("{heading}, {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of everything, for the renderers' tests.
    pub(super) fn one_of_each() -> Table {
        let mut table = Table::new("Policy")
            .caption("What was found")
            .group("latency", "µs", &[number("median"), number("max")])
            .column(number("misses"))
            .column(words("verdict").leading());
        table.heading("idle");
        table.row(
            "FIFO <50>",
            vec![
                "1.5".into(),
                Cell::Unknown,
                Cell::new(0),
                Cell::Toned("passed".into(), Tone::Good),
            ],
        );
        table.aside("as executed", vec!["1.4".into()]);
        table.instead("OTHER | 0", "not measured");
        table
    }

    #[test]
    fn a_table_in_two_has_every_figure_once_and_its_verdict_twice() {
        let [rest, latency] = one_of_each().parted(&["latency"]);
        let heads = |table: &Table| -> Vec<&str> { table.columns().map(|of| of.heading).collect() };
        assert_eq!(heads(&rest), ["misses", "verdict"]);
        assert_eq!(heads(&latency), ["median", "max", "verdict"]);
        // The row below another has nothing to say of the misses.
        assert_eq!((rest.rows.len(), latency.rows.len()), (3, 4));
    }

    #[test]
    fn a_figure_that_there_is_not_is_unknown() {
        assert_eq!(Cell::from(None::<String>), Cell::Unknown);
        assert_eq!(Cell::from(Some("a")), Cell::Text("a".into()));
        assert_eq!(with_unit("max", "µs"), "max, µs");
    }
}
