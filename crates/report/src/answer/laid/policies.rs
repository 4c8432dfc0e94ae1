//! The rows of policies: the figures of each with its verdict, and why it did not pass. The reason
//! follows the verdict if all of them fit, else below the table.

use super::super::{Answer, Class, Figures, Row};
use super::lines;
use crate::table::{Cell, Table, number, words};
use wakepath_timeline::columns::{cut, width};

/// Narrower than this, the medians are left to the whole text.
const ROOM_FOR_MEDIANS: usize = 92;
/// Longest label of a row.
const LONGEST_LABEL: usize = 24;
/// Lines of reasons below a table in need.
const REASONS: usize = 3;
/// Number of sentences shown above the table; see [`Answer::because`].
const SENTENCES: usize = 3;

impl Answer {
    /// The first `shown` rows, with `more` times the minimum lines for reasons.
    pub(super) fn policies(&self, shown: usize, columns: usize, more: usize) -> String {
        let rows = &self.rows[..shown];
        let detail = self.fitting(rows, columns);
        let has_brief = |row: &Row| Self::is_explained(row) || !row.why.brief.is_empty();
        if rows.iter().all(has_brief) {
            // A reason next to its verdict is worth more than the medians.
            for medians in [detail.medians, false] {
                let detail = Detail { medians, ..detail };
                let text = self.of_policies(rows, detail, true).to_terminal(None);
                if text.lines().all(|line| width(line) <= columns) {
                    return text;
                }
            }
        }
        let table = self.of_policies(rows, detail, false);
        table.to_terminal(Some(columns)) + &self.reasons(rows, columns, more)
    }

    /// Whether nothing is left to add about why this row did not pass.
    fn is_explained(row: &Row) -> bool {
        let why = &row.why;
        // A sentence above the table gives the whole reason.
        let is_above = why.sentence.is_some_and(|at| at < SENTENCES);
        why.reason.is_empty() || (why.brief.is_empty() && is_above)
    }

    /// Each reason once, with the rows that it is true of.
    fn reasons(&self, rows: &[Row], columns: usize, more: usize) -> String {
        // Of a single row the verdict above has said all.
        if self.rows.len() < 2 {
            return String::new();
        }
        let mut reasons: Vec<(Option<&str>, &str, Vec<String>)> = Vec::new();
        for row in rows.iter().filter(|row| !Self::is_explained(row)) {
            let why = &row.why;
            let (phase, reason) = if more == 1 && !why.brief.is_empty() {
                (None, why.brief.as_str())
            } else {
                (why.phase.as_deref(), why.reason.as_str())
            };
            let label = cut(&row.label, LONGEST_LABEL);
            let mut known = reasons.iter_mut();
            match known.find(|(of, known, _)| (*of, *known) == (phase, reason)) {
                Some((.., labels)) => labels.push(label),
                None => reasons.push((phase, reason, vec![label])),
            }
        }
        let each = reasons.iter();
        let each: Vec<String> = each
            .map(|(phase, reason, labels)| match phase {
                Some(phase) => format!("{}, {phase}: {reason}", labels.join(", ")),
                None => format!("{}: {reason}", labels.join(", ")),
            })
            .collect();
        match (each.is_empty(), more) {
            (true, _) => String::new(),
            (false, 1) => {
                let all = format!("  why: {}", each.join("; "));
                lines(&all, "    ", columns, REASONS)
            }
            (false, _) => {
                let each = each.iter();
                each.map(|one| lines(&format!("  {one}"), "    ", columns, 2))
                    .collect()
            }
        }
    }

    /// The most detail that there is room for in one table: the bounds of what was not missed before p99.9, and that
    /// before the medians.
    fn fitting(&self, rows: &[Row], columns: usize) -> Detail {
        let all = [
            Detail::ALL,
            Detail {
                medians: false,
                ..Detail::ALL
            },
            Detail {
                bounds: false,
                ..Detail::ALL
            },
            Detail {
                bounds: true,
                ..Detail::LEAST
            },
            Detail {
                p999: true,
                ..Detail::LEAST
            },
        ];
        let fits = |detail: &Detail| {
            let text = self.of_policies(rows, *detail, false).to_terminal(None);
            text.lines().all(|line| width(line) <= columns)
        };
        let wide = columns >= ROOM_FOR_MEDIANS;
        let mut all = all.into_iter().filter(|detail| wide || !detail.medians);
        all.find(fits).unwrap_or(Detail::LEAST)
    }

    fn of_policies(&self, rows: &[Row], detail: Detail, reasoned: bool) -> Table {
        let names = detail.names();
        let mut table = Table::new("");
        for class in &self.classes {
            let title = match class {
                Class::Idle => "idle",
                Class::UnderLoad => "under load",
                Class::All => "latency",
            };
            let heads: Vec<_> = names.iter().map(|name| number(name)).collect();
            table = table.group(title, "", &heads);
        }
        table = table.column(words("verdict"));
        for row in rows {
            let mut cells: Vec<Cell> = Vec::new();
            for figures in &row.figures {
                cells.extend(of_figures(figures.as_ref(), detail));
            }
            let reason = if reasoned { row.why.brief.as_str() } else { "" };
            cells.push(row.verdict.with(reason).into());
            table.row(cut(&row.label, LONGEST_LABEL), cells);
        }
        table
    }
}

/// Columns that a table of policies has room for.
#[derive(Debug, Clone, Copy)]
struct Detail {
    /// Median latencies.
    medians: bool,
    /// Their 99.9th percentiles.
    p999: bool,
    /// The bound next to a count of no misses.
    bounds: bool,
}

impl Detail {
    const ALL: Self = Self {
        medians: true,
        p999: true,
        bounds: true,
    };
    const LEAST: Self = Self {
        medians: false,
        p999: false,
        bounds: false,
    };

    fn names(self) -> Vec<&'static str> {
        let names = [
            ("missed", true),
            ("median", self.medians),
            ("p99.9", self.p999),
            ("max", true),
        ];
        let shown = names.into_iter().filter(|(_, is_shown)| *is_shown);
        shown.map(|(name, _)| name).collect()
    }
}

fn of_figures(figures: Option<&Figures>, detail: Detail) -> Vec<Cell> {
    let Some(figures) = figures else {
        return vec![Cell::Blank; detail.names().len()];
    };
    let mut cells = vec![Cell::from(figures.missed_text(detail.bounds))];
    if detail.medians {
        cells.push(figures.median_ns.map(Cell::time).into());
    }
    if detail.p999 {
        cells.push(figures.p999_ns.map(Cell::time).into());
    }
    cells.push(figures.max_ns.map(Cell::time).into());
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_measured_is_a_dash_and_no_zero() {
        let nothing = Figures {
            missed: None,
            missed_at_most: None,
            is_least: false,
            median_ns: None,
            p999_ns: None,
            max_ns: None,
        };
        let dash = Cell::from(None::<String>);
        assert_eq!(of_figures(Some(&nothing), Detail::ALL), vec![dash; 4]);
        let none_missed = Figures {
            missed: Some(0.0),
            ..nothing
        };
        let cells = of_figures(Some(&none_missed), Detail::ALL);
        assert_eq!(cells[0], Cell::Text("0".into()));
        let bounded = Figures {
            missed_at_most: Some(0.004_8),
            ..none_missed
        };
        let cells = of_figures(Some(&bounded), Detail::ALL);
        assert_eq!(cells[0], Cell::Text("0 (≤ 0.48 %)".into()));
    }
}
