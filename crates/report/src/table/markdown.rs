//! A table as GitHub's Markdown. Names in it are text: no markup, no link, no mention.

use super::{Cell, Row, Table, with_unit};

impl Table {
    /// The table, a line for each row; a heading of rows becomes the first column.
    pub fn to_markdown(&self) -> String {
        let headed = self.rows.iter().any(|row| matches!(row, Row::Heading(_)));
        let mut heads = vec![String::new(); usize::from(headed)];
        heads.push(self.labels.to_owned());
        let mut sides = vec!["---"; heads.len()];
        for group in &self.groups {
            for column in &group.columns {
                let name = match (group.title, column.heading) {
                    ("", heading) | (heading, "") => heading.to_owned(),
                    (title, heading) => format!("{title}: {heading}"),
                };
                let unit = match column.unit {
                    "" => group.unit,
                    unit => unit,
                };
                heads.push(with_unit(&name, unit));
                sides.push(if column.is_number { "--:" } else { "---" });
            }
        }
        let mut text = line(heads);
        text += &format!("|{}|\n", sides.join("|"));
        let mut heading = String::new();
        for row in &self.rows {
            let (label, cells) = match row {
                Row::Heading(text) => {
                    heading = escaped(text);
                    continue;
                }
                Row::Cells { label, cells, .. } => {
                    (label.plain(), cells.iter().map(Cell::plain).collect())
                }
                Row::Instead { label, words } => {
                    let mut cells = vec![String::new(); self.width()];
                    if let Some(first) = cells.first_mut() {
                        first.clone_from(words);
                    }
                    (label.clone(), cells)
                }
            };
            let before = headed.then(|| heading.clone()).into_iter();
            let cells: Vec<String> = cells;
            let after = std::iter::once(label)
                .chain(cells)
                .map(|cell| escaped(&cell));
            text += &line(before.chain(after).collect());
        }
        text
    }
}

fn line(cells: Vec<String>) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// Foreign text as text: no markup, no link, no mention, no end of a cell or line.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for character in text.chars() {
        match character {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '@' => safe += "&#64;",
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' => {
                safe.push('\\');
                safe.push(character);
            }
            character if character.is_control() => safe.push(' '),
            character => safe.push(character),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::super::tests::one_of_each;
    use super::*;

    #[test]
    fn rows_bear_their_heading_and_names_stay_in_their_cell() {
        assert_eq!(
            one_of_each().to_markdown(),
            "|  | Policy | latency: median, µs | latency: max, µs | misses | verdict |\n\
             |---|---|--:|--:|--:|---|\n\
             | idle | FIFO &lt;50&gt; | 1.5 | – | 0 | passed |\n\
             | idle | as executed | 1.4 |  |  |  |\n\
             | idle | OTHER \\| 0 | not measured |  |  |  |\n"
        );
    }

    #[test]
    fn a_hostile_name_is_no_markup_no_mention_and_no_cell() {
        let safe = escaped("<img src=x>|[a](b) @team\n# head `x`");
        assert_eq!(
            safe,
            "&lt;img src=x&gt;\\|\\[a\\](b) &#64;team \\# head \\`x\\`"
        );
    }
}
