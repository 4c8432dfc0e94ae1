//! A comparison as text: what differs, the table, the finding with what it rests on.

use crate::Style;
use crate::answer::COLUMNS;
use crate::table::{Cell, Table, Tone, number, words};
use std::fmt::Write;
use wakepath_assess::{
    Comparison, ConditionComparison, Finding, Metric, MetricComparison, RunFigures, Weight, median,
};
use wakepath_timeline::columns::{cut, folded, wrapped};
use wakepath_timeline::condition_label;
use wakepath_verdict::fraction;

/// Above runs that are not comparable.
pub(crate) const BANNER: &str = "NOT COMPARABLE, compared by --force: what follows is no evidence";

/// What one run a side is worth.
const ONE_RUN: &str = "one run can't tell a difference between the sides from one between two runs of the \
                       same side: measure several of each";
/// Figures shown of one run against one; the whole text has all.
const MOST_SHOWN: usize = 6;

/// The finding, and what it rests on: of one run against one a dozen lines, else the whole.
pub(super) fn to_text(comparison: &Comparison, style: Style) -> String {
    if comparison.base.len() > 1 || comparison.against.len() > 1 {
        return comparison_in_full(comparison, style);
    }
    let mut text = String::new();
    // Writing to a String can't fail.
    let _ = write_short(comparison, &mut text, style);
    text
}

/// The whole of it for a person.
pub fn comparison_in_full(comparison: &Comparison, style: Style) -> String {
    let mut text = String::new();
    // Writing to a String can't fail.
    let _ = write_all(comparison, &mut text, style);
    text
}

fn write_short(comparison: &Comparison, text: &mut String, style: Style) -> std::fmt::Result {
    let columns = style.columns.unwrap_or(COLUMNS).clamp(40, COLUMNS);
    let mut head = String::new();
    write_banner(comparison, &mut head, style)?;
    writeln!(head, "finding: {}", found(comparison, style))?;
    text.push_str(&folded(&head, columns));
    text.push_str(&wrapped(ONE_RUN, "  ", "  ", columns));
    for (side, runs) in [("base", &comparison.base), ("against", &comparison.against)] {
        for run in runs {
            let line = format!("{side:<8} {}  {}", run.directory, run.started);
            writeln!(text, "{}", cut(&line, columns))?;
        }
    }
    let what: Vec<String> = comparison
        .differences
        .iter()
        .map(|difference| difference.what.clone())
        .collect();
    let what = match what.is_empty() {
        true => "machine, kernel and scenario: no difference was found".to_owned(),
        false => format!("what differs beside the timing: {}", what.join(", ")),
    };
    text.push_str(&wrapped(&what, "", "  ", columns));
    let said = comparison
        .cautions
        .iter()
        .map(|said| format!("caution: {said}"));
    // That nothing differs is said above.
    let said = said.filter(|_| !comparison.differences.is_empty());
    let invalid = reasons(comparison)
        .into_iter()
        .filter(|why| why.contains(": invalid: "));
    for line in invalid.chain(said).take(3) {
        text.push_str(&wrapped(&line, "", "  ", columns));
    }
    text.push('\n');
    text.push_str(&changed_table(comparison, columns));
    Ok(())
}

/// The figures that differ most, by what was said not to matter.
fn changed_table(comparison: &Comparison, columns: usize) -> String {
    let mut rows: Vec<(f64, &ConditionComparison, &MetricComparison)> = Vec::new();
    for condition in &comparison.conditions {
        for metric in &condition.metrics {
            if let ([base], [against]) = (&metric.base[..], &metric.against[..]) {
                let margin = metric.margin.filter(|margin| *margin > 0.0);
                let apart = (against - base).abs();
                rows.push((apart / margin.unwrap_or(f64::INFINITY), condition, metric));
            }
        }
    }
    let beyond = rows.iter().filter(|(apart, ..)| *apart > 1.0).count();
    let all = rows.len();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut table = Table::of("").group(
        "",
        "",
        &[number("base"), number("against"), number("difference")],
    );
    for (_, condition, metric) in rows.iter().take(MOST_SHOWN) {
        let shown = |value: f64| shown(metric.metric, value);
        let name = match metric.metric {
            Metric::Maximum => format!("max of {} due times, µs", condition.equal_count),
            other => metric_label(other),
        };
        let (base, against) = (metric.base[0], metric.against[0]);
        let label = format!("{}, {name}", condition.name);
        table.row(
            cut(&label, columns.saturating_sub(36)),
            vec![
                shown(base).into(),
                shown(against).into(),
                signed(shown, against - base).into(),
            ],
        );
    }
    let mut text = table.to_terminal(Some(columns));
    let left = all.saturating_sub(MOST_SHOWN);
    let rest = if left > 0 {
        format!("; the {left} least of them are not shown")
    } else {
        String::new()
    };
    text += &wrapped(
        &format!(
            "{beyond} of {all} figures differ by more than the margin, {}{rest}; all of them, and \
             how they were compared: --details",
            comparison.margin
        ),
        "",
        "  ",
        columns,
    );
    text
}

fn write_all(comparison: &Comparison, text: &mut String, style: Style) -> std::fmt::Result {
    let mut head = String::new();
    write_banner(comparison, &mut head, style)?;
    write_finding(comparison, &mut head, style)?;
    writeln!(head)?;
    for (side, runs) in [("base", &comparison.base), ("against", &comparison.against)] {
        for run in runs {
            writeln!(
                head,
                "{side:<8} {}  {}  {}",
                run.directory, run.started, run.scenario
            )?;
        }
    }
    text.push_str(&super::wrapped(&head, style.columns));
    match comparison.differences.is_empty() {
        true => text.push_str("machine, kernel and scenario: no difference was found\n"),
        false => text.push_str(&differences_table(comparison).to_terminal(style.columns)),
    }
    writeln!(text)?;
    text.push_str(&metrics_table(comparison).to_terminal(style.columns));
    let mut prose = String::from("\n");
    for reason in reasons(comparison) {
        writeln!(prose, "{reason}")?;
    }
    for caution in &comparison.cautions {
        writeln!(prose, "caution: {caution}")?;
    }
    for line in method(comparison) {
        writeln!(prose, "{line}")?;
    }
    text.push_str(&super::wrapped(&prose, style.columns));
    Ok(())
}

fn write_banner(comparison: &Comparison, text: &mut String, style: Style) -> std::fmt::Result {
    if comparison.forced.is_empty() {
        return Ok(());
    }
    writeln!(text, "{}", style.bold(&style.bad(BANNER)))?;
    for reason in &comparison.forced {
        writeln!(text, "  {reason}")?;
    }
    writeln!(text)
}

/// What differs between the sides.
pub(crate) fn differences_table(comparison: &Comparison) -> Table {
    // A long text, of a load or a kernel's command line, is whole on the page and as JSON.
    const MOST: usize = 44;
    let mut table = Table::of("what differs")
        .class("facts")
        .caption("Between the first runs of the sides")
        .column(words("base").within(MOST))
        .column(words("against").within(MOST))
        .column(words("for comparing"));
    for difference in &comparison.differences {
        let means = match difference.weight {
            Weight::Forbids => "forbids it",
            Weight::Explains => "may explain what is found",
            Weight::Note => "to be known",
        };
        let cells = [difference.base.as_str(), &difference.against, means];
        table.row(difference.what.as_str(), cells.map(Cell::from).to_vec());
    }
    table
}

/// What each metric of each condition shows.
pub(crate) fn metrics_table(comparison: &Comparison) -> Table {
    let side = ["lowest", "median", "highest"].map(number);
    let mut table = Table::of("Metric")
        .class("measured")
        .caption(
            "Over the runs of each side; p: how likely the like would be seen, if the side were no \
             worse, no better, or the sides apart by the margin",
        )
        .group("base", "", &side)
        .group("against", "", &side)
        .group(
            "shift",
            "",
            &["estimate", "90 % from", "to", "margin"].map(number),
        )
        .group("p if", "", &["no worse", "no better", "apart"].map(number))
        .column(words("finding").leading());
    for condition in &comparison.conditions {
        table.heading(format!("{}, {}", label(condition), condition.name.phase));
        for metric in &condition.metrics {
            table.row(metric_label(metric.metric), cells(condition, metric));
        }
    }
    table
}

/// Why a metric of a condition shows nothing.
pub(crate) fn reasons(comparison: &Comparison) -> Vec<String> {
    let mut lines = Vec::new();
    for condition in &comparison.conditions {
        // A condition is invalid in all its metrics for one reason.
        let mut told: Vec<&str> = Vec::new();
        for metric in &condition.metrics {
            let Some(why) = metric.why.as_deref() else {
                continue;
            };
            match metric.finding {
                Finding::Invalid if told.contains(&why) => continue,
                Finding::Invalid => lines.push(format!("{}: invalid: {why}", condition.name)),
                _ => lines.push(format!(
                    "{}, {}: {why}",
                    condition.name,
                    metric.metric.word()
                )),
            }
            told.push(why);
        }
    }
    lines
}

fn write_finding(comparison: &Comparison, text: &mut String, style: Style) -> std::fmt::Result {
    writeln!(text, "finding: {}", found(comparison, style))?;
    for line in conclusions(comparison) {
        writeln!(text, "  {line}")?;
    }
    Ok(())
}

fn found(comparison: &Comparison, style: Style) -> String {
    let word = comparison.finding.to_string().to_uppercase();
    style.bold(&style.toned(tone(comparison.finding), &word))
}

/// What the finding rests on: how many metrics show what, which changed by how much, and what
/// so many runs can tell.
pub(crate) fn conclusions(comparison: &Comparison) -> Vec<String> {
    let all = || {
        comparison.conditions.iter().flat_map(|condition| {
            condition
                .metrics
                .iter()
                .map(move |metric| (condition, metric))
        })
    };
    let count = |finding| {
        all()
            .filter(|(_, metric)| metric.finding == finding)
            .count()
    };
    let parts: Vec<String> = [
        Finding::Regressed,
        Finding::Improved,
        Finding::Equivalent,
        Finding::Inconclusive,
        Finding::Invalid,
    ]
    .into_iter()
    .filter(|&finding| count(finding) > 0)
    .map(|finding| format!("{} {finding}", count(finding)))
    .collect();
    let mut lines = vec![format!(
        "of {} metrics: {}",
        all().count(),
        parts.join(", ")
    )];
    let told = [Finding::Regressed, Finding::Improved];
    let changed = all().filter(|(_, metric)| told.contains(&metric.finding));
    lines.extend(changed.map(|(condition, metric)| sentence(condition, metric)));
    lines.extend(what_runs_can_tell(comparison));
    lines
}

/// How it was compared.
pub(crate) fn method(comparison: &Comparison) -> [String; 2] {
    let test = match comparison.interleaved {
        true => "pairs measured in turn, Wilcoxon's exact signed-rank test",
        false => "exact Mann–Whitney test",
    };
    [
        format!(
            "margin: {}; maxima over equal counts of due times; more is worse in every metric",
            comparison.margin
        ),
        format!(
            "{test} over runs, Hodges–Lehmann shift, Benjamini–Hochberg over all metrics; \
                 two one-sided tests for equivalence; {} %",
            comparison.alpha * 100.0
        ),
    ]
}

fn what_runs_can_tell(comparison: &Comparison) -> Vec<String> {
    let (base, against) = (comparison.base.len(), comparison.against.len());
    let mut lines = Vec::new();
    if base == 1 || against == 1 {
        lines.push(ONE_RUN.to_owned());
    }
    if let Some(needed) = comparison.runs_needed {
        lines.push(format!(
            "{} against {against}: a change of one metric alone could be told from \
                 {needed} runs a side on; fewer metrics (--metric) or conditions need fewer",
            wakepath_verdict::counted(base as u64, "run", "runs")
        ));
    }
    lines
}

pub(crate) fn label(condition: &ConditionComparison) -> String {
    let name = &condition.name;
    condition_label(name.policy.as_ref(), name.task.as_deref())
}

fn metric_label(metric: Metric) -> String {
    match metric.is_time() {
        // Else the longer run would have the larger one for that alone.
        true if metric == Metric::Maximum => "max of equal counts, µs".to_owned(),
        true => format!("{}, µs", metric.word()),
        false => format!("{}, %", metric.word()),
    }
}

fn cells(condition: &ConditionComparison, metric: &MetricComparison) -> Vec<Cell> {
    let shown = |value: f64| shown(metric.metric, value);
    let side = |runs: &[RunFigures], values: &[f64]| -> [Cell; 3] {
        if values.is_empty() {
            return [Cell::Unknown, Cell::Unknown, Cell::Unknown];
        }
        // No miss seen is no risk of none: what the run proves is a bound.
        let shown = |value: f64| match metric.metric == Metric::Misses && value == 0.0 {
            true => format!("≤ {}", bound_without_misses(runs)),
            false => shown(value),
        };
        let by = |choose: fn(f64, f64) -> f64| values.iter().copied().reduce(choose).map(shown);
        [
            by(f64::min).into(),
            shown(median(values)).into(),
            by(f64::max).into(),
        ]
    };
    let mut cells = side(&condition.base, &metric.base).to_vec();
    cells.extend(side(&condition.against, &metric.against));
    let shift = metric.shift;
    let by = |value: Option<f64>| Cell::from(value.map(|value| signed(shown, value)));
    let p = |p: Option<f64>| Cell::from(p.map(probability));
    cells.extend([
        by(shift.map(|shift| shift.estimate)),
        by(shift.and_then(|shift| shift.lower)),
        by(shift.and_then(|shift| shift.upper)),
        metric
            .margin
            .map(|margin| format!("±{}", shown(margin)))
            .into(),
        p(metric.adjusted.map(|p| p.worse)),
        p(metric.adjusted.map(|p| p.better)),
        p(metric.p_equivalent),
        Cell::Toned(metric.finding.to_string(), tone(metric.finding)),
    ]);
    cells
}

/// The widest bound on the miss probability among the runs without a miss, in per cent.
fn bound_without_misses(runs: &[RunFigures]) -> String {
    let without = runs.iter().filter(|run| run.misses.missed == 0);
    let widest = without
        .map(|run| run.miss_fraction_at_most)
        .fold(0.0, f64::max);
    let percent = (widest * 1e6).ceil() / 1e4;
    percent.to_string()
}

/// Microseconds, or per cent with as many digits as a miss in a million needs.
fn shown(metric: Metric, value: f64) -> String {
    match metric.is_time() {
        true => format!("{:.1}", value / 1e3),
        false => {
            let digits = format!("{:.4}", value * 100.0);
            digits
                .trim_end_matches('0')
                .trim_end_matches('.')
                .to_owned()
        }
    }
}

fn signed(shown: impl Fn(f64) -> String, value: f64) -> String {
    match value > 0.0 {
        true => format!("+{}", shown(value)),
        false => shown(value).replace('-', "−"),
    }
}

fn probability(p: f64) -> String {
    match p {
        ..0.0001 => "< 0.0001".to_owned(),
        ..0.1 => format!("{p:.4}"),
        _ => format!("{p:.2}"),
    }
}

fn sentence(condition: &ConditionComparison, metric: &MetricComparison) -> String {
    let by = |value: f64| match metric.metric.is_time() {
        true => wakepath_verdict::duration(value.round() as i64),
        false => fraction(value),
    };
    let shift = metric.shift.map_or(0.0, |shift| shift.estimate);
    let word = if shift > 0.0 { "worse" } else { "better" };
    let interval = metric
        .shift
        .and_then(|shift| Some((shift.lower?, shift.upper?)));
    let interval = interval.map_or(String::new(), |(lower, upper)| {
        let (low, high) = if shift > 0.0 {
            (lower, upper)
        } else {
            (-upper, -lower)
        };
        let sign = if low < 0.0 { "−" } else { "" };
        format!(" (90 %: {sign}{} to {})", by(low.abs()), by(high))
    });
    let p = metric
        .adjusted
        .map_or(1.0, |p| if shift > 0.0 { p.worse } else { p.better });
    format!(
        "{}: {} {word} by {}{interval}, p = {}",
        condition.name,
        metric.metric.word(),
        by(shift.abs()),
        probability(p)
    )
}

/// How a finding is meant.
pub(crate) fn tone(finding: Finding) -> Tone {
    match finding {
        Finding::Improved | Finding::Equivalent => Tone::Good,
        Finding::Regressed | Finding::Invalid => Tone::Bad,
        Finding::Inconclusive => Tone::Doubtful,
    }
}
