//! An assessment as text: the table, the verdict with its reasons, and cautions for the reader.

mod bounds;
mod cache_delays;
mod comparison;
mod composed_bound;
mod core_latency;
mod cost_model;
mod counters;
mod cycle_lane;
mod cycle_text;
mod exchanges;
mod explanation;
mod flights;
mod histogram;
mod imported;
mod inflation;
mod kernel_measures;
mod modules;
mod on_a_core;
mod pin;
mod probe_effect;
mod rows;
mod said;
mod schedulability;
mod stretch;
mod sweep;
mod tiers;
mod variants;
mod verdict;
mod windows;
pub(crate) mod worst_case;
mod worst_of_each;

use crate::Style;
use crate::table::Tone;
pub(crate) use exchanges::table as exchanges_table;
pub(crate) use modules::tables as module_tables;
use std::fmt::Write;
pub(crate) use stretch::{
    WHAT_IT_IS as WHAT_STRETCH_IS, sentence as stretch_sentence, table as stretch_table,
};
use verdict::write_verdict;
use wakepath_assess::{Assessment, Bounds, Comparison, Flights, LoadSummary, NotMeasured};
use wakepath_timeline::columns::folded;
use wakepath_timeline::number::three_digits;
use wakepath_verdict::{Caution, Outcome};

pub(crate) use bounds::bounds_table;
pub(crate) use cache_delays::{cache_delays_lines, cache_delays_table};
pub use comparison::comparison_in_full;
pub(crate) use comparison::{
    BANNER, conclusions, differences_table, label, method, metrics_table, most_changed, reasons,
    tone as finding_tone,
};
pub(crate) use core_latency::core_latencies_table;
pub use cost_model::{CostModel, StringCost};
pub use cycle_text::{cycle_text, cycle_text_of};
pub use explanation::{explanation_in_short, explanation_text, late_in_short, late_text};
pub use flights::in_short as flights_in_short;
pub(crate) use flights::{fate_of, flights_table, headline};
pub use histogram::histogram_text;
pub(crate) use imported::source;
pub(crate) use kernel_measures::{latencies_table, noises_table, places_table, sections_table};
pub(crate) use rows::{Counts, conditions_table, quantile, short_table};
pub(crate) use schedulability::{sums as response_sums, table as schedulability_table};
pub(crate) use sweep::{sweep_headline, sweep_remarks, sweep_table};
pub use tiers::tiers_in_short;
pub use verdict::{cpus_text, criterion_text};
pub(crate) use verdict::{no_criterion, virtual_time_text};
pub use windows::{windows_code_text, windows_text};
pub use worst_case::details as bounds_details;
pub use worst_case::in_short as bounds_in_short;

/// Results that have a text for a terminal.
pub trait ToText {
    /// The whole of it for a person.
    fn to_text(&self, style: Style) -> String;
}

impl ToText for Assessment {
    fn to_text(&self, style: Style) -> String {
        to_text(self, style)
    }
}

impl ToText for Comparison {
    fn to_text(&self, style: Style) -> String {
        comparison::to_text(self, style)
    }
}

impl ToText for Bounds {
    fn to_text(&self, style: Style) -> String {
        worst_case::to_text(self, style)
    }
}

impl ToText for Flights {
    fn to_text(&self, style: Style) -> String {
        flights::to_text(self, style)
    }
}

/// The whole of it for a person.
fn to_text(assessment: &Assessment, style: Style) -> String {
    let mut text = String::new();
    // Writing to a String can't fail.
    let _ = write_all(assessment, &mut text, style);
    text
}

fn write_all(assessment: &Assessment, text: &mut String, style: Style) -> std::fmt::Result {
    writeln!(text)?;
    text.push_str(&conditions_table(assessment).to_terminal(style.columns));
    writeln!(text)?;
    text.push_str(&bounds::to_text(&assessment.bounds, style));
    text.push_str(&inflation::to_text(&assessment.inflation, style));
    text.push_str(&stretch::to_text(&assessment.stretch, style));
    text.push_str(&counters::to_text(&assessment.counters, style));
    text.push_str(&on_a_core::to_text(&assessment.on_a_core, style));
    let by_cores = core_latencies_table(&assessment.core_latency);
    if !by_cores.is_empty() {
        writeln!(text, "{}", by_cores.to_terminal(style.columns))?;
    }
    text.push_str(&cache_delays::to_text(&assessment.cache_delays, style));
    text.push_str(&exchanges::to_text(&assessment.exchanges, style));
    text.push_str(&modules::to_text(&assessment.modules, style));
    text.push_str(&said::to_text(
        &assessment.said,
        &assessment.bus_clocks,
        style,
    ));
    if let Some(flights) = &assessment.flights {
        text.push_str(&flights::to_short_text(flights, style));
    }
    text.push_str(&variants::to_text(assessment, style));
    if let Some(effect) = &assessment.probe_effect {
        text.push_str(&probe_effect::to_text(effect, style));
    }
    let mut prose = String::new();
    write_loads(assessment, &mut prose)?;
    write_conditions(assessment, &mut prose, style)?;
    write_remarks(assessment, &mut prose)?;
    write_verdict(assessment, &mut prose, style)?;
    writeln!(prose, "recording: {}", assessment.run.directory)?;
    text.push_str(&wrapped(&prose, style.columns));
    Ok(())
}

fn write_loads(assessment: &Assessment, text: &mut String) -> std::fmt::Result {
    for load in &assessment.loads {
        let LoadSummary {
            phase,
            load: name,
            per_second,
            unit,
            workers,
            ..
        } = load;
        if load.working {
            write!(
                text,
                "load {phase}: {name} × {workers}: {} {unit}/s",
                three_digits(*per_second)
            )?
        } else {
            write!(text, "load {phase}: {name}: NOT WORKING")?
        }
        for note in &load.notes {
            write!(text, "; {note}")?;
        }
        writeln!(text)?;
    }
    Ok(())
}

fn write_conditions(assessment: &Assessment, text: &mut String, style: Style) -> std::fmt::Result {
    let mut heading = true;
    for judgement in &assessment.conditions {
        // Print the machine's changes and the nature of the work once for the run.
        let mut cautions = judgement
            .cautions
            .iter()
            .filter(|caution| {
                let once = |caution: &Caution| {
                    matches!(
                        caution,
                        Caution::MachineChanged { .. } | Caution::NotRealTime { .. }
                    )
                };
                !once(caution)
            })
            .peekable();
        let against = |outcome| {
            judgement
                .reasons
                .iter()
                .filter(move |reason| reason.bearing() == outcome)
        };
        let nothing_beyond = match judgement.outcome {
            Outcome::Passed => true,
            Outcome::VirtualTime => against(Outcome::Failed).next().is_none(),
            Outcome::NotJudged => true,
            _ => false,
        };
        if nothing_beyond && cautions.peek().is_none() {
            continue;
        }
        if std::mem::take(&mut heading) {
            writeln!(text)?;
        }
        let outcome = coloured(judgement.outcome, style);
        write!(text, "{}: {outcome}", judgement.name)?;
        let bearing = match judgement.outcome {
            Outcome::Passed => None,
            // The run's text states once that it is virtual; the comparison is still of interest.
            Outcome::VirtualTime => Some(Outcome::Failed),
            outcome => Some(outcome),
        };
        let reasons: Vec<String> = bearing
            .into_iter()
            .flat_map(against)
            .map(ToString::to_string)
            .collect();
        if !reasons.is_empty() {
            write!(text, ": {}", reasons.join("; "))?;
        }
        writeln!(text)?;
        for caution in cautions {
            writeln!(text, "  caution: {caution}")?;
        }
    }
    let mut missing: Vec<&NotMeasured> = assessment.not_measured.iter().collect();
    missing.sort_by(|a, b| a.reason.cmp(&b.reason));
    for alike in missing.chunk_by(|a, b| a.reason == b.reason) {
        writeln!(
            text,
            "{}: not measured: {}",
            alike[0].condition, alike[0].reason
        )?;
    }
    Ok(())
}

fn write_remarks(assessment: &Assessment, text: &mut String) -> std::fmt::Result {
    for change in &assessment.machine_changes {
        writeln!(
            text,
            "machine: {}: {} → {}",
            change.what, change.before, change.after
        )?;
    }
    if assessment.page_faults > 0 {
        writeln!(text, "page faults in the loop: {}", assessment.page_faults)?;
    }
    for controller in &assessment.controllers {
        writeln!(text, "controller: {controller}")?;
    }
    if let Some(readiness) = &assessment.readiness {
        writeln!(text, "readiness: {}", readiness.line())?;
    }
    if let Some(imported) = &assessment.imported {
        imported::write_source(text, imported)?;
    }
    for note in &assessment.run.notes {
        writeln!(text, "note: {note}")?;
    }
    writeln!(text)
}

/// Breaks lines between words where the terminal would break them anywhere.
pub(crate) fn wrapped(prose: &str, columns: Option<usize>) -> String {
    let Some(columns) = columns else {
        return prose.to_owned();
    };
    folded(prose, columns.max(40))
}

pub(crate) fn coloured(outcome: Outcome, style: Style) -> String {
    paint(outcome, &outcome.to_string(), style)
}

/// How an outcome is meant.
pub(crate) fn tone(outcome: Outcome) -> Tone {
    match outcome {
        Outcome::Passed => Tone::Good,
        Outcome::Failed | Outcome::Invalid => Tone::Bad,
        Outcome::Undecided | Outcome::VirtualTime | Outcome::NotJudged => Tone::Doubtful,
    }
}

fn paint(outcome: Outcome, text: &str, style: Style) -> String {
    style.toned(tone(outcome), text)
}
