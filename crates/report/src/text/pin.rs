//! How finely a pin was driven: a row for each half period, a line for each that was not kept, and which tiers
//! the pin reaches.

use super::ToText;
use crate::Style;
use crate::table::{Cell, Table, Tone, number, words};
use std::fmt::Write;
use wakepath_assess::{Pin, PinStepFigures};
use wakepath_timeline::{CpuSet, duration, one_line};
use wakepath_verdict::Outcome;

impl ToText for Pin {
    fn to_text(&self, style: Style) -> String {
        let mut text = String::new();
        // Writing to a String can't fail.
        let _ = write_all(self, &mut text, style);
        text
    }
}

fn write_all(pin: &Pin, text: &mut String, style: Style) -> std::fmt::Result {
    let (drive, read) = (one_line(&pin.drive), one_line(&pin.read));
    let finest = match pin.finest_kept_ns {
        Some(ns) => format!(
            "keeps its edges down to {} from one to the next",
            duration::exact(ns)
        ),
        None => "is shown to keep its edges at none of these half periods".into(),
    };
    writeln!(text, "The pin {drive} {finest}.\n")?;
    text.push_str(&table(pin).to_terminal(style.columns));
    writeln!(text)?;
    for step in pin.steps.iter().filter(|step| !step.why.is_empty()) {
        let half = duration::exact(step.half_period_ns);
        writeln!(text, "{half}: {}: {}", step.outcome, one_line(&step.why))?;
    }
    let tiers = pin.tiers.iter().map(|tier| {
        let name = duration::exact(tier.period_ns);
        format!("{name} {}", word(tier.outcome))
    });
    let tiers: Vec<String> = tiers.collect();
    writeln!(text, "\ntiers by this pin: {}", tiers.join(", "))?;
    for shortfall in &pin.shortfalls {
        writeln!(text, "{}", one_line(shortfall))?;
    }
    writeln!(
        text,
        "driven under {} on CPU {} on {}, kernel {}; seen on {read} by the kernel, in the interrupt's handler: \
         each figure holds that interrupt too; kept: the edge within a tenth of the half period, but for 0.5 % \
         of the due times, 95 % confidence",
        one_line(&pin.policy),
        CpuSet::from(&pin.cpus[..]),
        one_line(&pin.started),
        one_line(&pin.kernel),
    )
}

fn table(pin: &Pin) -> Table {
    let mut table = Table::new("Half period")
        .column(number("due"))
        .column(number("driven"))
        .column(number("seen"))
        .column(number("median"))
        .column(number("99 %"))
        .column(number("largest"))
        .column(number("jitter"))
        .column(number("call"))
        .column(words("kept"));
    for step in &pin.steps {
        table.row(duration::exact(step.half_period_ns), cells(step));
    }
    table
}

fn cells(step: &PinStepFigures) -> Vec<Cell> {
    let time = |ns: Option<i64>| Cell::from(ns.map(Cell::time));
    let tone = match step.outcome {
        Outcome::Passed => Some(Tone::Good),
        Outcome::Failed => Some(Tone::Bad),
        _ => None,
    };
    let kept = word(step.outcome);
    vec![
        Cell::new(step.due),
        Cell::new(step.driven),
        Cell::new(step.seen),
        time(step.median_ns),
        time(step.p99_ns),
        time(step.largest_ns),
        time(step.jitter_ns.map(u64::cast_signed)),
        time(step.call_ns),
        tone.map_or_else(
            || kept.clone().into(),
            |tone| Cell::Toned(kept.clone(), tone),
        ),
    ]
}

fn word(outcome: Outcome) -> String {
    match outcome {
        Outcome::Passed => "yes".into(),
        Outcome::Failed => "no".into(),
        other => other.to_string(),
    }
}
