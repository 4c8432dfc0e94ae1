//! What a run proves about its worst case, as text: a row for each condition, why there is no bound
//! where there is none, and what every bound takes for granted; on demand each gate with its
//! statistic.

use super::comparison::p_value;
use super::composed_bound;
use crate::Style;
use crate::table::{Cell, Table, Tone, number, words};
use std::fmt::Write;
use wakepath_assess::{Bounded, Bounds};
use wakepath_extremes::{Answer, Gate, GateName};
use wakepath_timeline::columns::folded;
use wakepath_timeline::duration;
use wakepath_verdict::{count, fraction, upper_fraction};

/// Lines of a terminal are broken here where its width is not known.
const COLUMNS: usize = 100;

pub(super) fn to_text(bounds: &Bounds, style: Style) -> String {
    let mut text = String::new();
    // Writing to a String can't fail.
    let _ = write_all(bounds, &mut text, style);
    text
}

fn write_all(bounds: &Bounds, text: &mut String, style: Style) -> std::fmt::Result {
    let columns = style.columns.unwrap_or(COLUMNS);
    let mut prose = String::new();
    if let Some(line) = largest_line(bounds) {
        writeln!(prose, "{line}")?;
    }
    writeln!(
        prose,
        "bound on the {} that is exceeded with a probability of {}, {} confidence:",
        bounds.metric.words(),
        bounds.exceed,
        fraction(bounds.confidence)
    )?;
    text.push_str(&folded(&prose, columns));
    writeln!(text)?;
    text.push_str(&bounds_table(bounds).to_terminal(Some(columns)));
    writeln!(text)?;
    text.push_str(&folded(&said_below(bounds), columns));
    Ok(())
}

/// What stands below the table: why there is no bound where there is none, how long a run needs no
/// theory, and what every bound takes for granted. A sentence a line.
pub(crate) fn said_below(bounds: &Bounds) -> String {
    let mut text = String::new();
    // Writing to a String can't fail.
    let _ = write_below(bounds, &mut text);
    text
}

fn write_below(bounds: &Bounds, prose: &mut String) -> std::fmt::Result {
    write_refusals(bounds, prose)?;
    write_needed(bounds, prose)?;
    composed_bound::write(bounds, prose)?;
    writeln!(
        prose,
        "extreme value theory knows only what ran: what never happened in the run is in no bound"
    )
}

/// The largest value of all conditions with what it proves.
pub(crate) fn largest_line(bounds: &Bounds) -> Option<String> {
    let largest = bounds.largest()?;
    let observed = &largest.examined.observed;
    Some(format!(
        "largest {}: {} of {} cycles ({}); a further cycle exceeds it with a probability of at most \
         {}, counting cycles that come together as one (θ = {:.2})",
        bounds.metric.words(),
        rounded(observed.largest as f64),
        count(observed.count),
        name(largest),
        upper_fraction(observed.exceeded_at_most, 1.0),
        observed.extremal_index
    ))
}

pub(crate) fn name(condition: &Bounded) -> String {
    match &condition.thread {
        Some(thread) => format!("{}, {}, {thread}", condition.label, condition.phase),
        None => format!("{}, {}", condition.label, condition.phase),
    }
}

fn rounded(ns: f64) -> String {
    duration::rounded(ns as i64)
}

/// A row for each condition.
pub(crate) fn bounds_table(bounds: &Bounds) -> Table {
    let mut table = Table::of("Policy")
        .class("bounds")
        .caption(
            "The largest value of each condition, how likely at most the next cycle is to exceed it, and, where \
             every gate passes, the bound that was asked for. θ is the extremal index: the share of the \
             cycles that counts as independent.",
        )
        .column(number("cycles"))
        .column(number("θ"))
        .column(number("largest"))
        .column(number("exceeded ≤"))
        .column(number("bound"))
        .column(words("answer").leading());
    let mut phase = None;
    for condition in &bounds.conditions {
        if phase != Some(&condition.phase) {
            phase = Some(&condition.phase);
            table.heading(condition.phase.clone());
        }
        let observed = &condition.examined.observed;
        let label = match &condition.thread {
            Some(thread) => format!("{}, {thread}", condition.label),
            None => condition.label.clone(),
        };
        table.row(
            label,
            vec![
                Cell::Text(count(observed.count)),
                Cell::Text(format!("{:.2}", observed.extremal_index)),
                Cell::Text(duration::thousandths(observed.largest)),
                Cell::Text(upper_fraction(observed.exceeded_at_most, 1.0)),
                condition
                    .bound_ns()
                    .map(|ns| duration::thousandths(ns as i64))
                    .into(),
                answer(condition),
            ],
        );
    }
    table
}

fn answer(condition: &Bounded) -> Cell {
    let failed: Vec<&str> = condition
        .examined
        .failed()
        .map(|gate| gate.name.word())
        .collect();
    match (&condition.examined.answer, condition.is_above_limit()) {
        (Answer::Refused, _) => {
            Cell::Toned(format!("refused: {}", failed.join(", ")), Tone::Doubtful)
        }
        (_, true) => Cell::Toned("above the criterion".into(), Tone::Bad),
        (Answer::Observed, false) => Cell::Toned("by the largest alone".into(), Tone::Good),
        (Answer::Estimated(_), false) => Cell::Toned("every gate passed".into(), Tone::Good),
    }
}

/// Each gate that failed somewhere, once: the first condition that it failed in, with the cure.
fn write_refusals(bounds: &Bounds, text: &mut String) -> std::fmt::Result {
    let mut told: Vec<(GateName, usize, String, &Gate)> = Vec::new();
    for condition in &bounds.conditions {
        for gate in condition.examined.failed() {
            match told.iter_mut().find(|(known, ..)| *known == gate.name) {
                Some((_, conditions, ..)) => *conditions += 1,
                None => told.push((gate.name, 1, name(condition), gate)),
            }
        }
    }
    told.sort_by_key(|(name, ..)| *name);
    for (gate_name, conditions, first, gate) in told {
        let others = match conditions {
            1 => String::new(),
            2 => " and 1 other".to_owned(),
            more => format!(" and {} others", more - 1),
        };
        write!(
            text,
            "{gate_name} refuses {first}{others}: {}",
            gate.finding
        )?;
        match &gate.cure {
            Some(cure) => writeln!(text, "; remedy: {cure}")?,
            None => writeln!(text)?,
        }
    }
    Ok(())
}

/// How long a run needs no theory, and what a probability for each cycle is in an hour; once for
/// each period.
fn write_needed(bounds: &Bounds, text: &mut String) -> std::fmt::Result {
    let mut told: Vec<u64> = Vec::new();
    for condition in &bounds.conditions {
        if told.contains(&condition.period_ns) {
            continue;
        }
        told.push(condition.period_ns);
        let period = condition.period_ns;
        let most = bounds
            .conditions
            .iter()
            .filter(|other| other.period_ns == period)
            .max_by_key(|other| other.cycles_needed);
        if let Some((cycles, seconds)) = most.and_then(|c| c.cycles_needed.zip(c.seconds_needed()))
        {
            writeln!(
                text,
                "without theory: measure {} cycles of one condition ({}), and the largest of them is that \
                 bound",
                count(cycles),
                duration::long(seconds)
            )?;
        }
        let hour = condition.cycles_per_hour;
        writeln!(
            text,
            "{} per cycle adds up: an hour has {} cycles of {}, of which {} exceed the bound on average \
             (at least one in {} of all hours). That is no failure rate: a late cycle is not a lost \
             vehicle",
            probability(condition.exceed_per_cycle),
            count(hour as u64),
            duration::length(period),
            average(hour * condition.exceed_per_cycle),
            fraction(condition.exceed_per_hour()),
        )?;
    }
    Ok(())
}

fn probability(value: f64) -> String {
    let text = format!("{value:.2e}");
    text.replace(".00e", "e")
}

fn average(value: f64) -> String {
    match value {
        100.0.. => count(value as u64),
        0.01.. => format!("{value:.2}"),
        _ => format!("{value:.1e}"),
    }
}

/// Every gate with its statistic, every test and every threshold, condition by condition.
pub fn details(bounds: &Bounds, style: Style) -> String {
    let columns = style.columns.unwrap_or(COLUMNS);
    let mut text = String::new();
    for condition in &bounds.conditions {
        text += &format!("\n{}\n\n", style.bold(&name(condition)));
        let gates = condition.examined.gates.iter().map(|gate| {
            let state = if gate.passed { "passed" } else { "FAILED" };
            format!("{state} {}: {}\n", gate.name, gate.finding)
        });
        text += &folded(&gates.collect::<String>(), columns);
        for table in [tests_table(condition), tails_table(condition)] {
            if !table.is_empty() {
                text += "\n";
                text += &table.to_terminal(Some(columns));
            }
        }
        let remarks = remarks(condition);
        if !remarks.is_empty() {
            text += "\n";
            text += &folded(&remarks.join("\n"), columns);
        }
    }
    text
}

/// A row for each gate.
pub(crate) fn gates_table(condition: &Bounded) -> Table {
    let mut table = Table::of("Gate")
        .class("gates")
        .caption("The gates in their order, up to the one after which nothing more was looked at")
        .column(words("answer").leading())
        .column(words("finding"))
        .column(words("remedy"));
    for gate in &condition.examined.gates {
        let answer = match gate.passed {
            true => Cell::Toned("passed".into(), Tone::Good),
            false => Cell::Toned("failed".into(), Tone::Doubtful),
        };
        let cure = gate.cure.clone().map_or(Cell::Blank, Cell::Text);
        let finding = Cell::Text(gate.finding.clone());
        table.row(gate.name.word(), vec![answer, finding, cure]);
    }
    table
}

/// What was found beyond the gates: the tail's class, the estimate's range, cautions.
pub(crate) fn remarks(condition: &Bounded) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some((statistic, p_value, _)) = condition.examined.class {
        let class = match (p_value < 0.05, statistic < 0.0) {
            (false, _) => "an exponential tail is not ruled out, and not assumed",
            (true, true) => "lighter than exponential",
            (true, false) => "heavier than exponential",
        };
        let p_value = match p_value < 0.005 {
            true => "p < 0.005".to_owned(),
            false => format!("p = {p_value:.2}"),
        };
        lines.push(format!(
            "tail class at the lowest threshold: √n (CV − 1) = {statistic:.2}, {p_value}: {class}"
        ));
    }
    if let Answer::Estimated(estimate) = &condition.examined.answer {
        lines.push(format!(
            "the level itself is estimated at {}; its bounds over all thresholds from the one chosen \
             up: {} to {}; by largest values of blocks: {}; signed root {:.2}",
            rounded(estimate.level),
            rounded(estimate.over_thresholds.0),
            rounded(estimate.over_thresholds.1),
            rounded(estimate.by_blocks),
            estimate.root
        ));
    }
    let cautions = condition.examined.cautions.iter();
    lines.extend(cautions.map(|caution| format!("caution: {caution}")));
    lines
}

/// A row for each test of dependence and drift.
pub(crate) fn tests_table(condition: &Bounded) -> Table {
    let mut table = Table::of("Test")
        .class("tests")
        .caption("Dependence and drift; p after Holm's correction where a gate decides by it")
        .column(words("of the"))
        .column(number("statistic"))
        .column(number("p"))
        .column(number("effect"))
        .column(words("of what"));
    for test in &condition.examined.tests {
        table.row(
            test.name,
            vec![
                test.of.into(),
                Cell::Text(format!("{:.4}", test.statistic)),
                Cell::Text(p_value(test.p_value)),
                Cell::Text(format!("{:.3}", test.effect)),
                test.effect_of.into(),
            ],
        );
    }
    table
}

/// A row for each threshold that was tried.
pub(crate) fn tails_table(condition: &Bounded) -> Table {
    let mut table = Table::of("Threshold")
        .class("thresholds")
        .caption("The tail above each threshold; ξ by likelihood and by L-moments")
        .column(number("values"))
        .column(number("clusters"))
        .column(number("mean excess"))
        .column(number("ξ"))
        .column(number("σ"))
        .column(number("ξ, L-moments"))
        .column(number("A²"))
        .column(number("p"));
    for tail in &condition.examined.tails {
        let (distance, p_value) = tail.anderson_darling;
        let by_moments = tail.by_moments.map(|tail| format!("{:.3}", tail.shape));
        table.row(
            rounded(tail.threshold),
            vec![
                Cell::Text(count(tail.exceedances)),
                Cell::Text(count(tail.clusters)),
                Cell::Text(rounded(tail.mean_excess)),
                Cell::Text(format!("{:.3}", tail.pareto.shape)),
                Cell::Text(rounded(tail.pareto.scale)),
                by_moments.into(),
                Cell::Text(format!("{distance:.3}")),
                p_value.map(|p| format!("{p:.3}")).into(),
            ],
        );
    }
    table
}
