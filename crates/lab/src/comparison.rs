//! Table of guests: one row for each kernel, policy and phase.
//!
//! Shows path lengths; applies no criterion.

use crate::measuring::Recorded;
use crate::{LabError, Result};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;
use wakepath_archive::Run;
use wakepath_assess::Assessment;
use wakepath_report::{Cell, CostModel, Style, Table, cpus_text, number};
use wakepath_statistics::{DistributionSummary, Quantile};
use wakepath_timeline::condition_label;
use wakepath_timeline::duration::Unit;
use wakepath_verdict::{CycleSummary, Judgement, Outcome};

/// A guest and its result.
pub struct Compared {
    /// Kernel and variant.
    pub guest: String,
    /// Its run directory.
    pub directory: PathBuf,
    /// Its run's assessment, or the reason why there is none.
    pub assessment: Result<Assessment>,
}

/// A guest with a complete run.
pub struct Whole {
    /// Kernel and variant.
    pub guest: String,
    /// Its run directory.
    pub directory: PathBuf,
    /// Its run.
    pub assessment: Assessment,
}

impl Compared {
    /// Reads and assesses a guest's recording.
    pub fn new(recorded: Recorded) -> Self {
        let Recorded {
            guest,
            directory,
            outcome,
        } = recorded;
        let assessed = || Ok(Assessment::new(&Run::open(&directory)?)?);
        Self {
            assessment: outcome.and_then(|()| assessed()),
            guest,
            directory,
        }
    }

    /// The same, if its run is complete.
    ///
    /// # Errors
    /// [`LabError::NoRun`] and [`LabError::NotWhole`].
    pub fn into_whole(self) -> Result<Whole> {
        let is_whole = self.is_whole();
        let guest = self.guest;
        match self.assessment {
            Ok(assessment) if is_whole => Ok(Whole {
                guest,
                directory: self.directory,
                assessment,
            }),
            Ok(assessment) => Err(LabError::NotWhole {
                guest,
                outcome: assessment.outcome,
            }),
            Err(error) => Err(LabError::NoRun {
                guest,
                source: Box::new(error),
            }),
        }
    }

    /// Whether its run is complete: present, in virtual time, nothing invalid.
    pub fn is_whole(&self) -> bool {
        let outcome = self.assessment.as_ref().map(|found| found.outcome);
        matches!(outcome, Ok(Outcome::VirtualTime))
    }
}

/// All of it for a person.
pub fn to_text(compared: &[Compared], style: Style) -> String {
    let mut text = String::new();
    let known: Vec<(&str, &Assessment)> = compared
        .iter()
        .filter_map(|one| Some((one.guest.as_str(), one.assessment.as_ref().ok()?)))
        .collect();
    let time = known.iter().find_map(|(_, a)| a.virtual_time.as_ref());
    if let Some(time) = time {
        let _ = writeln!(
            text,
            "\nvirtual time: {}; lengths of software paths, not a machine's latencies; {}\n",
            CostModel::from(time),
            cpus_text(time)
        );
        text += &table(&known).to_terminal(style.columns);
    }
    text.push('\n');
    for one in compared {
        let _ = match &one.assessment {
            Err(error) => writeln!(text, "{}: FAILED: {error}", one.guest),
            Ok(found) if !one.is_whole() => {
                let why: Vec<String> = problems(found);
                writeln!(text, "{}: {}: {}", one.guest, found.outcome, why.join("; "))
            }
            Ok(found) => {
                let missing = found.not_measured.iter();
                for missing in missing {
                    let _ = writeln!(
                        text,
                        "{}: {}, {}: not measured: {}",
                        one.guest, missing.condition, missing.phase, missing.reason
                    );
                }
                writeln!(text, "{}: {}", one.guest, one.directory.display())
            }
        };
    }
    if any_skipped(&known) {
        text += "latency as scheduled counts each skipped due time with the time until the next cycle; \
                 latency of wake-ups has the cycles that ran alone\n";
    }
    text += &notes(&known);
    text += "verdict: VIRTUAL TIME: no criterion is judged by it\n";
    text
}

/// Whether a due time was skipped, so that the two latencies differ.
fn any_skipped(known: &[(&str, &Assessment)]) -> bool {
    let mut all = known.iter().flat_map(|(_, found)| &found.conditions);
    all.any(|judged| judged.cycles.skipped.is_none_or(|skipped| skipped > 0))
}

/// The runs' notes, chiefly parameters that a guest's kernel ignored, since its row is named after
/// them. Notes common to all runs appear once.
fn notes(known: &[(&str, &Assessment)]) -> String {
    let mut text = String::new();
    for (guest, assessment) in known {
        for note in &assessment.run.notes {
            let is_of_all = known
                .iter()
                .all(|(_, other)| other.run.notes.contains(note));
            let line = if is_of_all {
                format!("note: {note}\n")
            } else {
                format!("{guest}: note: {note}\n")
            };
            if !text.contains(&line) {
                text += &line;
            }
        }
    }
    text
}

/// Reasons why a run is invalid.
fn problems(assessment: &Assessment) -> Vec<String> {
    let invalid = assessment
        .conditions
        .iter()
        .filter(|judged| judged.outcome == Outcome::Invalid);
    let mut problems: Vec<String> = invalid
        .flat_map(|judged| {
            let reasons = judged.reasons.iter();
            let reasons = reasons.filter(|reason| reason.bearing() == Outcome::Invalid);
            reasons.map(|reason| format!("{}: {reason}", judged.name))
        })
        .collect();
    problems.extend(assessment.remarks.iter().cloned());
    problems
}

fn table(known: &[(&str, &Assessment)]) -> Table {
    let mut table = Table::new("kernel")
        .group("due times", "", &["scheduled", "skipped"].map(number))
        .group(
            "latency of wake-ups",
            "virtual µs",
            &["min", "median", "p99", "max"].map(number),
        )
        .group(
            "latency as scheduled",
            "virtual µs",
            &["p99", "max"].map(number),
        )
        .group("execution", "virtual µs", &["median", "max"].map(number))
        .group("response", "virtual µs", &[number("max")]);
    for (phase, condition) in conditions(known) {
        table.heading(format!("{condition}, {phase}"));
        for (guest, assessment) in known {
            let mine = assessment.conditions.iter();
            for judged in
                mine.filter(|judged| condition_of(judged) == (phase.clone(), condition.clone()))
            {
                table.row(*guest, row(&judged.cycles));
            }
        }
    }
    table
}

/// Phases and conditions in the order in which they were measured.
fn conditions(known: &[(&str, &Assessment)]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for place in known
        .iter()
        .flat_map(|(_, a)| a.conditions.iter().map(condition_of))
    {
        if !found.contains(&place) {
            found.push(place);
        }
    }
    found
}

/// Phase and condition of a judgement, as tables call them.
pub(crate) fn condition_of(judged: &Judgement) -> (String, String) {
    let name = &judged.name;
    let condition = condition_label(name.policy.as_ref(), name.task.as_deref());
    (name.phase.clone(), condition)
}

fn row(cycles: &CycleSummary) -> Vec<Cell> {
    let micros = |ns: Option<i64>| match ns {
        Some(ns) => Cell::Text(Unit::Micros.figure(ns, 3)),
        None => Cell::Blank,
    };
    let (woken, scheduled) = (&cycles.latency_as_executed, &cycles.latency_as_scheduled);
    let most = |distribution: &Option<DistributionSummary>| distribution.as_ref().map(|d| d.max);
    vec![
        Cell::new(cycles.scheduled),
        cycles.skipped.map(Cell::new).into(),
        micros(woken.as_ref().map(|d| d.min)),
        micros(quantile(woken, Quantile::P50)),
        micros(quantile(woken, Quantile::P99)),
        micros(most(woken)),
        micros(quantile(scheduled, Quantile::P99)),
        micros(most(scheduled)),
        micros(quantile(&cycles.execution, Quantile::P50)),
        micros(most(&cycles.execution)),
        micros(most(&cycles.response)),
    ]
}

/// A percentile of a distribution, if it has one.
pub(crate) fn quantile(
    distribution: &Option<DistributionSummary>,
    wanted: Quantile,
) -> Option<i64> {
    distribution.as_ref()?.quantile(wanted)?.value
}

/// All of it for a script.
pub fn to_json(compared: &[Compared]) -> String {
    let guest = |one: &Compared| -> Value {
        let (assessment, error) = match &one.assessment {
            Ok(found) => (Some(found), None),
            Err(error) => (None, Some(error.to_string())),
        };
        json!({
            "guest": one.guest,
            "directory": one.directory.display().to_string(),
            "whole": one.is_whole(),
            "error": error,
            "assessment": assessment,
        })
    };
    let guests: Vec<Value> = compared.iter().map(guest).collect();
    format!(
        "{:#}\n",
        json!({ "outcome": "virtual-time", "guests": guests })
    )
}
