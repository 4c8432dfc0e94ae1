//! The short answer on a terminal: at most so many lines and columns, whatever names the run holds.
//! What does not fit is left out from the end of the table and counted.

use super::{Answer, COLUMNS, Class, Figures, LINES, Matter, Next, Row, Word, variants_table};
use crate::Style;
use crate::table::{Cell, Table, Tone, number, words};
use wakepath_timeline::columns::{self, cut, width, wrapped};
use wakepath_timeline::duration::Unit;
use wakepath_verdict::fraction;

/// Narrower than this, the medians are left to the whole text.
const ROOM_FOR_MEDIANS: usize = 92;
/// No narrower terminal is laid out for.
const LEAST_COLUMNS: usize = 40;
/// So many times as many lines for a text where there is room as where there is none.
const WHOLE: usize = 8;
/// So many rows come before the steps that lead on, and so many lines of those before more rows.
const ROWS_FIRST: usize = 8;
/// See [`ROWS_FIRST`].
const NEXT_FIRST: usize = 8;
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
        // Everything whole where there is room for it; else each text in a few lines.
        let whole = self.laid(shown, columns, WHOLE);
        let text = whole.or_else(|| self.laid(shown, columns, 1));
        let text = text.unwrap_or_default();
        match text.split_once('\n') {
            Some((first, rest)) => format!("{}\n{rest}", self.coloured(first, shown.style)),
            None => text,
        }
    }

    /// With `more` times as many lines for each text as there are in need; `None` where more than
    /// one time leaves no room for something.
    fn laid(&self, shown: &Shown<'_>, columns: usize, more: usize) -> Option<String> {
        let mut above = self.verdict(columns, more);
        if !self.criterion.is_empty() {
            let criterion = format!("criterion: {}", self.criterion);
            above += &lines(&criterion, "  ", columns, 3 * more);
        }
        above.push('\n');
        let matters = self.matters(columns, more);
        let mut notes = String::from("\n");
        notes += &lines(&self.limits, "  ", columns, 2 * more);
        let recording = format!("recording: {}", shown.recording);
        notes += &lines(&recording, "  ", columns, more);
        let used = [&above, &matters, &notes].map(|text| text.lines().count());
        let used = used.iter().sum::<usize>() + shown.lines_below;
        let rows_first = match (more, self.variants.len()) {
            (1, 0) => ROWS_FIRST,
            _ => usize::MAX,
        };
        let some = self.row_count().min(rows_first);
        let table = self.table(some, columns).lines().count() + 1;
        let least = match self.variants.is_empty() {
            true => NEXT_FIRST,
            false => NEXT_FIRST / 2,
        };
        let room = LINES.saturating_sub(used + table + 1).max(least);
        let (next, is_all) = self.next(shown.run, columns, room);
        let used = used + next.lines().count();
        if more > 1 && (!is_all || used + table >= LINES) {
            return None;
        }
        let table = self.table_within(LINES.saturating_sub(used), columns);
        Some(format!("{above}{table}{matters}{next}{notes}"))
    }

    fn verdict(&self, columns: usize, more: usize) -> String {
        let outcome = self.outcome.to_uppercase();
        let Some((first, others)) = self.because.split_first() else {
            return format!("verdict: {outcome}\n");
        };
        let mut text = lines(
            &format!("verdict: {outcome}: {first}"),
            "  ",
            columns,
            3 * more,
        );
        for because in others.iter().take(2) {
            text += &lines(&format!("  {because}"), "  ", columns, 2 * more);
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
        if self.classes.is_empty() {
            return String::new();
        }
        let mut shown = self.row_count();
        loop {
            let mut text = self.table(shown, columns);
            let more = self.row_count() - shown;
            if more > 0 {
                text += &format!("  and {more} more: wakepath show --details\n");
            }
            if shown == 0 || text.lines().count() < most {
                return text + "\n";
            }
            shown -= 1;
        }
    }

    fn row_count(&self) -> usize {
        match self.variants.len() {
            0 => self.rows.len(),
            variants => variants,
        }
    }

    /// The first so many rows: programs beside each other, where the run is about those, or policies.
    fn table(&self, shown: usize, columns: usize) -> String {
        let table = match self.variants.is_empty() {
            true => self.of_policies(&self.rows[..shown], columns),
            false => variants_table(&self.variants[..shown]),
        };
        let text = table.to_terminal(Some(columns));
        let kept: Vec<String> = text.lines().map(|line| cut(line, columns)).collect();
        kept.join("\n") + "\n"
    }

    fn of_policies(&self, rows: &[Row], columns: usize) -> Table {
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
        table
    }

    fn matters(&self, columns: usize, more: usize) -> String {
        if self.machine.is_empty() {
            return String::new();
        }
        let others = match self.more_bad {
            0 => String::new(),
            others => format!(" ({others} more: wakepath doctor)"),
        };
        let heading = format!("what matters most on this machine{others}");
        let mut text = cut(&heading, columns) + "\n";
        // Where programs are compared, they come before the machine that they share.
        let most = if self.variants.is_empty() {
            usize::MAX
        } else {
            1
        };
        for Matter { what, size, remedy } in self.machine.iter().take(most) {
            // The size is not what is cut.
            let room = match more {
                1 => columns.saturating_sub(width(size) + 6).max(columns / 3),
                _ => usize::MAX,
            };
            text += &lines(
                &format!("  {}; {size}", cut(what, room)),
                "    ",
                columns,
                more,
            );
            if !remedy.is_empty() {
                text += &lines(
                    &format!("      remedy: {remedy}"),
                    "      ",
                    columns,
                    2 * more,
                );
            }
        }
        text + "\n"
    }

    /// Each step whole, as many as there are lines for; and whether that is all of them.
    fn next(&self, run: &str, columns: usize, room: usize) -> (String, bool) {
        let mut text = String::from("next\n");
        let mut left = room;
        let commands: Vec<String> = self.next.iter().map(|next| next.command(run)).collect();
        let widest = commands.iter().map(|command| width(command));
        let aligned = widest.filter(|&wide| wide <= columns * 2 / 5).max();
        let aligned = aligned.unwrap_or(0);
        for (next, command) in self.next.iter().zip(&commands) {
            let step = match width(command) <= aligned {
                true => {
                    let gap = " ".repeat(aligned - width(command));
                    let rest = " ".repeat(aligned + 5);
                    wrapped(&next.what, &format!("  {command}{gap}   "), &rest, columns)
                }
                false => {
                    typed(command, columns) + &wrapped(&next.what, "      ", "      ", columns)
                }
            };
            let lines = step.lines().count();
            if lines > left {
                return (text, false);
            }
            left -= lines;
            text += &step;
        }
        (text, true)
    }
}

/// A command in as many lines as it takes.
fn typed(command: &str, columns: usize) -> String {
    let pasted = columns::command(command, "  ", columns);
    match pasted.lines().all(|line| width(line) <= columns) {
        true => pasted,
        false => wrapped(command, "  ", "      ", columns),
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
        0..99_950 => Unit::Micros.figure(ns, 1),
        _ => Unit::Micros.figure(ns, 0),
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
            variants: Vec::new(),
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
    fn words_are_wrapped_and_not_cut_where_there_is_room() {
        let long = |last: &str| format!("{} {last}", "some words ".repeat(12).trim_end());
        let answer = Answer {
            because: vec![long("because")],
            criterion: long("criterion"),
            machine: vec![Matter {
                what: long("what"),
                size: "3 µs".into(),
                remedy: long("remedy"),
            }],
            next: vec![
                Next {
                    words: vec![Word::Text(format!(
                        "wakepath check {}",
                        "--trace ".repeat(20)
                    ))],
                    what: long("first"),
                },
                Next {
                    words: vec![Word::Text("wakepath explain".into())],
                    what: long("second"),
                },
            ],
            limits: long("limits"),
            ..hostile(3, "x")
        };
        for columns in [None, Some(80)] {
            let text = answer.to_text(&Shown {
                style: Style {
                    colour: false,
                    columns,
                },
                ..Shown::default()
            });
            let text: Vec<&str> = text.lines().filter(|line| !line.contains("xx")).collect();
            let text = text.join("\n");
            for last in [
                "because",
                "criterion",
                "what",
                "remedy",
                "first",
                "second",
                "limits",
            ] {
                assert!(text.contains(last), "{last}: {text}");
            }
            assert!(!text.contains('…'), "{text}");
            assert!(text.matches("--trace").count() == 20, "{text}");
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
