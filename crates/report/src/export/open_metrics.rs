//! An assessment as text of metrics, for a collector. It is OpenMetrics 1.0 and the older text format
//! of Prometheus at once, which node_exporter's files and Pushgateway are read as: what only one of them
//! knows (`info`) is not used.

use std::fmt::Write;
use wakepath_assess::Assessment;
use wakepath_statistics::DistributionSummary;
use wakepath_verdict::{Judgement, Outcome};

/// The text; times in seconds, as the format asks for.
pub fn open_metrics(assessment: &Assessment) -> String {
    let mut text = String::new();
    // Writing to a String can't fail.
    let _ = write_all(&mut text, assessment);
    text
}

fn write_all(text: &mut String, assessment: &Assessment) -> std::fmt::Result {
    let run = &assessment.run;
    head(
        text,
        "run_info",
        "gauge",
        "",
        "The run that the other metrics are of; always 1.",
    )?;
    writeln!(
        text,
        "wakepath_run_info{{run_id=\"{}\",scenario=\"{}\",started=\"{}\",verdict=\"{}\"}} 1",
        escaped(&run.run_id),
        escaped(&run.scenario),
        escaped(&run.started),
        assessment.outcome
    )?;
    let latency = |j: &Judgement| j.cycles.latency_as_scheduled.clone();
    distributions(
        text,
        assessment,
        "wake_up_latency",
        "First instruction − due time, over all due times.",
        &latency,
    )?;
    distributions(
        text,
        assessment,
        "response",
        "End of the work − due time.",
        &|j| j.cycles.response.clone(),
    )?;
    distributions(
        text,
        assessment,
        "execution",
        "End of the work − first instruction.",
        &|j| j.cycles.execution.clone(),
    )?;
    let count = |value: Option<u64>| value.map(|value| value as f64);
    for (name, help, of) in [
        (
            "due_times",
            "Due times of which it is known what became of them.",
            &(|j: &Judgement| count(Some(j.cycles.scheduled)))
                as &dyn Fn(&Judgement) -> Option<f64>,
        ),
        (
            "skipped_due_times",
            "Due times at which no cycle ran.",
            &|j| count(j.cycles.skipped),
        ),
        (
            "missed_due_times",
            "Due times missed by the criterion.",
            &|j| count(j.cycles.missed()),
        ),
        (
            "passed",
            "1 passed, 0 failed; absent where undecided or invalid.",
            &|j| match j.outcome {
                Outcome::Passed => Some(1.0),
                Outcome::Failed => Some(0.0),
                _ => None,
            },
        ),
    ] {
        family(text, assessment, name, "", help, of)?;
    }
    family(
        text,
        assessment,
        "longest_outage_seconds",
        "seconds",
        "Longest time from the end of one cycle to the end of the next.",
        &|j| {
            j.cycles
                .longest_outage
                .map(|outage| outage.length_ns as f64 / 1e9)
        },
    )?;
    writeln!(text, "# EOF")
}

fn head(text: &mut String, name: &str, kind: &str, unit: &str, help: &str) -> std::fmt::Result {
    writeln!(text, "# TYPE wakepath_{name} {kind}")?;
    if !unit.is_empty() {
        writeln!(text, "# UNIT wakepath_{name} {unit}")?;
    }
    writeln!(text, "# HELP wakepath_{name} {help}")
}

fn family(
    text: &mut String,
    assessment: &Assessment,
    name: &str,
    unit: &str,
    help: &str,
    of: &dyn Fn(&Judgement) -> Option<f64>,
) -> std::fmt::Result {
    head(text, name, "gauge", unit, help)?;
    for judgement in &assessment.conditions {
        if let Some(value) = of(judgement) {
            writeln!(text, "wakepath_{name}{{{}}} {value}", labels(judgement))?;
        }
    }
    Ok(())
}

/// A summary: quantiles, by nearest rank, that the sample is large enough for; the maximum as quantile 1.
fn distributions(
    text: &mut String,
    assessment: &Assessment,
    name: &str,
    help: &str,
    of: &dyn Fn(&Judgement) -> Option<DistributionSummary>,
) -> std::fmt::Result {
    let name = format!("{name}_seconds");
    head(text, &name, "summary", "seconds", help)?;
    for judgement in &assessment.conditions {
        let Some(found) = of(judgement) else {
            continue;
        };
        let quantiles = found
            .quantiles
            .iter()
            .filter(|quantile| !quantile.is_maximum);
        let shown = quantiles
            .filter_map(|quantile| {
                let share = f64::from(quantile.parts_per_million) / 1e6;
                Some((share, quantile.value?))
            })
            .chain([(1.0, found.max)]);
        for (quantile, value) in shown {
            writeln!(
                text,
                "wakepath_{name}{{{},quantile=\"{quantile}\"}} {}",
                labels(judgement),
                value as f64 / 1e9
            )?;
        }
        let (count, labels) = (found.count, labels(judgement));
        let sum = found.mean * count as f64 / 1e9;
        writeln!(text, "wakepath_{name}_sum{{{labels}}} {sum}")?;
        writeln!(text, "wakepath_{name}_count{{{labels}}} {count}")?;
    }
    Ok(())
}

fn labels(judgement: &Judgement) -> String {
    let name = &judgement.name;
    let policy = name
        .policy
        .map_or_else(|| "task set".into(), |policy| policy.to_string());
    let mut labels = format!(
        "policy=\"{}\",phase=\"{}\"",
        escaped(&policy),
        escaped(&name.phase)
    );
    if let Some(task) = &name.task {
        let _ = write!(labels, ",task=\"{}\"", escaped(task));
    }
    labels
}

/// The format's three escapes.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_name_stays_in_its_label() {
        assert_eq!(escaped("a\"} 1\nb\\"), "a\\\"} 1\\nb\\\\");
    }
}
