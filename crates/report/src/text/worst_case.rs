//! Bounds on the largest values of a run as text: a row for each condition, the reasons for refusals and the
//! assumptions, within a screen; on demand each gate with its statistic.

use super::comparison::p_value;
use super::composed_bound;
use super::worst_of_each::{keep, rest, worst_of_each};
use crate::Style;
use crate::table::{Cell, Table, Tone, number, words};
use std::fmt::Write;
use wakepath_archive::command_about;
use wakepath_assess::{Bounded, Bounds};
use wakepath_extremes::{Answer, Gate, GateName};
use wakepath_timeline::columns::folded;
use wakepath_timeline::duration;
use wakepath_verdict::{confidence, count, upper_fraction};

/// Columns of a terminal whose width is unknown.
const COLUMNS: usize = 100;

pub(super) fn to_text(bounds: &Bounds, style: Style) -> String {
    let mut text = String::new();
    // Writing to a String can't fail.
    let _ = write_all(bounds, &mut text, style);
    text
}

/// The answer within a screen: if there are many conditions, the worst of each policy, and the first gates that
/// refuse. `run` is the run's name in a command.
pub fn in_short(bounds: &Bounds, style: Style, run: &str) -> String {
    let all = command_about("bound", run, "--all");
    let shown = worst_of_each(
        &bounds.conditions,
        |one| (one.label.clone(), one.thread.clone()),
        |one| one.examined.observed.largest,
    );
    let mut few = bounds.clone();
    keep(&mut few.conditions, &shown);
    let columns = style.columns.unwrap_or(COLUMNS);
    let mut prose = String::new();
    // Writing to a String can't fail.
    let _ = write_refusals(bounds, &mut prose, (GATES, &all), first_change);
    let _ = write_after_refusals(bounds, &mut prose);
    let mut text = String::new();
    let _ = write_head(bounds, &mut text, columns);
    text.push_str(&bounds_table(&few).to_terminal(Some(columns)));
    text + "\n" + &folded(&(rest(&shown, &all) + &prose), columns)
}

/// Gates that the short answer reports.
const GATES: usize = 3;

fn write_all(bounds: &Bounds, text: &mut String, style: Style) -> std::fmt::Result {
    let columns = style.columns.unwrap_or(COLUMNS);
    write_head(bounds, text, columns)?;
    text.push_str(&bounds_table(bounds).to_terminal(Some(columns)));
    writeln!(text)?;
    text.push_str(&folded(&said_below(bounds), columns));
    Ok(())
}

fn write_head(bounds: &Bounds, text: &mut String, columns: usize) -> std::fmt::Result {
    let mut prose = String::new();
    if let Some(line) = largest_line(bounds) {
        writeln!(prose, "{line}")?;
    }
    writeln!(
        prose,
        "{}, {} confidence:",
        asked(bounds),
        confidence(bounds.confidence)
    )?;
    text.push_str(&folded(&prose, columns));
    writeln!(text)
}

/// The bound asked for, in words.
pub(crate) fn asked(bounds: &Bounds) -> String {
    format!(
        "bound on the {}, exceeded with a probability of at most {}",
        bounds.metric.words(),
        bounds.exceed
    )
}

/// Sentences below the table, a line each: refusals, the run that would be long enough, assumptions.
pub(crate) fn said_below(bounds: &Bounds) -> String {
    let mut text = String::new();
    // Writing to a String can't fail.
    let _ = write_below(bounds, &mut text);
    text
}

fn write_below(bounds: &Bounds, prose: &mut String) -> std::fmt::Result {
    write_refusals(bounds, prose, (usize::MAX, ""), str::to_owned)?;
    write_after_refusals(bounds, prose)
}

fn write_after_refusals(bounds: &Bounds, prose: &mut String) -> std::fmt::Result {
    let is_extended = |one: &Bounded| matches!(one.examined.answer, Answer::Extended(_));
    if bounds.conditions.iter().any(is_extended) {
        writeln!(
            prose,
            "a bound of N times lies N times as far from the median as the largest value; it holds if twice \
             that distance is exceeded at most half as often, three times a third as often, and so on"
        )?;
    }
    write_needed(bounds, prose)?;
    composed_bound::write(bounds, prose)?;
    writeln!(
        prose,
        "every bound holds for this machine, kernel and load; a slow path that did not run, or ran only a few \
         times, may be slower"
    )
}

/// The largest value of all conditions with what it proves.
pub(crate) fn largest_line(bounds: &Bounds) -> Option<String> {
    let largest = bounds.largest()?;
    let observed = &largest.examined.observed;
    let exceeded = match observed.exceeded_at_most {
        Some(at_most) => format!(
            "any one cycle exceeds it with a probability of at most {}",
            upper_fraction(at_most, 1.0)
        ),
        None => "how often a cycle exceeds it is unknown".to_owned(),
    };
    Some(format!(
        "largest {}: {} of {} cycles ({}); {exceeded}",
        bounds.metric.words(),
        rounded(observed.largest as f64),
        count(observed.count),
        name(largest),
    ))
}

pub(crate) fn name(condition: &Bounded) -> String {
    match &condition.thread {
        Some(thread) => format!("{}, {}, {thread}", condition.label, condition.phase),
        None => format!("{}, {}", condition.label, condition.phase),
    }
}

fn rounded(ns: f64) -> String {
    duration::three_digits(ns.round() as i64)
}

/// A row for each condition.
pub(crate) fn bounds_table(bounds: &Bounds) -> Table {
    let mut table = Table::new("Policy")
        .class("bounds")
        .caption(
            "Largest value of each condition, the greatest probability with which any one cycle exceeds it, and \
             the bound asked for if every gate passes.",
        )
        .column(number("cycles"))
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
                Cell::time(observed.largest),
                (observed.exceeded_at_most)
                    .map(|at_most| upper_fraction(at_most, 1.0))
                    .into(),
                condition.bound_ns().map(duration::three_digits_up).into(),
                answer(condition),
            ],
        );
    }
    table
}

fn answer(condition: &Bounded) -> Cell {
    match (&condition.examined.answer, condition.is_above_limit()) {
        (Answer::Refused, _) => {
            let failed: Vec<&str> = condition
                .examined
                .failed()
                .map(|gate| gate.name.word())
                .collect();
            let more = match failed.len() {
                0 | 1 => String::new(),
                several => format!(" +{}", several - 1),
            };
            let first = failed.first().copied().unwrap_or_default();
            Cell::Toned(format!("refused: {first}{more}"), Tone::Doubtful)
        }
        (_, true) => Cell::Toned("above the criterion".into(), Tone::Bad),
        (Answer::Observed, false) => Cell::Toned("the largest".into(), Tone::Good),
        (Answer::Extended(extended), false) => {
            Cell::Toned(format!("{:.1} times", extended.times), Tone::Good)
        }
    }
}

/// The first of what changed during a run, and how much more did.
fn first_change(all: &str) -> String {
    let mut findings = all.split("; ");
    let first = findings.next().unwrap_or_default();
    match findings.count() {
        0 => first.to_owned(),
        more => format!("{first}, and {more} more"),
    }
}

/// Each gate that failed in any condition, once, as it failed in the first one, with the fix; at most `most` gates,
/// and the others by name with the command that shows all. `changes` writes what changed during the run.
fn write_refusals(
    bounds: &Bounds,
    text: &mut String,
    (most, all): (usize, &str),
    changes: impl Fn(&str) -> String,
) -> std::fmt::Result {
    let mut found: Vec<(usize, String, &Gate)> = Vec::new();
    for condition in &bounds.conditions {
        for gate in condition.examined.failed() {
            match found.iter_mut().find(|(.., known)| known.name == gate.name) {
                Some((conditions, ..)) => *conditions += 1,
                None => found.push((1, name(condition), gate)),
            }
        }
    }
    found.sort_by_cached_key(|(.., gate)| gate.name);
    let further: Vec<&str> = found
        .iter()
        .skip(most)
        .map(|(.., gate)| gate.name.word())
        .collect();
    for (conditions, first, gate) in found.iter().take(most) {
        let others = match *conditions {
            1 => String::new(),
            2 => " and 1 other".to_owned(),
            more => format!(" and {} others", more - 1),
        };
        let finding = match gate.name {
            // Its statistics are for `--details`.
            GateName::Stationarity => {
                "values drift, jump or come unevenly during the run".to_owned()
            }
            GateName::Provenance => changes(&gate.finding),
            _ => gate.finding.clone(),
        };
        write!(text, "{} refuses {first}{others}: {finding}", gate.name)?;
        match &gate.cure {
            Some(cure) => writeln!(text, "; fix: {cure}")?,
            None => writeln!(text)?,
        }
    }
    if further.is_empty() {
        Ok(())
    } else {
        writeln!(text, "also refused by: {}; see {all}", further.join(", "))
    }
}

/// Length of a run whose largest value is the bound, and cycles of an hour beyond it; once for each period.
fn write_needed(bounds: &Bounds, text: &mut String) -> std::fmt::Result {
    let mut known: Vec<u64> = Vec::new();
    for condition in &bounds.conditions {
        let period = condition.period_ns;
        if known.contains(&period) {
            continue;
        }
        known.push(period);
        let same = bounds.conditions.iter();
        let most = same
            .filter(|other| other.period_ns == period)
            .max_by_key(|other| other.cycles_needed);
        if let Some((cycles, seconds)) = most.and_then(|c| c.cycles_needed.zip(c.seconds_needed()))
        {
            write!(
                text,
                "after {} cycles of one condition ({}) the largest value itself is the bound; ",
                count(cycles),
                duration::long(seconds)
            )?;
        }
        writeln!(
            text,
            "of the {} cycles of {} in an hour, {} exceed it on average",
            count(condition.cycles_per_hour as u64),
            duration::length(period),
            average(condition.exceeding_per_hour()),
        )?;
    }
    Ok(())
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
    let mut table = Table::new("Gate")
        .class("gates")
        .caption("Gates in their order")
        .column(words("answer").leading())
        .column(words("finding"))
        .column(words("fix"));
    for gate in &condition.examined.gates {
        let answer = if gate.passed {
            Cell::Toned("passed".into(), Tone::Good)
        } else {
            Cell::Toned("failed".into(), Tone::Doubtful)
        };
        let cure = gate.cure.clone().map_or(Cell::Blank, Cell::Text);
        let finding = Cell::Text(gate.finding.clone());
        table.row(gate.name.word(), vec![answer, finding, cure]);
    }
    table
}

/// Findings beyond the gates: what fitted tails estimate, cautions.
pub(crate) fn remarks(condition: &Bounded) -> Vec<String> {
    let mut lines = Vec::new();
    let levels = condition.tails.iter().map(|tail| tail.level);
    if let Some(least) = levels.clone().reduce(f64::min) {
        let most = levels.fold(least, f64::max);
        lines.push(format!(
            "if rarer values continue the tail seen so far, the level asked for is {} to {}; no bound follows \
             from that",
            rounded(least),
            rounded(most)
        ));
    }
    let cautions = condition.examined.cautions.iter();
    lines.extend(cautions.map(|caution| format!("caution: {caution}")));
    lines
}

/// A row for each test of dependence and drift.
pub(crate) fn tests_table(condition: &Bounded) -> Table {
    let mut table = Table::new("Test")
        .class("tests")
        .caption("Dependence and drift; p after Holm's correction if a gate decides by it")
        .column(words("of the"))
        .column(number("statistic"))
        .column(number("p"))
        .column(number("effect"))
        .column(words("test"));
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
    let mut table = Table::new("Threshold")
        .class("thresholds")
        .caption(
            "Pareto tails fitted above several thresholds, with the level asked for and its 95 % end if rarer \
             values continue the tail",
        )
        .column(number("values"))
        .column(number("clusters"))
        .column(number("mean excess"))
        .column(number("ξ"))
        .column(number("σ"))
        .column(number("level"))
        .column(number("at most"));
    for tail in &condition.tails {
        table.row(
            rounded(tail.threshold),
            vec![
                Cell::Text(count(tail.exceedances)),
                Cell::Text(count(tail.clusters)),
                Cell::Text(rounded(tail.mean_excess)),
                Cell::Text(format!("{:.3}", tail.pareto.shape)),
                Cell::Text(rounded(tail.pareto.scale)),
                Cell::Text(rounded(tail.level)),
                tail.level_at_most.map(rounded).into(),
            ],
        );
    }
    table
}
