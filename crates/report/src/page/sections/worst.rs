//! The latest cycles of the run, as the loop itself saw them.

use super::{nothing, scrolling};
use crate::page::markup::Markup;
use crate::page::{Reported, words};
use wakepath_assess::{Picture, WorstCycle};
use wakepath_verdict::duration;

/// So many cycles are listed.
const LISTED: usize = 20;

/// Writes the table.
pub(super) fn write(markup: &mut Markup, run: &Reported<'_>) {
    let mut worst: Vec<(&Picture, &WorstCycle)> = run
        .pictures
        .iter()
        .flat_map(|picture| picture.worst.iter().map(move |cycle| (picture, cycle)))
        .collect();
    worst.sort_by_key(|(_, cycle)| std::cmp::Reverse(cycle.lateness_ns()));
    worst.truncate(LISTED);
    if worst.is_empty() {
        nothing(
            markup,
            "No cycle is known by itself, so there is no worst one.",
        );
        return;
    }
    let mut table = Markup::default();
    table.open("table", &[]);
    table.element(
        "caption",
        &[],
        format!(
            "The {} latest of all due times: by when the loop was done with them. Due times \
             skipped together are one row.",
            worst.len()
        ),
    );
    table.raw(
        "<thead><tr><th scope=\"col\">Condition</th><th scope=\"col\" class=\"number\">Repetition</th>\
         <th scope=\"col\" class=\"number\">Cycle</th>\
         <th scope=\"col\" class=\"number\">After segment start</th>\
         <th scope=\"col\" class=\"number\">Latency</th>\
         <th scope=\"col\" class=\"number\">Response</th><th scope=\"col\" class=\"number\">CPU</th>\
         <th scope=\"col\">What</th></tr></thead><tbody>",
    );
    for (picture, cycle) in worst {
        row(&mut table, picture, cycle);
    }
    table.raw("</tbody></table>");
    scrolling(markup, "Worst cycles", &table);
}

fn row(table: &mut Markup, picture: &Picture, cycle: &WorstCycle) {
    let place = picture.place_of(cycle.index);
    let name = format!("{}, {}", words::policy(&picture.name), picture.name.phase);
    let what = match (cycle.skipped, cycle.after_overrun) {
        (1, _) => "skipped: the loop was still away when the next one was due".to_owned(),
        (2.., _) => format!("{} due times skipped together", cycle.skipped),
        (0, true) => "begun late: the cycle before it had overrun".to_owned(),
        (0, false) if beyond(cycle.latency_ns, picture.latency_limit_ns) => "woke late".to_owned(),
        (0, false) if beyond(cycle.lateness_ns(), Some(picture.deadline_ns)) => {
            "ended late".to_owned()
        }
        (0, false) => "within the criterion".to_owned(),
    };
    let seconds = place.map(|(_, cycle)| cycle as f64 * picture.period_ns as f64 / 1e9);
    let cells = [
        place.map_or("–".into(), |(stretch, _)| {
            (stretch.repetition + 1).to_string()
        }),
        place.map_or("–".into(), |(_, cycle)| cycle.to_string()),
        seconds.map_or("–".into(), |seconds| format!("{seconds:.3} s")),
        duration(cycle.latency_ns),
        cycle.response_ns.map_or("–".into(), duration),
        cycle.cpu.map_or("–".into(), |cpu| cpu.to_string()),
    ];
    table.raw("<tr>");
    table.element("th", &[("scope", &"row")], name);
    for cell in cells {
        table.element("td", &[("class", &"number")], cell);
    }
    table.element("td", &[], what);
    table.raw("</tr>");
}

fn beyond(value_ns: i64, limit_ns: Option<u64>) -> bool {
    limit_ns.is_some_and(|limit| u64::try_from(value_ns).is_ok_and(|value| value > limit))
}
