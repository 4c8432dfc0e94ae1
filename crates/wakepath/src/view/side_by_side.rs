//! The rows of a run with its phases side by side: for each policy its misses and its largest latency in
//! each phase. Red is a miss, yellow what could not be measured, bold what is being measured.

use super::history::{History, Scale};
use super::standing::{Lines, Row, Standing, Totals};
use super::table::{LEAST_TIME, MOST_TIME, left, right, scale_text, window};
use wakepath_report::Style;
use wakepath_timeline::columns::width;
use wakepath_timeline::duration::three_digits;
use wakepath_timeline::one_line;
use wakepath_verdict::fraction;

/// Columns between two phases.
const GAP: usize = 2;
/// Columns of a time in three digits.
const MEDIAN: usize = 8;
const MAX: usize = 8;

/// The rows with their widths.
pub(super) struct SideBySide {
    name: usize,
    time: usize,
    phases: Vec<Phase>,
    has_medians: bool,
    scale: Option<Scale>,
    rows: Vec<Line>,
}

struct Phase {
    name: String,
    /// Of all its columns.
    width: usize,
}

/// A policy.
struct Line {
    name: String,
    history: History,
    /// One for each phase; `None` before it has begun.
    cells: Vec<Option<Cells>>,
    /// The phase under way.
    now: Option<usize>,
}

struct Cells {
    missed: String,
    is_missed: bool,
    median: String,
    max: String,
    is_problem: bool,
}

impl SideBySide {
    /// Layout for this number of columns; `None` if there is one phase only, or the phases don't
    /// fit.
    pub(super) fn new(standing: &Standing, columns: usize) -> Option<Self> {
        let mut names: Vec<String> = Vec::new();
        for row in &standing.rows {
            let name = one_line(&row.phase).to_string();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if standing.lines != Lines::Policies || names.len() < 2 {
            return None;
        }
        let rows = lines_of(standing, &names);
        let name = rows
            .iter()
            .map(|row| width(&row.name))
            .max()?
            .max(width("policy"));
        let laid = |has_medians: bool| -> Vec<Phase> {
            let medians = if has_medians { MEDIAN + 1 } else { 0 };
            let phases = names.iter().enumerate().map(|(place, name)| {
                let cells = rows.iter().filter_map(|row| row.cells[place].as_ref());
                let missed = cells.map(|cells| width(&cells.missed)).max().unwrap_or(0);
                let missed = missed.max(width("missed"));
                Phase {
                    name: name.clone(),
                    width: (missed + 1 + medians + MAX).max(width(name)),
                }
            });
            phases.collect()
        };
        let left_over = |phases: &[Phase]| {
            let taken: usize = phases.iter().map(|phase| GAP + phase.width).sum();
            columns.checked_sub(name + taken)
        };
        let with_medians = laid(true);
        let has_medians = left_over(&with_medians).is_some_and(|left| left > LEAST_TIME);
        let phases = if has_medians {
            with_medians
        } else {
            laid(false)
        };
        let time = left_over(&phases)?.saturating_sub(1).min(MOST_TIME);
        Some(Self {
            name,
            time: if time < LEAST_TIME { 0 } else { time },
            phases,
            has_medians,
            scale: Scale::over(rows.iter().map(|row| &row.history)),
            rows,
        })
    }

    /// Limited to `most` lines; rows that don't fit are counted.
    pub(super) fn lines(&self, style: Style, most: usize) -> Vec<String> {
        let mut lines = self.titles();
        let now = self.rows.iter().position(|row| row.now.is_some());
        let most = most.saturating_sub(lines.len());
        let (first, shown) = window(self.rows.len(), now, most + 1);
        let inside = self.rows.iter().skip(first).take(shown);
        lines.extend(inside.map(|row| self.line(row, style)));
        if shown < self.rows.len() {
            lines.push(format!("… and {} more", self.rows.len() - shown));
        } else if let Some(scale) = self.scale.filter(|_| self.time > 0 && shown < most) {
            lines.push(format!("latency over time: {}", scale_text(scale)));
        }
        lines
    }

    fn titles(&self) -> Vec<String> {
        let gap = " ".repeat(GAP);
        let mut phases = self.begun("", "", |text| text.to_owned());
        let over_time = if self.time >= width("over time") {
            "over time"
        } else {
            "time"
        };
        let mut heads = self.begun("policy", over_time, |text| text.to_owned());
        for phase in &self.phases {
            phases += &format!("{gap}{}", right(&phase.name, phase.width));
            let cells = Cells {
                missed: "missed".into(),
                is_missed: false,
                median: "median".into(),
                max: "max".into(),
                is_problem: false,
            };
            heads += &format!(
                "{gap}{}",
                self.cells(phase, &cells, false, Style::default())
            );
        }
        vec![phases, heads]
    }

    fn line(&self, row: &Line, style: Style) -> String {
        let over_time = match self.scale {
            Some(scale) => row.history.line(self.time, scale),
            None => String::new(),
        };
        let mut line = self.begun(&row.name, &over_time, |name| match row.now {
            Some(_) => style.bold(name),
            None => name.to_owned(),
        });
        for (place, (phase, cells)) in self.phases.iter().zip(&row.cells).enumerate() {
            line += &" ".repeat(GAP);
            line += &match cells {
                Some(cells) => self.cells(phase, cells, row.now == Some(place), style),
                None => " ".repeat(phase.width),
            };
        }
        line.trim_end().to_owned()
    }

    /// Name and latencies over time.
    fn begun(&self, name: &str, over_time: &str, styled: impl Fn(&str) -> String) -> String {
        let padding = " ".repeat(self.name.saturating_sub(width(name)));
        let mut line = styled(name) + &padding;
        if self.time > 0 {
            line = line + " " + &left(over_time, self.time);
        }
        line
    }

    fn cells(&self, phase: &Phase, cells: &Cells, is_now: bool, style: Style) -> String {
        if cells.is_problem {
            return style.doubtful(&right("not measured", phase.width));
        }
        let medians = if self.has_medians { MEDIAN + 1 } else { 0 };
        let missed = right(&cells.missed, phase.width - 1 - medians - MAX);
        let missed = match (cells.is_missed, is_now) {
            (true, _) => style.bad(&missed),
            (false, true) => style.bold(&missed),
            (false, false) => missed,
        };
        let mut rest = String::new();
        if self.has_medians {
            rest = rest + " " + &right(&cells.median, MEDIAN);
        }
        rest = rest + " " + &right(&cells.max, MAX);
        if is_now {
            missed + &style.bold(&rest)
        } else {
            missed + &rest
        }
    }
}

fn lines_of(standing: &Standing, phases: &[String]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for (number, row) in standing.rows.iter().enumerate() {
        let name = one_line(&row.name).to_string();
        let at = lines.iter().position(|line| line.name == name);
        let at = at.unwrap_or_else(|| {
            lines.push(Line {
                name,
                history: History::default(),
                cells: phases.iter().map(|_| None).collect(),
                now: None,
            });
            lines.len() - 1
        });
        let line = &mut lines[at];
        line.history = line.history.then(&row.history);
        let Some(place) = phases
            .iter()
            .position(|phase| *phase == *one_line(&row.phase))
        else {
            continue;
        };
        line.cells[place] = cells_of(row);
        if standing.current == Some(number) {
            line.now = Some(place);
        }
    }
    lines
}

fn cells_of(row: &Row) -> Option<Cells> {
    let of = row.totals();
    let is_problem = row.problem.is_some() && of.executed == 0;
    (row.is_begun || is_problem).then(|| Cells {
        missed: missed(&of),
        is_missed: of.missed.is_some_and(|missed| missed > 0),
        median: match of.executed {
            0 => "–".into(),
            _ => three_digits(of.median_ns),
        },
        max: of.max_ns.map_or_else(|| "–".into(), three_digits),
        is_problem,
    })
}

/// The share.
fn missed(of: &Totals) -> String {
    match (of.missed, of.due()) {
        (None, _) => "–".to_owned(),
        (Some(missed), 0) | (Some(missed @ 0), _) => missed.to_string(),
        (Some(missed), due) => fraction(missed as f64 / due as f64),
    }
}
