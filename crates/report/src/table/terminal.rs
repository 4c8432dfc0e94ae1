//! A table for a terminal: groups of columns side by side if there is room, otherwise below each other with
//! the labels repeated.

use super::{Cell, Group, Row, Table, Weight, with_unit};
use std::ops::Range;
use wakepath_timeline::columns::width;
use wakepath_timeline::shortened;

/// Between two columns.
const GAP: usize = 2;

impl Table {
    /// The table within `columns`.
    pub fn to_terminal(&self, columns: Option<usize>) -> String {
        let laid = Laid::out(self);
        let mut text = String::new();
        let mut first = 0;
        while first < laid.groups.len() {
            let mut last = first + 1;
            let mut used = laid.label_width + laid.groups[first].width;
            while last < laid.groups.len()
                && columns.is_none_or(|most| used + laid.groups[last].width <= most)
            {
                used += laid.groups[last].width;
                last += 1;
            }
            if first > 0 {
                text.push('\n');
            }
            laid.write(first..last, &mut text);
            first = last;
        }
        for (labels, words) in laid.instead {
            push_line(&mut text, &format!("{}: {words}", labels.join("; ")));
        }
        text
    }
}

/// A table with the widths of its columns.
struct Laid {
    /// Heading of the labels, if no other heading has it.
    labels: &'static str,
    label_width: usize,
    groups: Vec<LaidGroup>,
    lines: Vec<Line>,
    /// Words in place of figures, each once, with the labels of their rows.
    instead: Vec<(Vec<String>, String)>,
}

struct LaidGroup {
    title: String,
    /// Place of its first column.
    first: usize,
    /// Heading, width, whether it is flush right.
    columns: Vec<(String, usize, bool)>,
    width: usize,
}

struct Line {
    label: String,
    /// `None`: a heading.
    cells: Option<Vec<String>>,
}

impl Laid {
    fn out(table: &Table) -> Self {
        let longest: Vec<usize> = table.columns().map(|column| column.longest).collect();
        let (mut lines, mut instead) = (Vec::new(), Vec::<(Vec<String>, String)>::new());
        let mut indent = "";
        for row in &table.rows {
            match row {
                Row::Heading(text) => {
                    indent = "  ";
                    lines.push(Line {
                        label: text.clone(),
                        cells: None,
                    });
                }
                Row::Cells {
                    label,
                    cells,
                    weight,
                } => {
                    let below = if *weight == Weight::Aside { "  " } else { "" };
                    let cells = cells.iter().map(Cell::plain).zip(&longest);
                    lines.push(Line {
                        label: format!("{indent}{below}{}", label.plain()),
                        cells: Some(cells.map(|(cell, &most)| shortened(&cell, most)).collect()),
                    });
                }
                Row::Instead { label, words } => {
                    match instead.iter_mut().find(|(_, known)| known == words) {
                        Some((labels, _)) if labels.contains(label) => {}
                        Some((labels, _)) => labels.push(label.clone()),
                        None => instead.push((vec![label.clone()], words.clone())),
                    }
                }
            }
        }
        let mut first = 0;
        let mut groups = Vec::new();
        for group in &table.groups {
            groups.push(laid_group(group, first, &lines));
            first += group.columns.len();
        }
        if lines.is_empty() {
            groups.clear();
        }
        let headed = lines.iter().any(|line| line.cells.is_none());
        let labels = if headed { "" } else { table.labels };
        let label_widths = lines.iter().map(|line| width(&line.label));
        Self {
            labels,
            label_width: label_widths.max().unwrap_or(0).max(width(labels)),
            groups,
            lines,
            instead,
        }
    }

    fn write(&self, groups: Range<usize>, text: &mut String) {
        let groups = &self.groups[groups];
        let mut titles = " ".repeat(self.label_width);
        let mut headings = left(self.labels, self.label_width);
        for group in groups {
            titles += &left(&format!("{}{}", " ".repeat(GAP), group.title), group.width);
            for (heading, width, is_number) in &group.columns {
                headings += &cell(heading, *width, *is_number);
            }
            let used: usize = group.columns.iter().map(|(_, width, _)| GAP + width).sum();
            headings += &" ".repeat(group.width - used);
        }
        if !titles.trim().is_empty() {
            push_line(text, &titles);
        }
        push_line(text, &headings);
        for row in &self.lines {
            let mut line = left(&row.label, self.label_width);
            for group in groups {
                let start = width(&line);
                for (place, (_, width, is_number)) in (group.first..).zip(&group.columns) {
                    let said = row.cells.iter().filter_map(|cells| cells.get(place)).next();
                    line += &cell(said.map_or("", String::as_str), *width, *is_number);
                }
                let used = width(&line) - start;
                line += &" ".repeat(group.width - used);
            }
            // A row with nothing to say about these groups stays out, unless it is a heading.
            if row.cells.is_none() || width(line.trim_end()) > self.label_width {
                push_line(text, &line);
            }
        }
    }
}

fn laid_group(group: &Group, first: usize, lines: &[Line]) -> LaidGroup {
    let title = with_unit(group.title, group.unit);
    let columns: Vec<(String, usize, bool)> = (first..)
        .zip(&group.columns)
        .map(|(place, column)| {
            let heading = with_unit(column.heading, column.unit);
            let cells = lines
                .iter()
                .filter_map(|line| line.cells.as_ref()?.get(place));
            let widest = cells.map(|cell| width(cell)).max().unwrap_or(0);
            let wide = widest.max(width(&heading));
            (heading, wide, column.is_number)
        })
        .collect();
    let used: usize = columns.iter().map(|(_, width, _)| GAP + width).sum();
    LaidGroup {
        first,
        width: used.max(GAP + width(&title)),
        columns,
        title,
    }
}

fn cell(text: &str, columns: usize, is_number: bool) -> String {
    let room = " ".repeat(columns.saturating_sub(width(text)));
    let gap = " ".repeat(GAP);
    if is_number {
        format!("{gap}{room}{text}")
    } else {
        format!("{gap}{text}{room}")
    }
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line.trim_end());
    text.push('\n');
}

fn left(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

#[cfg(test)]
mod tests {
    use super::super::tests::one_of_each;
    use super::*;
    use crate::table::number;

    fn table() -> Table {
        let mut table = Table::new("")
            .group("one", "", &[number("a"), number("b")])
            .group("two", "", &[number("long head")]);
        table.row("x", vec!["1".into(), "22".into(), "3".into()]);
        table
    }

    #[test]
    fn groups_stand_beside_each_other_where_there_is_room() {
        assert_eq!(
            table().to_terminal(None),
            "   one    two\n   a   b  long head\nx  1  22          3\n"
        );
    }

    #[test]
    fn groups_stand_below_each_other_where_there_is_not() {
        assert_eq!(
            table().to_terminal(Some(14)),
            "   one\n   a   b\nx  1  22\n\n   two\n   long head\nx          3\n"
        );
    }

    #[test]
    fn units_unknown_figures_and_words_instead_of_them_are_shown() {
        assert_eq!(
            one_of_each().to_terminal(None),
            "                 latency, µs\n\
             \u{20}                median  max  misses  verdict\n\
             idle\n\
             \u{20} FIFO <50>         1.5    –       0  passed\n\
             \u{20}   as executed     1.4\n\
             OTHER | 0: not measured\n"
        );
    }

    #[test]
    fn a_reason_is_said_once_for_all_rows_that_share_it() {
        let mut table = Table::new("").column(number("a"));
        for label in ["CPU 1", "CPU 2", "CPU 1"] {
            table.instead(label, "no tracer");
        }
        assert_eq!(table.to_terminal(None), "CPU 1; CPU 2: no tracer\n");
    }
}
