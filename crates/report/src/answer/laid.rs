//! The short answer on a terminal: at most so many lines and columns, whatever names the run holds.
//! What does not fit is left out from the end of the table and counted.

use super::{Answer, COLUMNS, Class, Figures, LINES, Matter, Next, Row, Word};
use crate::Style;
use crate::table::{Cell, Table, Tone, number, words};
use wakepath_timeline::columns::{cut, width, wrapped};
use wakepath_verdict::fraction;

/// Narrower than this, the medians are left to the whole text.
const ROOM_FOR_MEDIANS: usize = 92;
/// No narrower terminal is laid out for.
const LEAST_COLUMNS: usize = 40;
/// Longest label of a row.
const LONGEST_LABEL: usize = 24;

/// How and where an answer is shown.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shown<'a> {
    /// Colours and columns.
    pub style: Style,
    /// What names the run in a command; empty where it need not be named.
    pub run: &'a str,
    /// Where the recording lies.
    pub recording: &'a str,
    /// Lines that whoever shows it adds below.
    pub lines_below: usize,
}

impl Answer {
    /// The answer in at most 40 lines, those below included, and at most 100 columns.
    pub fn to_text(&self, shown: &Shown<'_>) -> String {
        let columns = shown.style.columns.unwrap_or(COLUMNS);
        let columns = columns.clamp(LEAST_COLUMNS, COLUMNS);
        let mut above = self.verdict(columns);
        if !self.criterion.is_empty() {
            above += &lines(&format!("criterion: {}", self.criterion), "  ", columns, 3);
        }
        above.push('\n');
        let mut below = self.matters(columns);
        below += &self.next(shown.run, columns);
        below.push('\n');
        below += &lines(&self.limits, "  ", columns, 2);
        below += &lines(&format!("recording: {}", shown.recording), "  ", columns, 1);
        let used = above.lines().count() + below.lines().count() + shown.lines_below;
        let table = self.table_within(LINES.saturating_sub(used), columns);
        let text = format!("{above}{table}{below}");
        match text.split_once('\n') {
            Some((first, rest)) => format!("{}\n{rest}", self.coloured(first, shown.style)),
            None => text,
        }
    }

    fn verdict(&self, columns: usize) -> String {
        let outcome = self.outcome.to_uppercase();
        let Some((first, more)) = self.because.split_first() else {
            return format!("verdict: {outcome}\n");
        };
        let mut text = lines(&format!("verdict: {outcome}: {first}"), "  ", columns, 3);
        for because in more.iter().take(2) {
            text += &lines(&format!("  {because}"), "  ", columns, 2);
        }
        text
    }

    /// The first line with the outcome in its colour.
    fn coloured(&self, line: &str, style: Style) -> String {
        let tone = match self.outcome.as_str() {
            "passed" => Tone::Good,
            "failed" | "invalid" => Tone::Bad,
            _ => Tone::Doubtful,
        };
        let outcome = self.outcome.to_uppercase();
        line.replacen(&outcome, &style.bold(&style.toned(tone, &outcome)), 1)
    }

    /// As many rows as there are lines for, and how many more there are.
    fn table_within(&self, most: usize, columns: usize) -> String {
        let mut shown = self.rows.len();
        loop {
            let mut text = self.table(&self.rows[..shown], columns);
            let more = self.rows.len() - shown;
            if more > 0 {
                text += &format!("  and {more} more: wakepath show --details\n");
            }
            if shown == 0 || text.lines().count() < most {
                return text + "\n";
            }
            shown -= 1;
        }
    }

    fn table(&self, rows: &[Row], columns: usize) -> String {
        let with_medians = columns >= ROOM_FOR_MEDIANS;
        let names: &[&'static str] = match with_medians {
            true => &["missed", "median", "p99.9", "max"],
            false => &["missed", "p99.9", "max"],
        };
        let mut table = Table::of("");
        for class in &self.classes {
            let title = match class {
                Class::Idle => "idle",
                Class::UnderLoad => "under load",
                Class::All => "latency",
            };
            let heads: Vec<_> = names.iter().map(|name| number(name)).collect();
            table = table.group(title, "µs", &heads);
        }
        table = table.column(words("verdict"));
        for row in rows {
            let mut cells: Vec<Cell> = Vec::new();
            for figures in &row.figures {
                cells.extend(of_figures(figures.as_ref(), with_medians));
            }
            cells.push(row.verdict.as_str().into());
            table.row(cut(&row.label, LONGEST_LABEL), cells);
        }
        let text = table.to_terminal(Some(columns));
        let kept: Vec<String> = text.lines().map(|line| cut(line, columns)).collect();
        kept.join("\n") + "\n"
    }

    fn matters(&self, columns: usize) -> String {
        if self.machine.is_empty() {
            return String::new();
        }
        let more = match self.more_bad {
            0 => String::new(),
            more => format!(" ({more} more: wakepath doctor)"),
        };
        let heading = format!("what matters most on this machine{more}");
        let mut text = cut(&heading, columns) + "\n";
        for Matter { what, size, remedy } in &self.machine {
            // The size is not what is cut.
            let room = columns.saturating_sub(width(size) + 6).max(columns / 3);
            text += &lines(
                &format!("  {}; {size}", cut(what, room)),
                "    ",
                columns,
                1,
            );
            if !remedy.is_empty() {
                text += &lines(&format!("      remedy: {remedy}"), "      ", columns, 2);
            }
        }
        text + "\n"
    }

    fn next(&self, run: &str, columns: usize) -> String {
        let mut text = String::from("next\n");
        let commands: Vec<String> = self.next.iter().map(|next| next.command(run)).collect();
        let widest = commands.iter().map(|command| width(command));
        let aligned = widest.filter(|&wide| wide <= columns * 2 / 5).max();
        let aligned = aligned.unwrap_or(0);
        for (next, command) in self.next.iter().zip(&commands) {
            let gap = aligned.saturating_sub(width(command));
            let line = format!("  {command}{}   {}", " ".repeat(gap), next.what);
            match width(command) <= aligned {
                true => text += &format!("{}\n", cut(&line, columns)),
                false => {
                    text += &format!("{}\n", cut(&format!("  {command}"), columns));
                    text += &format!("{}\n", cut(&format!("      {}", next.what), columns));
                }
            }
        }
        text
    }
}

impl Next {
    /// As it is typed.
    fn command(&self, run: &str) -> String {
        let words = self.words.iter().map(|word| match word {
            Word::Text(text) => text.clone(),
            Word::Run if run.is_empty() => String::new(),
            Word::Run => crate::next_step::word(run),
        });
        let words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
        words.join(" ")
    }
}

fn of_figures(figures: Option<&Figures>, with_medians: bool) -> Vec<Cell> {
    let Some(figures) = figures else {
        return vec![Cell::Blank; if with_medians { 4 } else { 3 }];
    };
    let missed = figures.missed.map(|missed| match figures.is_least {
        false if missed <= 0.0 => "0".to_owned(),
        false => fraction(missed),
        true => format!("≥ {}", fraction(missed)),
    });
    let mut cells = vec![Cell::from(missed)];
    if with_medians {
        cells.push(figures.median_ns.map(micros).into());
    }
    cells.push(figures.p999_ns.map(micros).into());
    cells.push(figures.max_ns.map(micros).into());
    cells
}

/// Microseconds with three digits at least: tenths below a hundred.
fn micros(ns: i64) -> String {
    match ns.unsigned_abs() {
        0..99_950 => format!("{:.1}", ns as f64 / 1e3),
        _ => format!("{:.0}", ns as f64 / 1e3),
    }
}

/// At most so many lines; what is cut off says so.
fn lines(text: &str, rest: &str, columns: usize, most: usize) -> String {
    let begin = &text[..text.len() - text.trim_start().len()];
    let laid = wrapped(text, begin, rest, columns);
    if laid.lines().count() <= most {
        return laid;
    }
    let mut kept: Vec<String> = laid.lines().take(most).map(str::to_owned).collect();
    if let Some(last) = kept.last_mut() {
        *last = cut(&format!("{last} …………"), columns.min(width(last) + 2));
    }
    kept.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Next;

    #[test]
    fn what_was_not_measured_is_a_dash_and_no_zero() {
        let nothing = Figures {
            missed: None,
            is_least: false,
            median_ns: None,
            p999_ns: None,
            max_ns: None,
        };
        let dash = Cell::from(None::<String>);
        assert_eq!(of_figures(Some(&nothing), true), vec![dash; 4]);
        let none_missed = Figures {
            missed: Some(0.0),
            ..nothing
        };
        let cells = of_figures(Some(&none_missed), true);
        assert_eq!(cells[0], Cell::Text("0".into()));
    }

    /// The longest that each text can be, in as many rows as anybody may write.
    fn hostile(rows: usize, name: &str) -> Answer {
        let long = name.repeat(40);
        let figures = Figures {
            missed: Some(0.123_456),
            is_least: true,
            median_ns: Some(123_456_789_012),
            p999_ns: Some(1_234_567_890_123),
            max_ns: Some(i64::MAX),
        };
        let row = Row {
            label: long.clone(),
            figures: vec![Some(figures); 2],
            verdict: "virtual time".into(),
        };
        let matter = Matter {
            what: long.clone(),
            size: long.clone(),
            remedy: long.clone(),
        };
        let next = Next {
            words: vec![Word::Text(long.clone()), Word::Run],
            what: long.clone(),
        };
        Answer {
            outcome: "failed".into(),
            exit_code: 2,
            because: vec![long.clone(); 9],
            criterion: long.clone(),
            classes: vec![Class::Idle, Class::UnderLoad],
            rows: vec![row; rows],
            machine: vec![matter; 3],
            more_bad: 17,
            next: vec![next; 4],
            limits: long,
        }
    }

    #[test]
    fn whatever_names_a_run_holds_it_fits_one_screen() {
        for name in ["a name with blanks ", "withoutanyblank", "漢字"] {
            for rows in [0, 1, 8, 300] {
                for columns in [None, Some(40), Some(80), Some(100), Some(250)] {
                    let answer = hostile(rows, name);
                    let long = name.repeat(300);
                    let text = answer.to_text(&Shown {
                        style: Style {
                            colour: true,
                            columns,
                        },
                        run: &long,
                        recording: &long,
                        lines_below: 1,
                    });
                    assert!(text.lines().count() < LINES, "{rows} rows: {text}");
                    let most = columns.unwrap_or(COLUMNS).min(COLUMNS);
                    let widest = text.lines().map(width).max();
                    assert!(widest <= Some(most), "{columns:?}: {text}");
                    assert!(text.starts_with("verdict: "), "{text}");
                }
            }
        }
    }

    #[test]
    fn rows_without_room_are_counted() {
        let text = hostile(300, "x").to_text(&Shown::default());
        let more = text
            .lines()
            .find(|line| line.contains("more: wakepath show"));
        let more: usize = more
            .unwrap()
            .split_whitespace()
            .nth(1)
            .unwrap()
            .parse()
            .unwrap();
        let shown = text.matches("virtual time").count();
        assert!(shown > 3, "{text}");
        assert_eq!(shown + more, 300, "{text}");
    }
}
