//! An assessment as text: the table, the verdict with its reasons, what a reader must know beside.

use crate::table::Table;
use crate::{Assessment, LoadSummary, NotMeasured, Style};
use std::fmt::Write;
use wakepath_archive::VirtualTime;
use wakepath_statistics::{DistributionSummary, Quantile};
use wakepath_verdict::{Caution, CycleSummary, Judgement, Outcome, duration};

/// The columns of the table, in groups with a title.
pub(crate) const COLUMNS: &[(&str, &[&str])] = &[
    ("due times", &["scheduled", "executed", "skipped"]),
    (
        "wake-up latency, µs",
        &["min", "median", "mean", "p99", "p99.9", "max"],
    ),
    ("execution, µs", &["median", "max"]),
    ("response, µs", &["median", "max"]),
    ("misses", &["count", "in a row"]),
    ("outage, ms", &["longest"]),
    ("", &["verdict"]),
];
/// Places of columns that an imported run may know nothing of.
pub(crate) const SCHEDULED: usize = 0;
pub(crate) const SKIPPED: usize = 2;
pub(crate) const MISSES: usize = 13;
pub(crate) const IN_A_ROW: usize = 14;

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

    fn table(&self) -> Table {
        let mut table = Table::new(COLUMNS);
        for phase in self.phases() {
            table.row(phase, Vec::new());
            for judgement in self.conditions.iter().filter(|c| c.name.phase == phase) {
                table.row(format!("  {}", row_label(judgement)), self.row(judgement));
                if judgement.cycles.skipped > 0 {
                    table.row("    as executed", executed_row(&judgement.cycles));
                }
            }
            for missing in self.not_measured.iter().filter(|m| m.phase == phase) {
                let cells = vec![String::new(); 15].into_iter();
                let cells = cells.chain(["not measured".into()]).collect();
                table.row(format!("  {}", missing.condition), cells);
            }
        }
        table
    }

    /// The phases in the order in which they were measured.
    pub(crate) fn phases(&self) -> Vec<&str> {
        let judged = self
            .conditions
            .iter()
            .map(|judged| judged.name.phase.as_str());
        let missing = self
            .not_measured
            .iter()
            .map(|missing| missing.phase.as_str());
        let mut phases: Vec<&str> = Vec::new();
        for phase in judged.chain(missing) {
            if !phases.contains(&phase) {
                phases.push(phase);
            }
        }
        phases
    }

    /// What an imported run's tool does not record stands as not known, never as 0.
    pub(crate) fn row(&self, judgement: &Judgement) -> Vec<String> {
        let mut cells = row(judgement);
        if let Some(imported) = &self.imported {
            crate::imported::unknown_cells(&mut cells, imported);
        }
        cells
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

    fn write_verdict(&self, text: &mut String, style: Style) -> std::fmt::Result {
        let outcome = self.outcome.to_string().to_uppercase();
        let outcome = style.bold(&paint(self.outcome, &outcome, style));
        write!(text, "verdict: {outcome}")?;
        if let Some(recommendation) = &self.overall.recommendation {
            write!(text, ": use {recommendation}")?;
        }
        match (self.outcome, &self.virtual_time) {
            (Outcome::VirtualTime, Some(time)) => {
                write!(text, ": {}", virtual_time_text(time))?;
            }
            (Outcome::NotJudged, _) => write!(text, ": {NO_CRITERION}")?,
            _ => {}
        }
        writeln!(text)?;
        for policy in &self.overall.policies {
            let name = policy
                .policy
                .map_or("task set".into(), |policy| policy.to_string());
            let where_ = match policy.outcome {
                Outcome::Passed | Outcome::VirtualTime | Outcome::NotJudged => String::new(),
                _ => format!(" ({})", policy.decided_by.join(", ")),
            };
            writeln!(
                text,
                "  {name:<16} {}{where_}",
                coloured(policy.outcome, style)
            )?;
        }
        for remark in &self.remarks {
            writeln!(text, "  {remark}")?;
        }
        let more = self
            .conditions
            .iter()
            .filter_map(|judgement| judgement.more);
        let longest = more.map(|more| more.seconds).reduce(f64::max);
        if let (Outcome::Undecided, Some(seconds)) = (self.outcome, longest) {
            writeln!(
                text,
                "  measure each undecided condition {} s longer to decide",
                seconds.ceil()
            )?;
        }
        match (self.outcome, &self.virtual_time) {
            (Outcome::NotJudged, _) => {
                writeln!(text, "missed: skipped, or not ended after one period")?;
            }
            (_, Some(_)) => writeln!(text, "criterion, not judged: {}", self.criterion_text())?,
            (_, None) => writeln!(text, "criterion: {}", self.criterion_text())?,
        }
        // The one assumption under every bound above that no run can check by itself.
        writeln!(
            text,
            "a maximum is the largest observed, not a bound; a stall too rare to have happened \
             in the run is in no figure"
        )
    }

    /// The criterion in words.
    pub fn criterion_text(&self) -> String {
        let criterion = &self.criterion;
        let mut parts = Vec::new();
        if let Some(latency) = criterion.latency_ns {
            parts.push(format!("wake-up latency ≤ {}", duration(latency as i64)));
        }
        parts.push(format!(
            "response ≤ {}",
            duration(criterion.deadline_ns as i64)
        ));
        parts.push(match (criterion.miss_fraction, criterion.evidence) {
            (fraction, _) if fraction > 0.0 => {
                format!("at most {} % of due times missed", fraction * 100.0)
            }
            (_, evidence) => format!(
                "no due time missed, with a bound of {} on the probability",
                evidence.unwrap_or(wakepath_verdict::DEFAULT_EVIDENCE)
            ),
        });
        parts.push(format!("{} % confidence", criterion.confidence * 100.0));
        if let Some(most) = criterion.consecutive_misses {
            parts.push(format!("at most {most} in a row"));
        }
        if let Some(outage) = criterion.outage_ns {
            parts.push(format!("outage ≤ {}", duration(outage as i64)));
        }
        if let Some(flight) = self.flights.as_ref().and_then(|flown| flown.criterion) {
            parts.push(crate::flight::criterion_text(&flight));
        }
        parts.join(", ")
    }
}

/// What to do about a watched run without a verdict.
pub(crate) const NO_CRITERION: &str =
    "no criterion was given; wakepath watch --latency 200us would hold the threads to one";

/// What virtual time means, in the words of the verdict.
pub(crate) fn virtual_time_text(time: &VirtualTime) -> String {
    let cpus = cpus_text(time);
    let emulator = match &time.emulator {
        Some(emulator) => format!("{}, {}", emulator.kernel, emulator.version),
        None => "an emulator that is not recorded".to_owned(),
    };
    format!(
        "lengths of software paths, counted in instructions of {} ns ({emulator}, {cpus}, seed \
         {}); no machine's latencies, and no criterion is judged by them",
        time.ns_per_instruction, time.seed
    )
}

/// How many CPUs, and what virtual time costs there.
pub fn cpus_text(time: &VirtualTime) -> String {
    match (time.cpus, time.turn_ns) {
        (1, _) => "one CPU".to_owned(),
        (cpus, Some(turn_ns)) => format!(
            "{cpus} CPUs that take turns of at most {} µs: while {cpus} work, each has 1/{cpus} of its \
             speed, and what one does to another is felt up to that much later",
            turn_ns as f64 / 1e3
        ),
        (cpus, None) => format!(
            "{cpus} CPUs that take turns of up to milliseconds: no latency here is the guest's own"
        ),
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

pub(crate) fn row_label(judgement: &Judgement) -> String {
    let policy = judgement.name.policy.map(|policy| policy.to_string());
    let parts: Vec<String> = policy
        .into_iter()
        .chain(judgement.name.task.clone())
        .collect();
    let label = match parts.is_empty() {
        true => "task set".into(),
        false => parts.join(", "),
    };
    let cautions = &judgement.cautions;
    match cautions
        .iter()
        .any(|one| matches!(one, Caution::NotRealTime { .. }))
    {
        true => format!("{label} (not real-time)"),
        false => label,
    }
}

pub(crate) fn row(judgement: &Judgement) -> Vec<String> {
    let cycles = &judgement.cycles;
    let mut cells = vec![
        cycles.scheduled.to_string(),
        cycles.executed.to_string(),
        cycles.skipped.to_string(),
    ];
    cells.extend(latency_cells(cycles.latency_as_scheduled.as_ref()));
    for distribution in [&cycles.execution, &cycles.response] {
        cells.push(
            distribution
                .as_ref()
                .map_or(String::new(), |d| micros(quantile(d, Quantile::P50).0)),
        );
        cells.push(
            distribution
                .as_ref()
                .map_or(String::new(), |d| micros(d.max)),
        );
    }
    cells.push(cycles.misses.missed.to_string());
    cells.push(cycles.misses.longest_run.to_string());
    cells.push(cycles.longest_outage.map_or(String::new(), |outage| {
        format!("{:.2}", outage.length_ns as f64 / 1e6)
    }));
    cells.push(judgement.outcome.to_string());
    cells
}

pub(crate) fn executed_row(cycles: &CycleSummary) -> Vec<String> {
    let mut cells = vec![String::new(); 3];
    cells.extend(latency_cells(cycles.latency_as_executed.as_ref()));
    cells
}

/// min, median, mean, p99, p99.9, max. A quantile that the sample is too small for is left out
/// rather than shown as the maximum that it would be.
fn latency_cells(distribution: Option<&DistributionSummary>) -> Vec<String> {
    let Some(distribution) = distribution else {
        return vec![String::new(); 6];
    };
    let at = |wanted| match quantile(distribution, wanted) {
        (_, true) => "–".to_owned(),
        (value, false) => micros(value),
    };
    vec![
        micros(distribution.min),
        micros(quantile(distribution, Quantile::P50).0),
        format!("{:.1}", distribution.mean / 1e3),
        at(Quantile::P99),
        at(Quantile::P999),
        micros(distribution.max),
    ]
}

/// A quantile's value, and whether it is merely the maximum.
fn quantile(distribution: &DistributionSummary, wanted: Quantile) -> (i64, bool) {
    let found = distribution
        .quantiles
        .iter()
        .find(|quantile| quantile.parts_per_million == wanted.parts_per_million());
    found.map_or((distribution.max, true), |found| {
        (found.value, found.is_maximum)
    })
}

fn micros(ns: i64) -> String {
    format!("{:.1}", ns as f64 / 1e3)
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
