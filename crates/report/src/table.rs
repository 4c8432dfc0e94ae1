//! A table of text with columns in named groups, cut into several below each other where the
//! terminal is too narrow for one. It knows nothing of what the columns mean.

/// Between two columns.
const GAP: usize = 2;

/// Rows under grouped heads.
pub struct Table {
    groups: Vec<Group>,
    rows: Vec<Row>,
}

struct Group {
    title: &'static str,
    heads: Vec<&'static str>,
}

struct Row {
    label: String,
    cells: Vec<String>,
}

impl Table {
    /// Columns in groups: a title and the heads below it.
    pub fn new(groups: &[(&'static str, &[&'static str])]) -> Self {
        let group = |(title, heads): &(&'static str, &[&'static str])| Group {
            title,
            heads: heads.to_vec(),
        };
        Self {
            groups: groups.iter().map(group).collect(),
            rows: Vec::new(),
        }
    }

    /// A row with one cell for each column; a row without cells is a heading.
    pub fn row(&mut self, label: impl Into<String>, cells: Vec<String>) {
        self.rows.push(Row {
            label: label.into(),
            cells,
        });
    }

    /// The table within `columns`, group by group: those that fit beside each other, the others
    /// below with the labels repeated.
    pub fn render(&self, columns: Option<usize>) -> String {
        let label_width = self
            .rows
            .iter()
            .map(|row| width(&row.label))
            .max()
            .unwrap_or(0);
        let mut text = String::new();
        let mut first = 0;
        while first < self.groups.len() {
            let mut last = first + 1;
            let mut used = label_width + self.group_width(first);
            while last < self.groups.len()
                && columns.is_none_or(|most| used + self.group_width(last) <= most)
            {
                used += self.group_width(last);
                last += 1;
            }
            if first > 0 {
                text.push('\n');
            }
            self.render_groups(first..last, label_width, &mut text);
            first = last;
        }
        text
    }

    fn render_groups(&self, groups: std::ops::Range<usize>, label_width: usize, text: &mut String) {
        let mut titles = " ".repeat(label_width);
        let mut heads = " ".repeat(label_width);
        for group in groups.clone() {
            let title = self.groups[group].title;
            let group_width = self.group_width(group);
            titles += &format!(
                "{}{title}{}",
                " ".repeat(GAP),
                " ".repeat(group_width - GAP - width(title))
            );
            for (column, head) in self.group_columns(group) {
                heads += &right(head, GAP + self.column_width(group, column));
            }
        }
        push_line(text, &titles);
        push_line(text, &heads);
        for row in &self.rows {
            let mut line = left(&row.label, label_width);
            for group in groups.clone() {
                for (column, _) in self.group_columns(group) {
                    let cell = row.cells.get(column).map_or("", String::as_str);
                    line += &right(cell, GAP + self.column_width(group, column));
                }
            }
            // A row with nothing to say about these groups stays out, unless it is a heading.
            if row.cells.is_empty() || width(line.trim_end()) > label_width {
                push_line(text, &line);
            }
        }
    }

    /// The columns of a group: index over the whole table, and head.
    fn group_columns(&self, group: usize) -> impl Iterator<Item = (usize, &'static str)> {
        let before: usize = self.groups[..group]
            .iter()
            .map(|group| group.heads.len())
            .sum();
        self.groups[group]
            .heads
            .iter()
            .enumerate()
            .map(move |(i, head)| (before + i, *head))
    }

    fn group_width(&self, group: usize) -> usize {
        let columns: usize = self
            .group_columns(group)
            .map(|(column, _)| GAP + self.column_width(group, column))
            .sum();
        columns.max(GAP + width(self.groups[group].title))
    }

    fn column_width(&self, group: usize, column: usize) -> usize {
        let head = self
            .group_columns(group)
            .find(|(index, _)| *index == column);
        let cells = self.rows.iter().filter_map(|row| row.cells.get(column));
        cells
            .map(|cell| width(cell))
            .chain(head.map(|(_, head)| width(head)))
            .max()
            .unwrap_or(0)
    }
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line.trim_end());
    text.push('\n');
}

/// Characters of a text, which is what a terminal's column count means for all that we print.
fn width(text: &str) -> usize {
    text.chars().count()
}

fn left(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&[("one", &["a", "b"]), ("two", &["long head"])]);
        table.row("x", vec!["1".into(), "22".into(), "3".into()]);
        table
    }

    #[test]
    fn groups_stand_beside_each_other_where_there_is_room() {
        assert_eq!(
            table().render(None),
            "   one    two\n   a   b  long head\nx  1  22          3\n"
        );
    }

    #[test]
    fn groups_stand_below_each_other_where_there_is_not() {
        assert_eq!(
            table().render(Some(14)),
            "   one\n   a   b\nx  1  22\n\n   two\n   long head\nx          3\n"
        );
    }
}
