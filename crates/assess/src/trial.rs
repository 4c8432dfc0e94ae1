//! Result of a trial of settings: each step's effect, the loop before and with the helpful steps,
//! and other possible causes of the difference. It measures nothing and decides nothing.

use crate::Assessment;
use serde::Serialize;
use std::collections::BTreeMap;
use wakepath_machine::Topic;
use wakepath_readiness::{State, checks};
use wakepath_statistics::DistributionSummary;
use wakepath_verdict::counted;

/// A trial as it is reported.
#[derive(Debug, Clone, Serialize)]
pub struct Trial {
    /// The loop, in words.
    pub subject: String,
    /// The loop's criterion, in words.
    pub criterion: String,
    /// Requested time for each run.
    pub block: String,
    /// The steps, in the order in which they were tried.
    pub steps: Vec<TriedStep>,
    /// Without any step.
    pub before: TrialRun,
    /// With the steps that were kept.
    pub after: TrialRun,
    /// What else could have made a difference.
    pub confounders: Vec<String>,
    /// Whether what helps stays applied.
    pub stays: bool,
}

/// A step and what it did.
#[derive(Debug, Clone, Serialize)]
pub struct TriedStep {
    /// Its name.
    pub step: String,
    /// Why it was in the plan.
    pub reason: String,
    /// Its cost.
    pub cost: String,
    /// Runs next to each other, without and with it.
    pub pairs: Vec<(TrialRun, TrialRun)>,
    /// On the share of due times missed, percentage points.
    pub misses: Option<TrialEffect>,
    /// On the 99 % quantile of the wake-up latency, µs.
    pub p99: Option<TrialEffect>,
    /// What follows, in words.
    pub finding: String,
    /// Whether the following steps were tried with it.
    pub kept: bool,
}

/// A mean difference, with − without.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TrialEffect {
    /// In the figure's unit.
    pub mean: f64,
    /// Its interval; none for one pair.
    pub interval: Option<(f64, f64)>,
}

impl std::fmt::Display for TrialEffect {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.interval {
            Some((low, high)) => write!(out, "{:+.2} ({low:+.2} to {high:+.2})", self.mean),
            None => write!(out, "{:+.2} (one pair)", self.mean),
        }
    }
}

/// One run of a trial.
#[derive(Debug, Clone, Serialize)]
pub struct TrialRun {
    /// Its run directory.
    pub run: String,
    /// Its verdict.
    pub outcome: String,
    /// Due times.
    pub due: u64,
    /// How many were missed.
    pub missed: u64,
    /// Mean over the conditions of their 99 % quantile of the wake-up latency, µs.
    pub p99_us: f64,
    /// The largest wake-up latency, µs.
    pub max_us: f64,
}

impl TrialRun {
    /// The figures of a run; none if no cycle was measured.
    pub fn new(assessment: &Assessment) -> Option<Self> {
        let conditions = &assessment.conditions;
        let latencies = || {
            let all = conditions.iter();
            all.filter_map(|condition| condition.cycles.latency_as_scheduled.as_ref())
        };
        let largest = latencies().map(|one| one.max).max()?;
        Some(Self {
            run: assessment.run.directory.clone(),
            outcome: assessment.outcome.to_string(),
            due: conditions.iter().map(|one| one.cycles.scheduled).sum(),
            missed: conditions
                .iter()
                .filter_map(|one| one.cycles.missed())
                .sum(),
            p99_us: latencies().map(p99).sum::<f64>() / latencies().count() as f64 / 1e3,
            max_us: largest as f64 / 1e3,
        })
    }

    /// The share of due times that were missed, in percent.
    pub fn missed_percent(&self) -> f64 {
        100.0 * self.missed as f64 / self.due.max(1) as f64
    }
}

/// The 99 % quantile, else the highest below it that the sample allows, ns.
pub fn p99(summary: &DistributionSummary) -> f64 {
    let found = summary.quantiles.iter();
    let mut found = found.filter(|value| value.parts_per_million <= 990_000);
    found
        .next_back()
        .and_then(|value| value.value)
        .unwrap_or(summary.max) as f64
}

/// Other possible causes of a difference, as the runs show them.
#[derive(Debug, Default)]
pub struct Confounders {
    runs: usize,
    /// The last value of each change, and how many runs it came up in.
    changes: BTreeMap<String, (usize, String)>,
    held: BTreeMap<String, usize>,
    /// Heat and frequency, as the first and the latest run found them.
    drifting: BTreeMap<&'static str, (String, String)>,
}

impl Confounders {
    /// Takes a run into account.
    pub fn take(&mut self, assessment: &Assessment) {
        self.runs += 1;
        for change in &assessment.machine_changes {
            let (count, last) = self.changes.entry(change.what.clone()).or_default();
            *count += 1;
            *last = format!("{} → {}", change.before, change.after);
        }
        let readiness = assessment.readiness.as_ref();
        let holder = readiness.into_iter().flat_map(|report| &report.checks);
        for judged in holder
            .filter(|one| one.id == checks::LATENCY_REQUEST && one.finding.state == State::Bad)
        {
            *self.held.entry(judged.finding.found.clone()).or_default() += 1;
        }
        for topic in [Topic::Heat, Topic::Frequency] {
            if let Some(line) = assessment.machine.iter().find(|line| line.topic == topic) {
                let first = || (line.text.clone(), line.text.clone());
                let drift = self.drifting.entry(topic.label());
                drift.or_insert_with(first).1.clone_from(&line.text);
            }
        }
    }

    /// In words, one line each.
    pub fn lines(&self) -> Vec<String> {
        let of_runs = counted(self.runs as u64, "run", "runs");
        let mut lines = vec![
            "order: steps are tried one after another, each on top of those already kept; the order within pairs \
             alternates"
                .to_owned(),
        ];
        for (holder, count) in &self.held {
            lines.push(format!(
                "a latency request was held during {count} of {of_runs} ({holder}): it hides the loop's real idle \
                 latency"
            ));
        }
        if self.held.is_empty() {
            lines.push(format!(
                "no holder of /dev/cpu_dma_latency was seen in {of_runs}"
            ));
        }
        for (label, (first, last)) in &self.drifting {
            let label = label.to_lowercase();
            if first == last {
                lines.push(format!("{label}, from the first run to the last: {first}"))
            } else {
                lines.push(format!(
                    "{label} differed from the first run ({first}) to the last ({last})"
                ))
            }
        }
        for (what, (count, last)) in &self.changes {
            lines.push(format!(
                "during {count} of {of_runs}: {what}, at last {last}"
            ));
        }
        lines
    }
}
