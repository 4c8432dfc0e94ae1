//! What a run proves about its worst case, as text: a row for each condition, why there is no bound
//! where there is none, and what every bound takes for granted; on demand each gate with its
//! statistic.

use super::comparison::p_value;
use crate::Style;
use crate::table::{Cell, Table, Tone, number, words};
use std::fmt::Write;
use wakepath_archive::SectionsEffect;
use wakepath_assess::{BoundMetric, Bounded, Bounds, Composed, RecordedSections};
use wakepath_extremes::{Answer, Gate, GateName};
use wakepath_timeline::columns::folded;
use wakepath_timeline::{duration, one_line};
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
    match &bounds.composed {
        Some(composed) => write_composed(composed, prose)?,
        None if !bounds.recorded.is_empty() => {
            for recorded in &bounds.recorded {
                write_recorded(recorded, prose)?;
            }
            write_refused(&bounds.recorded, prose)?;
        }
        // Sections bound latencies alone.
        None if bounds.metric != BoundMetric::Latency => {}
        None => writeln!(
            prose,
            "bound composed of sections of kernel code: refused, because this run did not record them; remedy: \
             measure with trace = {{ sections = \"2 s\" }} on a kernel built with \
             CONFIG_PREEMPTIRQ_TRACEPOINTS; or `wakepath lab sections` finds them in virtual time; or give \
             the longest with --sections FILE"
        )?,
    }
    writeln!(
        prose,
        "extreme value theory knows only what ran: what never happened in the run is in no bound"
    )
}

/// What a phase's own sections compose, and how far it is the recording's own.
fn write_recorded(recorded: &RecordedSections, text: &mut String) -> std::fmt::Result {
    let Some(composed) = &recorded.composed else {
        return Ok(());
    };
    write_composed(composed, text)?;
    if recorded.effect.with.samples > 0 {
        writeln!(
            text,
            "{}",
            effect_line(recorded.observed_ns, &recorded.effect)
        )?;
    }
    if recorded.lost > 0 {
        writeln!(
            text,
            "{} events were lost: a section across them is in no figure",
            count(recorded.lost)
        )?;
    }
    Ok(())
}

/// Each reason once, with the places that it is of.
fn write_refused(all: &[RecordedSections], text: &mut String) -> std::fmt::Result {
    let mut told: Vec<(&str, Vec<String>)> = Vec::new();
    for one in all {
        let Some(why) = &one.refused else { continue };
        let place = format!("{}, CPU {}", one_line(&one.phase), one.cpu);
        match told.iter_mut().find(|(known, _)| known == why) {
            Some((_, places)) => places.push(place),
            None => told.push((why, vec![place])),
        }
    }
    for (why, places) in told {
        writeln!(
            text,
            "bound composed of sections of kernel code ({}): refused: {}",
            places.join("; "),
            one_line(why)
        )?;
    }
    Ok(())
}

/// What recording sections does to wake-ups.
fn effect_line(observed_ns: u64, effect: &SectionsEffect) -> String {
    let times = |with: i64, without: i64| match without {
        1.. => format!(" ({:.1} times)", with as f64 / without as f64),
        _ => String::new(),
    };
    let of = |with: i64, without: i64| {
        format!(
            "{} instead of {}{}",
            duration::rounded(with),
            duration::rounded(without),
            times(with, without)
        )
    };
    let (with, without) = (&effect.with, &effect.without);
    format!(
        "probe effect: while these events were recorded ({}), a thread of FIFO 95 woke after {} in the median, \
         after {} at most; the sections hold the recording too, and so does the bound",
        duration::rounded(observed_ns as i64),
        of(with.median_ns, without.median_ns),
        of(with.largest_ns, without.largest_ns)
    )
}

fn write_composed(composed: &Composed, text: &mut String) -> std::fmt::Result {
    let parts = composed.made_of.iter();
    let parts: Vec<String> = parts
        .map(|(what, ns)| format!("{} ({})", duration::exact(*ns), one_line(what)))
        .collect();
    writeln!(
        text,
        "bound composed of sections of kernel code ({}): {} = {}; for the thread of the highest \
         priority on its CPU, and for sections no longer than these",
        one_line(&composed.source),
        duration::exact(composed.latency_ns),
        parts.join(" + ")
    )?;
    if let Some(ns) = composed.contradicted_by_ns {
        writeln!(
            text,
            "COMPOSITION AT FAULT: {} was observed, above that bound; a section or an interrupt is \
             longer than given, or something else than a section held the thread up",
            duration::exact(ns)
        )?;
    }
    Ok(())
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
