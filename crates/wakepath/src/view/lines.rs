//! How something stands as lines for a terminal of a given size. Pure; nothing in it is wider than
//! the terminal, and nothing is cut: what does not fit has a line of its own or is counted.

use super::side_by_side::SideBySide;
use super::standing::{Standing, Time};
use super::table::{Table, left, right};
use std::time::Duration;
use wakepath_measure::LivePlace;
use wakepath_report::Style;
use wakepath_timeline::columns::{cut, width, wrapped};
use wakepath_timeline::duration::{long, three_digits};
use wakepath_timeline::one_line;

/// Narrower than this nothing is laid out for.
const LEAST_COLUMNS: usize = 40;
/// Notes that are shown.
const NOTES: usize = 2;

/// The view's text, with at most `columns` columns and `most` lines.
pub fn lines(standing: &Standing, style: Style, columns: usize, most: usize) -> Vec<String> {
    // The last column stays free: a terminal that wraps at once would make two lines of one.
    let columns = columns.saturating_sub(1).max(LEAST_COLUMNS);
    let head = head(standing, style, columns);
    let foot = foot(standing, columns);
    let places = places(&standing.places, columns);
    let room = most.saturating_sub(head.len() + foot.len());
    let rows = match SideBySide::new(standing, columns) {
        Some(phases) => phases.lines(style, room),
        None => Table::new(standing, columns).lines(style, room),
    };
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

/// Below this width only the latest and the largest latency of a CPU are shown.
const ROOM_FOR_MEANS: usize = 72;

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
        let figures = if columns < ROOM_FOR_MEANS {
            vec![now, max]
        } else {
            vec![now, min, mean, max]
        };
        let figures: Vec<String> = figures.iter().map(|figure| right(figure, 10)).collect();
        let figures = figures.join(" ");
        let thread = left(&cut(thread, name), name);
        let line = format!("{} {thread} {} {figures}", right(cpu, 3), right(cycles, 9));
        cut(&line, columns)
    };
    let title = laid(["CPU", "thread", "cycles", "now", "min", "mean", "max"]);
    let line = |(name, of): &(String, LivePlace)| {
        let [cpu, cycles] = [u64::from(of.cpu), of.executed].map(|n| n.to_string());
        let [now, min, mean, max] =
            [of.last_ns, of.min_ns, of.mean_ns, of.max_ns].map(three_digits);
        laid([&cpu, &one_line(name), &cycles, &now, &min, &mean, &max])
    };
    let mut lines = vec![title];
    lines.extend(places.iter().map(line));
    lines
}

/// The worst of what was traced so far in one line.
pub fn worst_text(latency_ns: u64, cause: Option<(&str, u64)>, whose: &str) -> String {
    let latency = three_digits(latency_ns.cast_signed());
    // A twentieth is worth a name, as in an explanation.
    match cause.filter(|(_, ns)| ns.saturating_mul(20) >= latency_ns) {
        Some((cause, ns)) => {
            let share = three_digits(ns.cast_signed());
            format!("worst traced so far: {latency} ({whose}), {share} of it: {cause}")
        }
        None => {
            format!("worst traced so far: {latency} ({whose}), spent in the kernel's wake-up path")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::standing::{Lines, Row, Worst};
    use super::*;
    use wakepath_measure::LiveFigures;

    fn figures(executed: u64, max_ns: i64) -> LiveFigures {
        LiveFigures {
            executed,
            missed: Some(executed / 10),
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
                // Both phases of a policy are in its line, each with its misses.
                let line = lines.iter().find(|line| line.starts_with("RR 50")).unwrap();
                assert_eq!(line.matches("10 %").count(), 2, "{columns}:\n{shown}");
                assert!(
                    shown.contains('▁') && shown.contains('█'),
                    "{columns}:\n{shown}"
                );
            }
            if columns >= 80 {
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
            shown.contains("worst traced so far: 16.4 ms (FIFO 50, stress)"),
            "{shown}"
        );
    }

    #[test]
    fn eight_policies_with_two_phases_fit_80_by_24_and_red_is_a_miss_alone() {
        let mut standing = Standing::new(Lines::Policies, Time::Open);
        standing.what =
            "check, 32 segments, loop on CPU 1; recording to wakepath-runs/check".into();
        standing.status = "phase stress, repetition 2: cpu, memory, network".into();
        for number in 0..8 {
            for phase in ["idle", "stress"] {
                let row = standing.row(&format!("FIFO {number}"), phase);
                standing.current = Some(row);
                let mut now = figures(10_000, 80_000);
                now.missed = Some(u64::from(number == 3 && phase == "stress"));
                standing.live(&now);
                if (number, phase) == (5, "idle") {
                    standing.rows[row] = Row::new("FIFO 5".into(), phase.into());
                    standing.rows[row].problem = Some("not permitted".into());
                }
                standing.ended(row, None);
            }
        }
        let style = Style {
            colour: true,
            columns: Some(80),
        };
        let lines = lines(&standing, style, 80, 23);
        let shown = lines.join("\n");
        assert!(lines.len() <= 23 && !shown.contains("more"), "{shown}");
        let red: Vec<&String> = lines
            .iter()
            .filter(|line| line.contains("\u{1b}[31m"))
            .collect();
        assert_eq!(red.len(), 1, "{shown}");
        assert!(
            red[0].contains("FIFO 3") && red[0].contains("0.01 %"),
            "{shown}"
        );
        let yellow = lines
            .iter()
            .find(|line| line.contains("\u{1b}[33m"))
            .unwrap();
        assert!(
            yellow.contains("FIFO 5") && yellow.contains("not measured"),
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
