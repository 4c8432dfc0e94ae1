//! How something stands as lines for a terminal of a given size. Pure; nothing in it is wider than
//! the terminal, and nothing is cut: what does not fit has a line of its own or is counted.

use super::history::Scale;
use super::standing::{Lines, Row, Standing, Time, Totals};
use std::time::Duration;
use wakepath_measure::LivePlace;
use wakepath_report::Style;
use wakepath_timeline::columns::{cut, width, wrapped};
use wakepath_timeline::duration::{long, rounded, short};
use wakepath_timeline::one_line;
use wakepath_verdict::fraction;

/// Narrower than this nothing is laid out for.
const LEAST_COLUMNS: usize = 40;
/// Columns of latencies over time, at most and at least.
const MOST_TIME: usize = 48;
const LEAST_TIME: usize = 8;
/// Notes that are shown.
const NOTES: usize = 2;

/// What the view shows, in lines of at most `columns` and at most so many.
pub fn lines(standing: &Standing, style: Style, columns: usize, most: usize) -> Vec<String> {
    // The last column stays free: a terminal that wraps at once would make two lines of one.
    let columns = columns.saturating_sub(1).max(LEAST_COLUMNS);
    let head = head(standing, style, columns);
    let foot = foot(standing, columns);
    let places = places(&standing.places, columns);
    let room = most.saturating_sub(head.len() + foot.len());
    let rows = Table::of(standing, columns).lines(style, room);
    let mut lines = head;
    let left = room.saturating_sub(rows.len());
    lines.extend(rows);
    if places.len() < left {
        lines.extend(places);
    }
    lines.extend(foot);
    lines.truncate(most.max(1));
    lines
}

fn head(standing: &Standing, style: Style, columns: usize) -> Vec<String> {
    let mut head = match &standing.part {
        Some(part) => format!("{part}: {}", standing.what),
        None => standing.what.clone(),
    };
    if !standing.recording.is_empty() {
        head += &format!("; recording to {}", standing.recording);
    }
    let laid = wrapped(&one_line(&head), "", "  ", columns);
    laid.lines().map(|line| style.bold(line)).collect()
}

/// Worst, what is being done, notes, time.
fn foot(standing: &Standing, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut add = |text: &str| {
        let laid = wrapped(&one_line(text), "", "  ", columns);
        lines.extend(laid.lines().map(str::to_owned));
    };
    if let Some(worst) = &standing.worst {
        add(&worst.text);
    }
    let notes = standing.notes.len().saturating_sub(NOTES);
    for note in &standing.notes[notes..] {
        add(&format!("note: {note}"));
    }
    if !standing.status.is_empty() {
        add(&standing.status);
    }
    lines.push(time(standing, columns));
    lines
}

/// A bar and words: how much is done, how much is left.
fn time(standing: &Standing, columns: usize) -> String {
    let (gone, left) = standing.gone_and_left();
    let words = words(standing, gone, left);
    let Some(left) = left else {
        return cut(&words, columns);
    };
    let bar = columns.saturating_sub(width(&words) + 3).min(24);
    if bar < 6 {
        return cut(&words, columns);
    }
    let all = (gone + left).as_secs_f64();
    let share = if all > 0.0 {
        gone.as_secs_f64() / all
    } else {
        1.0
    };
    let done = ((bar as f64) * share).round() as usize;
    let done = done.min(bar);
    format!("{}{} {words}", "█".repeat(done), "░".repeat(bar - done))
}

fn words(standing: &Standing, gone: Duration, left: Option<Duration>) -> String {
    let gone = clock(gone);
    match (&standing.time, left) {
        (Time::Run(remaining), Some(left)) => {
            let (ended, all) = remaining.segments();
            let left = clock(left);
            format!("{ended} of {all} segments, {gone} gone, about {left} left")
        }
        (_, Some(left)) => format!("{gone} gone, {} left", clock(left)),
        (_, None) => format!("{gone} gone, until it ends or Ctrl-C"),
    }
}

/// A time in words, in whole seconds.
pub fn clock(time: Duration) -> String {
    match time.as_secs() {
        0 => "0 s".to_owned(),
        seconds => long(seconds as f64),
    }
}

/// The rows with their widths.
struct Table {
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
    history: super::history::History,
    is_now: bool,
    is_begun: bool,
    problem: bool,
}

const MEDIAN: usize = 9;
const MAX: usize = 10;

impl Table {
    fn of(standing: &Standing, columns: usize) -> Self {
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

    /// At most so many lines; rows that don't fit are counted.
    fn lines(&self, style: Style, most: usize) -> Vec<String> {
        let mut lines = vec![self.title()];
        let fits = |count: usize| count < most;
        let all = self.rows.len();
        let shown = match fits(all) {
            true => all,
            false => most.saturating_sub(2),
        };
        // The row under way is always among those that are shown.
        let now = self.rows.iter().position(|row| row.is_now);
        let first = now.map_or(0, |now| (now + 1).saturating_sub(shown));
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
        let text = |scale: Scale| format!("▁ {} █ {}", short(scale.low_ns), short(scale.high_ns));
        self.scale.map(text)
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
                short(of.median_ns),
                short(of.max_ns.unwrap_or(0)),
            ),
        };
        let over_time = match row.problem && of.executed == 0 && self.time >= 12 {
            true => "not measured".to_owned(),
            false => over_time,
        };
        let line = self.laid([&row.name, &over_time, &missed, &median, &max, &row.phase]);
        let line = line.trim_end();
        match (row.is_now, row.problem, of.missed) {
            (true, ..) => style.bold(line),
            (false, true, _) => style.doubtful(line),
            (false, false, 1..) => style.bad(line),
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

fn left(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Count and share.
fn missed(of: &Totals) -> String {
    match (of.missed, of.due()) {
        (0, _) | (_, 0) => of.missed.to_string(),
        (missed, due) => format!("{missed}, {}", fraction(missed as f64 / due as f64)),
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

/// Each measured CPU, as `rtla timerlat top` has them.
fn places(places: &[(String, LivePlace)], columns: usize) -> Vec<String> {
    if places.is_empty() {
        return Vec::new();
    }
    let name = places
        .iter()
        .map(|(name, _)| width(name))
        .max()
        .unwrap_or(0);
    let name = name.clamp(6, columns.saturating_sub(60).max(6));
    let laid = |cells: [&str; 7]| {
        let [cpu, thread, cycles, now, min, mean, max] = cells;
        let figures = [now, min, mean, max]
            .map(|figure| right(figure, 10))
            .join(" ");
        let thread = left(&cut(thread, name), name);
        let line = format!("{} {thread} {} {figures}", right(cpu, 3), right(cycles, 9));
        cut(&line, columns)
    };
    let title = laid(["CPU", "thread", "cycles", "now", "min", "mean", "max"]);
    let line = |(name, of): &(String, LivePlace)| {
        let [cpu, cycles] = [u64::from(of.cpu), of.executed].map(|n| n.to_string());
        let [now, min, mean, max] = [of.last_ns, of.min_ns, of.mean_ns, of.max_ns].map(short);
        laid([&cpu, &one_line(name), &cycles, &now, &min, &mean, &max])
    };
    let mut lines = vec![title];
    lines.extend(places.iter().map(line));
    lines
}

/// The worst so far in one line.
pub fn worst_text(latency_ns: u64, cause: Option<(&str, u64)>, whose: &str) -> String {
    let latency = short(latency_ns.cast_signed());
    match cause {
        Some((cause, ns)) => {
            let share = rounded(ns.cast_signed());
            format!("worst so far: {latency} ({whose}), {share} of it: {cause}")
        }
        None => format!("worst so far: {latency} ({whose}), all of it the wake-up itself"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::standing::Worst;
    use super::*;
    use wakepath_measure::LiveFigures;

    fn figures(executed: u64, max_ns: i64) -> LiveFigures {
        LiveFigures {
            executed,
            missed: executed / 10,
            median_ns: 31_100,
            max_ns,
            recent_max_ns: Some(max_ns),
            ..LiveFigures::default()
        }
    }

    /// The eight policies of `check` with long names, the third under way.
    fn standing() -> Standing {
        let mut standing = Standing::new(Lines::Policies, Time::For(Duration::from_secs(60)));
        standing.what = "check, 32 segments, loop on CPU 1".into();
        let policies = [
            "OTHER nice 0",
            "OTHER nice -19",
            "RR 50",
            "DEADLINE 400 µs/4000 µs/8000 µs",
        ];
        for phase in ["idle", "everything-at-once"] {
            for policy in policies {
                let row = standing.row(policy, phase);
                standing.current = Some(row);
                for point in 0..90 {
                    standing.live(&figures(
                        1_000_000 + point,
                        50_000 << (row + point as usize / 20),
                    ));
                }
                standing.ended(row, None);
            }
        }
        standing.current = Some(2);
        standing
    }

    #[test]
    fn nothing_is_wider_than_the_terminal_and_every_policy_is_whole() {
        let standing = standing();
        for columns in [60, 72, 80, 100, 120, 200] {
            let lines = lines(&standing, Style::default(), columns, 40);
            for line in &lines {
                assert!(width(line) < columns, "{columns}: {line:?}");
            }
            let shown = lines.join("\n");
            for policy in ["OTHER nice 0", "OTHER nice -19", "RR 50"] {
                assert!(shown.contains(policy), "{columns}:\n{shown}");
            }
            if columns >= 80 {
                assert!(!shown.contains('…'), "{columns}:\n{shown}");
                assert!(shown.contains("200016, 10 %"), "{columns}:\n{shown}");
                assert!(
                    shown.contains('▁') && shown.contains('█'),
                    "{columns}:\n{shown}"
                );
            }
            if columns >= 120 {
                assert!(shown.contains("everything-at-once"), "{columns}:\n{shown}");
            }
        }
    }

    #[test]
    fn what_does_not_fit_in_height_is_counted_and_the_one_under_way_is_shown() {
        let mut standing = Standing::new(Lines::Policies, Time::Open);
        for number in 0..30 {
            let row = standing.row(&format!("FIFO {number}"), "idle");
            standing.ended(row, None);
        }
        standing.current = Some(29);
        let lines = lines(&standing, Style::default(), 80, 12);
        assert!(lines.len() <= 12, "{lines:?}");
        let shown = lines.join("\n");
        assert!(
            shown.contains("FIFO 29") && shown.contains("more"),
            "{shown}"
        );
        assert!(shown.contains("until it ends or Ctrl-C"), "{shown}");
    }

    #[test]
    fn foreign_names_take_no_line_of_their_own_and_long_words_are_broken() {
        let mut standing = standing();
        standing.notes = vec!["a\nverdict: PASSED".into(), "x".repeat(200)];
        standing.worst = Some(Worst {
            latency_ns: 1,
            text: worst_text(
                16_400_000,
                Some(("thread k\u{1b}[2J", 1_000)),
                "FIFO 50, stress",
            ),
        });
        let lines = lines(&standing, Style::default(), 80, 40);
        let shown = lines.join("\n");
        assert!(!shown.contains('\u{1b}'), "{shown}");
        assert!(
            !lines.iter().any(|line| line.starts_with("verdict")),
            "{shown}"
        );
        assert!(lines.iter().all(|line| width(line) < 80), "{shown}");
        assert!(
            shown.contains("worst so far: 16.40 ms (FIFO 50, stress)"),
            "{shown}"
        );
    }

    #[test]
    fn colour_is_for_terminals_alone() {
        let standing = standing();
        let has_colour = |colour| {
            let style = Style {
                colour,
                columns: Some(80),
            };
            lines(&standing, style, 80, 40)
                .join("\n")
                .contains('\u{1b}')
        };
        assert!(has_colour(true) && !has_colour(false));
    }
}
