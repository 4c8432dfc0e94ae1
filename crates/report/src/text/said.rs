//! Log lines of a run's loops, and the clocks that drove them, as text.

use crate::Style;
use crate::table::{Cell, Table, number};
use std::fmt::Write;
use wakepath_assess::{BusClock, Said, SaidLine};
use wakepath_timeline::number::three_digits;
use wakepath_timeline::{duration, one_line};
use wakepath_verdict::counted;

/// Each with an empty line after it; nothing if there are no lines.
pub(crate) fn to_text(said: &[Said], clocks: &[BusClock], style: Style) -> String {
    let mut text = String::new();
    if !clocks.is_empty() {
        text += &format!("{}\n", clocks_table(clocks).to_terminal(style.columns));
    }
    for of in said {
        if !of.values.is_empty() {
            text += &format!("{}\n", values(of).to_terminal(style.columns));
        }
        if of.lines > 0 {
            lines(&mut text, of);
        }
    }
    text
}

fn clocks_table(clocks: &[BusClock]) -> Table {
    let mut table = Table::new("Clock of")
        .column(number("segment"))
        .column(number("cycles"))
        .column(number("period"))
        .column(number("drift").unit("ppm"))
        .column(number("phase from"))
        .column(number("to"));
    for of in clocks {
        table.row(
            of.thread.clone(),
            vec![
                of.segment.to_string().into(),
                of.cycles.to_string().into(),
                duration::rounded(of.period_ns.round() as i64).into(),
                format!("{:+.2}", of.drift_ppm).into(),
                Cell::mean_time(of.phase_ns.0),
                Cell::mean_time(of.phase_ns.1),
            ],
        );
    }
    table
}

fn values(of: &Said) -> Table {
    let mut table = Table::new("Value")
        .column(number("count"))
        .column(number("min"))
        .column(number("mean"))
        .column(number("p50"))
        .column(number("p99"))
        .column(number("max"));
    let is_limited = of.values.iter().any(|value| value.limit.is_some());
    if is_limited {
        table = table.column(number("above limit").unit("%"));
    }
    table.heading(one_line(&of.thread));
    for value in &of.values {
        let shown = |number: f64| match number.abs() {
            size if size != 0.0 && !(1e-3..1e7).contains(&size) => format!("{number:.4e}"),
            _ => format!("{number:.4}"),
        };
        let quantile = |of: Option<f64>| of.map_or("–".to_owned(), shown);
        let mut cells = vec![
            value.count.to_string().into(),
            shown(value.min).into(),
            shown(value.mean).into(),
            quantile(value.p50).into(),
            quantile(value.p99).into(),
            shown(value.max).into(),
        ];
        if is_limited {
            let share = value.missed_share();
            let share = share.map_or("–".to_owned(), |share| three_digits(share * 100.0));
            cells.push(share.into());
        }
        table.row(value.name.clone(), cells);
    }
    table
}

fn lines(text: &mut String, of: &Said) {
    let _ = writeln!(
        text,
        "{} said {}, all in loop-log.jsonl:",
        one_line(&of.thread),
        counted(of.lines, "line", "lines")
    );
    let mut one = |line: &SaidLine| {
        let _ = writeln!(
            text,
            "  segment {} cycle {}: {}",
            line.segment,
            line.cycle,
            one_line(&line.text)
        );
    };
    of.first.iter().chain(&of.last).for_each(&mut one);
    let shown = of.first.len() + of.last.len();
    let between = of.lines.saturating_sub(shown as u64);
    if between > 0 {
        let _ = writeln!(
            text,
            "  and {between} more, between the first {} and the last",
            of.first.len()
        );
    }
    text.push('\n');
}
