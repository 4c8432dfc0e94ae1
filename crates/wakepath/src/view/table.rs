//! The rows of a view as a table that fits the terminal: a policy over its phases or a thread on each
//! line, the columns that there is room for.

use super::history::{History, Scale};
use super::standing::{Lines, Row, Standing, Totals};
use wakepath_report::Style;
use wakepath_timeline::columns::{cut, width};
use wakepath_timeline::duration::three_digits;
use wakepath_timeline::one_line;
use wakepath_verdict::fraction;

/// Columns of latencies over time, at most and at least.
pub(super) const MOST_TIME: usize = 48;
pub(super) const LEAST_TIME: usize = 8;

/// The rows with their widths.
pub(super) struct Table {
    name: usize,
    time: usize,
    missed: usize,
    scale: Option<Scale>,
    /// Whether the worst's phase has a column.
    phase: usize,
    title: &'static str,
    rows: Vec<Line>,
}

/// One policy over its phases, or one thread.
struct Line {
    name: String,
    totals: Totals,
    /// The phase with the largest latency.
    phase: String,
    history: History,
    is_now: bool,
    is_begun: bool,
    problem: bool,
}

/// Widths of columns of times.
const MEDIAN: usize = 9;
const MAX: usize = 10;

impl Table {
    /// Layout for this number of columns.
    pub(super) fn new(standing: &Standing, columns: usize) -> Self {
        let rows = by_name(standing);
        let widest = |of: &dyn Fn(&Line) -> usize| rows.iter().map(of).max().unwrap_or(0);
        let title = match standing.lines {
            Lines::Policies => "policy",
            Lines::Threads => "thread",
        };
        let missed = widest(&|row| width(&missed(&row.totals))).max(6);
        let most = (columns / 2).min(columns.saturating_sub(missed + MEDIAN + MAX + 4));
        let name = widest(&|row| width(&row.name)).clamp(width(title), most.max(width(title)));
        let fixed = name + missed + MEDIAN + MAX + 4;
        let phases = standing.rows.iter().map(|row| width(&row.phase)).max();
        let phase = phases.filter(|phase| fixed + phase + 1 + 16 <= columns);
        let phase = phase.unwrap_or(0);
        let taken = fixed + if phase > 0 { phase + 1 } else { 0 };
        let time = columns.saturating_sub(taken).min(MOST_TIME);
        Self {
            name,
            time: if time < LEAST_TIME { 0 } else { time },
            missed,
            scale: Scale::over(rows.iter().map(|row| &row.history)),
            phase,
            title,
            rows,
        }
    }

    /// Limited to `most` lines; rows that don't fit are counted.
    pub(super) fn lines(&self, style: Style, most: usize) -> Vec<String> {
        let mut lines = vec![self.title()];
        let all = self.rows.len();
        let now = self.rows.iter().position(|row| row.is_now);
        let (first, shown) = window(all, now, most);
        let inside = self.rows.iter().skip(first).take(shown);
        lines.extend(inside.map(|row| self.line(row, style)));
        if shown < all {
            lines.push(format!("… and {} more", all - shown));
        }
        lines.extend(self.scale_below().filter(|_| lines.len() < most));
        lines
    }

    fn title(&self) -> String {
        let scale = self.scale_text();
        let long = scale
            .as_ref()
            .map(|scale| format!("latency over time, {scale}"));
        let fits = |text: &&String| width(text) <= self.time;
        let over_time = long
            .as_ref()
            .filter(fits)
            .or(scale.as_ref().filter(fits))
            .map_or("", |text| text);
        let line = self.laid([self.title, over_time, "missed", "median", "max", "in"]);
        line.trim_end().to_owned()
    }

    fn scale_text(&self) -> Option<String> {
        self.scale.map(scale_text)
    }

    /// Where the title has no room for it.
    fn scale_below(&self) -> Option<String> {
        let text = self.scale_text().filter(|text| width(text) > self.time)?;
        (self.time > 0).then(|| format!("latency over time: {text}"))
    }

    fn line(&self, row: &Line, style: Style) -> String {
        let over_time = match self.scale {
            Some(scale) if self.time > 0 => row.history.line(self.time, scale),
            _ => String::new(),
        };
        let of = &row.totals;
        let (missed, median, max) = match (row.is_begun, of.executed) {
            (false, _) => Default::default(),
            (true, 0) if row.problem => (String::new(), String::new(), "–".to_owned()),
            (true, 0) => (missed(of), String::new(), String::new()),
            (true, _) => (
                missed(of),
                three_digits(of.median_ns),
                three_digits(of.max_ns.unwrap_or(0)),
            ),
        };
        let over_time = if row.problem && of.executed == 0 && self.time >= 12 {
            "not measured".to_owned()
        } else {
            over_time
        };
        let line = self.laid([&row.name, &over_time, &missed, &median, &max, &row.phase]);
        let line = line.trim_end();
        match (row.is_now, row.problem, of.missed) {
            (_, true, _) => style.doubtful(line),
            (_, false, Some(1..)) => style.bad(line),
            (true, ..) => style.bold(line),
            _ => line.to_owned(),
        }
    }

    fn laid(&self, cells: [&str; 6]) -> String {
        let [name, time, missed, median, max, phase] = cells;
        let mut line = left(&cut(name, self.name), self.name);
        if self.time > 0 {
            line = line + " " + &left(time, self.time);
        }
        line = line + " " + &right(missed, self.missed);
        line = line + " " + &right(median, MEDIAN) + " " + &right(max, MAX);
        match self.phase {
            0 => line,
            columns => line + " " + &cut(phase, columns),
        }
    }
}

/// Count and share.
fn missed(of: &Totals) -> String {
    match (of.missed, of.due()) {
        (None, _) => "–".to_owned(),
        (Some(missed), 0) | (Some(missed @ 0), _) => missed.to_string(),
        (Some(missed), due) => format!("{missed}, {}", fraction(missed as f64 / due as f64)),
    }
}

/// Rows of one name, which differ in their phases, as one line.
fn by_name(standing: &Standing) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for (number, row) in standing.rows.iter().enumerate() {
        let is_now = standing.current == Some(number);
        let name = one_line(&row.name);
        match lines.iter_mut().find(|line| line.name == name) {
            None => lines.push(Line {
                totals: row.totals(),
                phase: one_line(&row.phase),
                history: row.history.clone(),
                is_now,
                is_begun: row.is_begun || row.problem.is_some(),
                problem: row.problem.is_some(),
                name,
            }),
            Some(line) => join(line, row, is_now),
        }
    }
    for line in &mut lines {
        if line.totals.executed == 0 {
            line.phase.clear();
        }
    }
    lines
}

fn join(line: &mut Line, row: &Row, is_now: bool) {
    let totals = row.totals();
    if totals.max_ns > line.totals.max_ns {
        line.phase = one_line(&row.phase);
    }
    line.totals = line.totals.and(&totals);
    line.history = line.history.then(&row.history);
    line.is_now |= is_now;
    line.is_begun |= row.is_begun || row.problem.is_some();
    line.problem |= row.problem.is_some();
}

/// The first row shown and their number, if `most` lines fit with a title; the row under way is
/// always among them.
pub(super) fn window(all: usize, now: Option<usize>, most: usize) -> (usize, usize) {
    let shown = if all < most {
        all
    } else {
        most.saturating_sub(2)
    };
    let first = now.map_or(0, |now| (now + 1).saturating_sub(shown));
    (first, shown)
}

pub(super) fn scale_text(scale: Scale) -> String {
    format!(
        "▁ {} █ {}",
        three_digits(scale.low_ns),
        three_digits(scale.high_ns)
    )
}

pub(super) fn left(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

pub(super) fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}
