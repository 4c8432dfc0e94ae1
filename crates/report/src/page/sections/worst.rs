//! The latest cycles of the run, as the loop itself saw them.

use super::nothing;
use crate::label;
use crate::markup::Markup;
use crate::page::Reported;
use crate::table::{Cell, Table, number, words};
use wakepath_assess::{Picture, WorstCycle};
use wakepath_timeline::duration::three_digits;

/// So many cycles are listed.
const LISTED: usize = 20;

/// Writes the table.
pub(super) fn write(markup: &mut Markup, run: &Reported<'_>) {
    let mut worst: Vec<(&Picture, &WorstCycle)> = run
        .pictures
        .iter()
        .flat_map(|picture| picture.worst.iter().map(move |cycle| (picture, cycle)))
        .collect();
    worst.sort_by_cached_key(|(_, cycle)| std::cmp::Reverse(cycle.lateness_ns()));
    worst.truncate(LISTED);
    if worst.is_empty() {
        nothing(
            markup,
            "The recording has no single cycles, so there is no worst one.",
        );
        return;
    }
    let mut table = Table::new("Condition")
        .class("worst")
        .caption(format!(
            "The {} latest cycles, by completion time. Cycles skipped together share a row.",
            worst.len()
        ))
        .column(number("Repetition"))
        .column(number("Cycle"))
        .column(number("After segment start"))
        .column(number("Latency"))
        .column(number("Response"))
        .column(number("CPU"))
        .column(words("Kind"));
    for (picture, cycle) in worst {
        row(&mut table, picture, cycle);
    }
    table.write_html(markup, "Worst cycles");
    markup.raw("<p class=\"about paper\">On paper: the five latest.</p>");
}

fn row(table: &mut Table, picture: &Picture, cycle: &WorstCycle) {
    let place = picture.place_of(cycle.index);
    let name = format!("{}, {}", label::policy(&picture.name), picture.name.phase);
    let what = match (cycle.skipped, cycle.after_overrun) {
        (1, _) => {
            "skipped: the loop was still busy or waiting when the next one was due".to_owned()
        }
        (2.., _) => format!("{} cycles skipped together", cycle.skipped),
        (0, true) => "began late: the cycle before overran".to_owned(),
        (0, false) if beyond(cycle.latency_ns, picture.latency_limit_ns) => "woke late".to_owned(),
        (0, false) if beyond(cycle.lateness_ns(), picture.deadline_ns) => "ended late".to_owned(),
        (0, false) if picture.deadline_ns.is_some() => "within the criterion".to_owned(),
        (0, false) => String::new(),
    };
    let seconds = place.map(|(_, cycle)| cycle as f64 * picture.period_ns as f64 / 1e9);
    table.row(
        name,
        vec![
            place
                .map(|(stretch, _)| Cell::new(stretch.repetition + 1))
                .into(),
            place.map(|(_, cycle)| Cell::new(cycle)).into(),
            seconds.map(|seconds| format!("{seconds:.3} s")).into(),
            three_digits(cycle.latency_ns).into(),
            cycle.response_ns.map(three_digits).into(),
            cycle.cpu.map(Cell::new).into(),
            what.into(),
        ],
    );
}

fn beyond(value_ns: i64, limit_ns: Option<u64>) -> bool {
    limit_ns.is_some_and(|limit| u64::try_from(value_ns).is_ok_and(|value| value > limit))
}
