//! Causes ranked, and the worst cycles, of a traced run.

use super::{figures, interference, nothing, stacks, worst};
use crate::explained::{late, title};
use crate::figure::cause_colour::of_kind;
use crate::markup::Markup;
use crate::page::Reported;
use crate::table::{Cell, Table, number, words};
use crate::text::module_tables;
use wakepath_explain::{AlikeFigures, ConditionExplanation, Explanation};
use wakepath_timeline::duration::three_digits;
use wakepath_verdict::{count, counted, fraction};

/// Causes listed for each condition.
const LISTED: usize = 6;

/// Writes causes and worst cycles.
pub(super) fn write(markup: &mut Markup, _: usize, run: &Reported<'_>) {
    match run.explanation {
        Some(explanation) => explained(markup, run, explanation),
        None => nothing(
            markup,
            "Causes: not traced. The recording shows which cycles were late and by how much, but not \
             why: it has no kernel events. Measure again with `--trace`, or `trace = true` in the \
             scenario.",
        ),
    }
    if !run.figures.windows.is_empty() {
        markup.element("h3", &[], "Latencies, instruction by instruction");
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
    let mut table = Table::new("Condition and cycle")
        .caption(
            "Cycles with the longest execution: their sections, and what ran instead of the loop",
        )
        .column(number("Took"))
        .column(number("Section took"))
        .column(words("Section"));
    for (condition, cycle) in longest {
        let time = |ns: u64| three_digits(i64::try_from(ns).unwrap_or(i64::MAX));
        for (at, section) in cycle.sections.iter().enumerate() {
            let name = format!(
                "{}, {}: segment {} cycle {}",
                condition.condition, condition.phase, cycle.segment, cycle.cycle
            );
            let took = (at == 0).then(|| three_digits(cycle.execution_ns));
            table.row(
                if at == 0 { name } else { String::new() },
                vec![
                    took.into(),
                    three_digits(i64::try_from(section.ns).unwrap_or(i64::MAX)).into(),
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
            "the kernel lost {}, so the cycles around them are unexplained",
            count(*lost)
        ),
    };
    let events = counted(*events, "kernel event", "kernel events");
    markup.element("p", &[], format!("From {events}; {lost}."));
    if run.manifest.segments.iter().any(|segment| segment.traced) {
        markup.raw(
            "<p>The events come from the run's traced segments; the verdict rests on the untraced ones.</p>",
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
    let mut table = Table::new("Condition and cause")
        .class("causes")
        .caption(
            "Causes of late cycles, by total time. Causes that one fix cures are one; those \
             under 1 % share a row.",
        )
        .column(number("Late cycles"))
        .column(number("Share of their latency"))
        .column(number("Worst in one cycle"))
        .column(words("Fix"));
    for condition in late {
        rows(&mut table, &title(explanation, condition), condition);
    }
    table.write_html(markup, "Causes");
    markup.raw("<p class=\"about paper\">On paper: the largest cause of each condition.</p>");
    stacks::write(markup, explanation);
    figures::pairs(
        markup,
        &run.figures.worst,
        "The recording kept no late cycle with its pieces.",
    );
    if !run.figures.timelines.is_empty() {
        figures::pairs(markup, &run.figures.timelines, "");
    }
}

fn rows(table: &mut Table, title: &str, condition: &ConditionExplanation) {
    let share = |ns: u64| fraction(ns as f64 / condition.late_ns.max(1) as f64);
    table.heading(format!(
        "{title}: {}; {} of the time they lost is explained",
        late(condition),
        share(condition.late_explained_ns),
    ));
    // A hundredth of the latency explains nothing.
    let is_listed = |alike: &&AlikeFigures| alike.late_ns.saturating_mul(100) >= condition.late_ns;
    let listed = condition.alike.iter().filter(is_listed).take(LISTED);
    let mut rest_ns = condition.late_explained_ns;
    let mut fix_above = "";
    for alike in listed {
        let fix = alike.remedy.as_deref().unwrap_or("");
        let is_repeated = !fix.is_empty() && fix == fix_above;
        fix_above = fix;
        rest_ns = rest_ns.saturating_sub(alike.late_ns);
        let least = if alike.are_least() { "≥ " } else { "" };
        let worst = three_digits(alike.late_worst_ns.cast_signed());
        table.row(
            Cell::Cause(alike.name(), of_kind(&alike.kind)),
            vec![
                format!("{least}{}", alike.late_cycles).into(),
                share(alike.late_ns).into(),
                format!("{least}{worst}").into(),
                if is_repeated { "as above" } else { fix }.into(),
            ],
        );
    }
    if rest_ns.saturating_mul(1000) >= condition.late_ns && rest_ns > 0 {
        let cells = vec![Cell::Blank, share(rest_ns).into(), Cell::Blank, Cell::Blank];
        table.row(Cell::Cause("smaller causes".into(), "plain"), cells);
    }
}
