//! An assessment as text: the table, the verdict with its reasons, what a reader must know beside.

mod rows;
mod verdict;

use crate::{Assessment, LoadSummary, NotMeasured, Style};
use std::fmt::Write;
use wakepath_verdict::{Caution, Outcome};

pub(crate) use rows::{COLUMNS, IN_A_ROW, MISSES, SCHEDULED, SKIPPED, executed_row, row_label};
pub use verdict::cpus_text;
pub(crate) use verdict::{NO_CRITERION, virtual_time_text};

impl Assessment {
    /// The whole of it for a person.
    pub fn to_text(&self, style: Style) -> String {
        let mut text = String::new();
        // Writing to a String can't fail.
        let _ = self.write_all(&mut text, style);
        text
    }

    fn write_all(&self, text: &mut String, style: Style) -> std::fmt::Result {
        writeln!(text)?;
        text.push_str(&self.table().render(style.columns));
        writeln!(text)?;
        text.push_str(&crate::inflation::to_text(&self.inflation, style));
        text.push_str(&crate::counters::to_text(&self.counters, style));
        text.push_str(&crate::modules::to_text(&self.modules, style));
        if let Some(flights) = &self.flights {
            text.push_str(&flights.to_short_text(style));
        }
        if let Some(effect) = &self.probe_effect {
            text.push_str(&crate::probe_effect::to_text(effect, style));
        }
        let mut prose = String::new();
        self.write_loads(&mut prose)?;
        self.write_conditions(&mut prose, style)?;
        self.write_remarks(&mut prose)?;
        self.write_verdict(&mut prose, style)?;
        writeln!(prose, "recording: {}", self.run.directory)?;
        text.push_str(&wrapped(&prose, style.columns));
        Ok(())
    }

    fn write_loads(&self, text: &mut String) -> std::fmt::Result {
        for load in &self.loads {
            let LoadSummary {
                phase,
                load: name,
                per_second,
                unit,
                workers,
                ..
            } = load;
            let state = if load.working { "" } else { " NOT WORKING" };
            write!(
                text,
                "load {phase}: {name} × {workers}: {} {unit}/s{state}",
                rate(*per_second)
            )?;
            for note in &load.notes {
                write!(text, "; {note}")?;
            }
            writeln!(text)?;
        }
        Ok(())
    }

    fn write_conditions(&self, text: &mut String, style: Style) -> std::fmt::Result {
        let mut heading = true;
        for judgement in &self.conditions {
            // What changed on the machine, and what the work is, is said once for the run.
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
                // That it is virtual is said once for the run; how it compares is of interest.
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
        let mut missing: Vec<&NotMeasured> = self.not_measured.iter().collect();
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

    fn write_remarks(&self, text: &mut String) -> std::fmt::Result {
        for change in &self.machine_changes {
            writeln!(
                text,
                "machine: {}: {} → {}",
                change.what, change.before, change.after
            )?;
        }
        if self.page_faults > 0 {
            writeln!(text, "page faults in the loop: {}", self.page_faults)?;
        }
        for controller in &self.controllers {
            writeln!(text, "controller: {controller}")?;
        }
        if let Some(readiness) = &self.readiness {
            writeln!(text, "readiness: {}", readiness.line())?;
        }
        if let Some(imported) = &self.imported {
            crate::imported::write_source(text, imported)?;
        }
        for note in &self.run.notes {
            writeln!(text, "note: {note}")?;
        }
        writeln!(text)
    }
}

/// Breaks lines between words where the terminal would break them anywhere.
pub(crate) fn wrapped(prose: &str, columns: Option<usize>) -> String {
    let Some(columns) = columns else {
        return prose.to_owned();
    };
    let options = textwrap::Options::new(columns.max(40)).subsequent_indent("    ");
    let lines = prose
        .lines()
        .map(|line| textwrap::fill(line, &options) + "\n");
    lines.collect()
}

/// A rate with three significant digits or more.
pub(crate) fn rate(per_second: f64) -> String {
    match per_second {
        100.0.. => format!("{per_second:.0}"),
        10.0.. => format!("{per_second:.1}"),
        _ => format!("{per_second:.2}"),
    }
}

pub(crate) fn coloured(outcome: Outcome, style: Style) -> String {
    paint(outcome, &outcome.to_string(), style)
}

fn paint(outcome: Outcome, text: &str, style: Style) -> String {
    match outcome {
        Outcome::Passed => style.good(text),
        Outcome::Failed | Outcome::Invalid => style.bad(text),
        Outcome::Undecided | Outcome::VirtualTime | Outcome::NotJudged => style.doubtful(text),
    }
}
