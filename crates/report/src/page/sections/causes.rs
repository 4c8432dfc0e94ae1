//! Causes ranked, and the worst cycles with their timelines, where the run was traced.

use super::{figures, interference, nothing, scrolling, worst};
use crate::page::Reported;
use crate::page::markup::Markup;
use wakepath_explain::{CauseFigures, ConditionExplanation, Explanation};
use wakepath_verdict::{duration, fraction};

/// So many causes of each condition are listed.
const LISTED: usize = 6;

/// Writes causes and worst cycles.
pub(super) fn write(markup: &mut Markup, _: usize, run: &Reported<'_>) {
    match run.explanation {
        Some(explanation) => explained(markup, run, explanation),
        None => nothing(
            markup,
            "Causes: not traced. The recording holds the loop's own instants and no kernel events: \
             it says which cycles were late and by how much, not what ran instead. To learn the \
             causes, measure again with `--trace`, or `trace = true` in the scenario.",
        ),
    }
    if !run.figures.windows.is_empty() {
        markup.element(
            "h3",
            &[],
            "What the latencies consist of, instruction by instruction",
        );
        figures::pairs(markup, &run.figures.windows, "");
    }
    worst::write(markup, run);
    interference::write(markup, run);
}

fn explained(markup: &mut Markup, run: &Reported<'_>, explanation: &Explanation) {
    let Explanation {
        events,
        events_lost,
        ..
    } = explanation;
    let lost = match events_lost {
        0 => "none was lost".to_owned(),
        lost => format!("the kernel lost {lost}, and what they touch is unexplained"),
    };
    markup.element("p", &[], format!("From {events} kernel events; {lost}."));
    if run.manifest.segments.iter().any(|segment| segment.traced) {
        markup.raw(
            "<p>The events are of the run's traced segments; what is judged was measured beside \
             them, without tracing.</p>",
        );
    }
    let late: Vec<&ConditionExplanation> = explanation
        .conditions
        .iter()
        .filter(|condition| condition.late > 0)
        .collect();
    if late.is_empty() {
        nothing(
            markup,
            "No cycle with events was late, so there is no cause to rank.",
        );
        return;
    }
    let mut table = Markup::default();
    table.raw(
        "<table class=\"causes\"><caption>What the late cycles waited for, by the time that it took of them. A cycle \
         is late above its condition's threshold.</caption><thead><tr>\
         <th scope=\"col\">Condition and cause</th><th scope=\"col\" class=\"number\">Late cycles</th>\
         <th scope=\"col\" class=\"number\">Share of their latency</th>\
         <th scope=\"col\" class=\"number\">Worst in one cycle</th>\
         <th scope=\"col\">What can be done</th></tr></thead>",
    );
    for condition in late {
        rows(&mut table, condition);
    }
    table.raw("</table>");
    scrolling(markup, "Causes", &table);
    figures::pairs(
        markup,
        &run.figures.timelines,
        "No late cycle is kept with its pieces.",
    );
}

fn rows(table: &mut Markup, condition: &ConditionExplanation) {
    let share = |ns: u64| fraction(ns as f64 / condition.late_ns.max(1) as f64);
    table.raw("<tbody><tr class=\"phase\">");
    let head = format!(
        "{}, {}, {}: {} late of {} cycles (above {}, {}); {} of their latency is explained",
        condition.condition,
        condition.phase,
        condition.thread,
        condition.late,
        condition.cycles,
        duration(i64::try_from(condition.threshold_ns).unwrap_or(i64::MAX)),
        condition.threshold_from,
        share(condition.late_explained_ns),
    );
    table.element("th", &[("scope", &"rowgroup"), ("colspan", &5)], head);
    table.raw("</tr>");
    let of_late = |cause: &&CauseFigures| cause.late_ns > 0;
    for cause in condition.causes.iter().filter(of_late).take(LISTED) {
        table.raw("<tr>");
        table.element("th", &[("scope", &"row")], &cause.cause);
        let number = [("class", &"number" as &dyn std::fmt::Display)];
        table.element("td", &number, cause.late_cycles);
        table.element("td", &number, share(cause.late_ns));
        let worst = duration(i64::try_from(cause.worst_ns).unwrap_or(i64::MAX));
        table.element(
            "td",
            &number,
            format!("{worst} (cycle {})", cause.worst_cycle),
        );
        table.element("td", &[], cause.remedy.as_deref().unwrap_or(""));
        table.raw("</tr>");
    }
    table.raw("</tbody>");
}
