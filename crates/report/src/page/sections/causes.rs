//! Causes ranked, and the worst cycles with their timelines, where the run was traced.

use super::{figures, interference, nothing, worst};
use crate::markup::Markup;
use crate::page::Reported;
use crate::table::{Cell, Table, number, words};
use crate::text::module_tables;
use wakepath_explain::{CauseFigures, ConditionExplanation, Explanation};
use wakepath_timeline::duration::thousandths;
use wakepath_verdict::{count, counted, duration, fraction};

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
    sections(markup, run);
    interference::write(markup, run);
}

/// The parts that the loop timed itself, and in its longest cycles what ran in them.
fn sections(markup: &mut Markup, run: &Reported<'_>) {
    let tables = module_tables(&run.assessment.modules);
    if !tables.is_empty() {
        markup.raw("<h3>Parts that timed themselves</h3>");
    }
    for table in tables {
        table.write_html(markup, "Parts that timed themselves");
    }
    let conditions = run.explanation.iter().flat_map(|of| &of.conditions);
    let longest = conditions.flat_map(|of| of.longest.iter().map(move |cycle| (of, cycle)));
    let longest: Vec<_> = longest
        .filter(|(_, cycle)| !cycle.sections.is_empty())
        .collect();
    if longest.is_empty() {
        return;
    }
    let mut table = Table::of("Condition and cycle")
        .caption("The cycles that took longest by themselves: their sections, and what ran in them instead.")
        .column(number("Took"))
        .column(number("Section took"))
        .column(words("Section"));
    for (condition, cycle) in longest {
        let time = |ns: u64| duration(i64::try_from(ns).unwrap_or(i64::MAX));
        for (at, section) in cycle.sections.iter().enumerate() {
            let name = format!(
                "{}, {}: segment {} cycle {}",
                condition.condition, condition.phase, cycle.segment, cycle.cycle
            );
            let took = (at == 0).then(|| thousandths(cycle.execution_ns));
            table.row(
                if at == 0 { name } else { String::new() },
                vec![
                    took.into(),
                    thousandths(i64::try_from(section.ns).unwrap_or(i64::MAX)).into(),
                    section.why(time).into(),
                ],
            );
        }
    }
    table.write_html(markup, "Sections of the longest cycles");
}

fn explained(markup: &mut Markup, run: &Reported<'_>, explanation: &Explanation) {
    let Explanation {
        events,
        events_lost,
        ..
    } = explanation;
    let lost = match events_lost {
        0 => "none was lost".to_owned(),
        lost => format!(
            "the kernel lost {}, and what that touches is unexplained",
            count(*lost)
        ),
    };
    let events = counted(*events, "kernel event", "kernel events");
    markup.element("p", &[], format!("From {events}; {lost}."));
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
    let mut table = Table::of("Condition and cause")
        .class("causes")
        .caption(
            "What the late cycles waited for, by the time that it took of them. A cycle is late \
             above its condition's threshold.",
        )
        .column(number("Late cycles"))
        .column(number("Share of their latency"))
        .column(number("Worst in one cycle"))
        .column(words("Fix"));
    for condition in late {
        rows(&mut table, condition);
    }
    table.write_html(markup, "Causes");
    figures::pairs(
        markup,
        &run.figures.timelines,
        "No late cycle is kept with its pieces.",
    );
}

fn rows(table: &mut Table, condition: &ConditionExplanation) {
    let share = |ns: u64| fraction(ns as f64 / condition.late_ns.max(1) as f64);
    let time = |ns: u64| duration(i64::try_from(ns).unwrap_or(i64::MAX));
    table.heading(format!(
        "{}, {}, {}: {} late of {} cycles (above {}, {}); {} of their latency is explained",
        condition.condition,
        condition.phase,
        condition.thread,
        condition.late,
        condition.cycles,
        time(condition.threshold_ns),
        condition.threshold_from,
        share(condition.late_explained_ns),
    ));
    let of_late = |cause: &&CauseFigures| cause.late_ns > 0;
    for cause in condition.causes.iter().filter(of_late).take(LISTED) {
        let worst = format!("{} (cycle {})", time(cause.worst_ns), cause.worst_cycle);
        table.row(
            cause.cause.as_str(),
            vec![
                Cell::of(cause.late_cycles),
                share(cause.late_ns).into(),
                worst.into(),
                cause.remedy.as_deref().unwrap_or("").into(),
            ],
        );
    }
}
