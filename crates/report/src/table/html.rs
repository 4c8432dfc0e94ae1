//! A table as HTML in a region that scrolls by itself, with the keyboard too.

use super::{Cell, Column, Row, Table, Tone, Weight, with_unit};
use crate::markup::Markup;
use std::fmt::Display;

/// Columns next to the labels that don't fit a phone.
const STACKS: usize = 4;
/// Columns next to the labels that don't fit a tablet.
const BROAD: usize = 13;
/// Columns of sentences that don't fit a phone.
const SENTENCES: usize = 2;
/// Characters of a sentence, at least: at a phone's width it takes several lines.
const SENTENCE_BEGINS: usize = 30;

const NUMBER: (&str, &dyn Display) = ("class", &"number");
const SENTENCE: (&str, &dyn Display) = ("class", &"sentence");

impl Table {
    /// Writes it; `name` is what the region is called.
    pub(crate) fn write_html(&self, markup: &mut Markup, name: &str) {
        markup.open(
            "div",
            &[
                ("class", &"scroll"),
                ("tabindex", &"0"),
                ("role", &"group"),
                ("aria-label", &name),
            ],
        );
        // On a narrow screen the rows of a wide table become cards.
        let stacks = self.width() >= STACKS || self.sentences() >= SENTENCES;
        let of_width = match (stacks, self.width() >= BROAD) {
            (false, _) => "",
            (true, false) => "stacks",
            (true, true) => "stacks broad",
        };
        let class = format!("{} {of_width}", self.class);
        match class.trim() {
            "" => markup.open("table", &[]),
            class => markup.open("table", &[("class", &class)]),
        }
        let names: Vec<String> = if stacks { self.names() } else { Vec::new() };
        markup.element("caption", &[], &self.caption);
        self.write_heads(markup);
        markup.raw("<tbody>");
        for (place, row) in self.rows.iter().enumerate() {
            match row {
                Row::Heading(text) => {
                    if place > 0 {
                        markup.raw("</tbody><tbody>");
                    }
                    markup.raw("<tr class=\"phase\">");
                    let span = self.width() + 1;
                    let all = [("scope", &"rowgroup" as &dyn Display), ("colspan", &span)];
                    markup.element("th", &all, text);
                }
                Row::Cells {
                    label,
                    cells,
                    weight,
                } => {
                    match weight {
                        Weight::Usual => markup.raw("<tr>"),
                        Weight::Aside => markup.raw("<tr class=\"aside\">"),
                        Weight::Chosen => markup.raw("<tr class=\"chosen\">"),
                    }
                    markup.open("th", &[("scope", &"row")]);
                    content(markup, label);
                    markup.close("th");
                    for (place, column) in self.in_order() {
                        let name = names
                            .get(place)
                            .map(|name| ("data-name", name as &dyn Display));
                        let kind = if column.is_number {
                            Some(NUMBER)
                        } else {
                            (stacks && is_sentence(&cells[place])).then_some(SENTENCE)
                        };
                        let attributes: Vec<_> = kind.into_iter().chain(name).collect();
                        markup.open("td", &attributes);
                        content(markup, &cells[place]);
                        markup.close("td");
                    }
                }
                Row::Instead { label, words } => {
                    markup.raw("<tr>");
                    markup.element("th", &[("scope", &"row")], label);
                    markup.prose("td", &[("colspan", &self.width())], words);
                }
            }
            markup.raw("</tr>");
        }
        markup.raw("</tbody></table></div>");
    }

    fn write_heads(&self, markup: &mut Markup) {
        let has_titles = self.groups.iter().any(|group| !group.title.is_empty());
        if self.columns().all(|column| column.heading.is_empty()) {
            return;
        }
        markup.raw("<thead>");
        if has_titles {
            markup.raw("<tr><td></td>");
            for _ in self.columns().filter(|column| column.leads) {
                markup.raw("<td></td>");
            }
            for group in &self.groups {
                let span = group.columns.iter().filter(|column| !column.leads).count();
                let title = with_unit(group.title, group.unit);
                match (span, title.is_empty()) {
                    (0, _) => {}
                    (_, true) => markup.element("td", &[("colspan", &span)], ""),
                    (_, false) => {
                        let all = [("scope", &"colgroup" as &dyn Display), ("colspan", &span)];
                        markup.element("th", &all, title);
                    }
                }
            }
            markup.raw("</tr>");
        }
        markup.raw("<tr>");
        markup.element("th", &[("scope", &"col")], self.labels);
        for (_, column) in self.in_order() {
            let heading = with_unit(column.heading, column.unit);
            if column.is_number {
                markup.element("th", &[("scope", &"col"), NUMBER], heading)
            } else {
                markup.element("th", &[("scope", &"col")], heading)
            }
        }
        markup.raw("</tr></thead>");
    }

    /// How many of its columns hold sentences.
    fn sentences(&self) -> usize {
        let holds = |place: usize| {
            self.rows.iter().any(|row| match row {
                Row::Cells { cells, .. } => cells.get(place).is_some_and(is_sentence),
                Row::Heading(_) | Row::Instead { .. } => false,
            })
        };
        (0..self.width()).filter(|place| holds(*place)).count()
    }

    /// Full name of each column, with its group and its unit.
    fn names(&self) -> Vec<String> {
        let of = |group: &super::Group, column: &Column| {
            let unit = [column.unit, group.unit]
                .into_iter()
                .find(|unit| !unit.is_empty());
            let words = [group.title, column.heading];
            let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
            with_unit(&words.join(" "), unit.unwrap_or(""))
        };
        let groups = self.groups.iter();
        groups
            .flat_map(|group| group.columns.iter().map(move |column| of(group, column)))
            .collect()
    }

    /// Every column with its place, leading ones first.
    fn in_order(&self) -> impl Iterator<Item = (usize, &Column)> {
        let all = |leads| {
            let columns = self.columns().enumerate();
            columns.filter(move |(_, column)| column.leads == leads)
        };
        all(true).chain(all(false))
    }
}

fn is_sentence(cell: &Cell) -> bool {
    cell.plain().chars().count() >= SENTENCE_BEGINS
}

fn content(markup: &mut Markup, cell: &Cell) {
    match cell {
        Cell::Toned(word, tone) => {
            markup.element("span", &[("class", &class(*tone))], word);
        }
        Cell::Lines(lines) => {
            markup.raw("<ul>");
            for line in lines {
                markup.prose("li", &[], line);
            }
            markup.raw("</ul>");
        }
        Cell::Cause(text, class) => {
            markup.element("span", &[("class", &format!("swatch {class}"))], "");
            markup.sentence(text);
        }
        Cell::Link(text, to) => markup.element("a", &[("href", to)], text),
        Cell::Blank | Cell::Unknown | Cell::Text(_) => markup.sentence(&cell.plain()),
    }
}

/// The class of a word in the style sheet.
pub(crate) fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "outcome good",
        Tone::Bad => "outcome bad",
        Tone::Doubtful => "outcome doubt",
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::one_of_each;
    use super::*;

    #[test]
    fn a_table_of_sentences_becomes_cards_too_and_each_sentence_has_a_line() {
        let html = |finding: &str, remedy: &str| {
            let mut table = Table::new("Gate")
                .column(super::super::words("finding"))
                .column(super::super::words("remedy"));
            table.row("count", vec![finding.into(), remedy.into()]);
            let mut markup = Markup::default();
            table.write_html(&mut markup, "Gates");
            markup.into_string()
        };
        let long = "a sentence that fits no narrow column";
        let cards = html(long, long);
        assert!(cards.contains("<table class=\"stacks\">"), "{cards}");
        let sentence = format!("<td class=\"sentence\" data-name=\"remedy\">{long}</td>");
        assert!(cards.contains(&sentence), "{cards}");
        let table = html(long, "short");
        assert!(table.contains("<table><caption>"), "{table}");
    }

    #[test]
    fn the_leading_column_stands_beside_the_label_and_names_are_no_markup() {
        let mut markup = Markup::default();
        one_of_each().write_html(&mut markup, "All");
        let html = markup.into_string();
        for part in [
            "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"All\">\
             <table class=\"stacks\">\
             <caption>What was found</caption><thead><tr><td></td><td></td>\
             <th scope=\"colgroup\" colspan=\"2\">latency, µs</th><td colspan=\"1\"></td></tr>",
            "<tr><th scope=\"col\">Policy</th><th scope=\"col\">verdict</th>\
             <th scope=\"col\" class=\"number\">median</th>",
            "<th scope=\"rowgroup\" colspan=\"5\">idle</th></tr><tr>\
             <th scope=\"row\">FIFO &lt;50&gt;</th>\
             <td data-name=\"verdict\"><span class=\"outcome good\">passed</span></td>\
             <td class=\"number\" data-name=\"latency median, µs\">1.5</td>\
             <td class=\"number\" data-name=\"latency max, µs\">–</td>",
            "<tr class=\"aside\"><th scope=\"row\">as executed</th><td data-name=\"verdict\"></td>",
            "<td colspan=\"4\">not measured</td></tr></tbody></table></div>",
        ] {
            assert!(html.contains(part), "{part}\n{html}");
        }
    }
}
