//! An explanation as text: causes ranked, the worst cycles in a line each, the path of a usual and of a
//! rare cycle. A single cycle is in `cycle_text`.

mod in_short;

use super::cycle_text::{line, long_line};
use crate::explained::{late, title};
pub use in_short::{explanation_in_short, late_in_short};
use std::collections::BTreeSet;
use std::fmt::Write;
use wakepath_explain::{
    AlikeFigures, CauseFigures, ConditionExplanation, Explanation, WaterfallFigures,
};
use wakepath_timeline::duration::three_digits;
use wakepath_timeline::number::percent;
use wakepath_timeline::one_line;
use wakepath_verdict::counted;

/// Causes shown of a condition; JSON has all.
const MOST_CAUSES: usize = 8;
/// Names shown of each kind of what else ran; JSON has more.
const MOST_NAMES: usize = 4;

/// The whole explanation. `worst`: how many of the worst cycles of each condition.
pub fn explanation_text(explanation: &Explanation, worst: usize) -> String {
    let mut text = String::new();
    let lost = match explanation.events_lost {
        0 => "none lost".into(),
        lost => format!("{lost} lost: the cycles they touch are unexplained"),
    };
    let _ = writeln!(text, "{} kernel events, {lost}", explanation.events);
    if explanation.switches_untold > 0 {
        let _ = writeln!(
            text,
            "{} not recorded by this kernel",
            counted(explanation.switches_untold, "switch was", "switches were")
        );
    }
    let switch_ins = explanation.untold_switch_ins;
    if switch_ins.count > 0 {
        let _ = writeln!(
            text,
            "{} an explained thread its CPU, at a time that is uncertain by up to {}",
            counted(switch_ins.count, "of them gave", "of them each gave"),
            time(switch_ins.uncertain_ns)
        );
    }
    if explanation.own_by_name {
        let _ = writeln!(
            text,
            "this run does not record which processes were wakepath's: every process named wakepath is \
             counted as one"
        );
    }
    if !explanation.not_in_trace.is_empty() {
        let _ = writeln!(
            text,
            "not in the trace, so such causes can't be seen: {}",
            explanation.not_in_trace.join(", ")
        );
    }
    for condition in &explanation.conditions {
        text.push('\n');
        of_condition(&mut text, explanation, condition, worst);
    }
    text
}

/// Causes and worst cycles alone, of the threads that were late.
pub fn late_text(explanation: &Explanation, worst: usize) -> String {
    let mut text = String::new();
    let is_told = |of: &&ConditionExplanation| of.late > 0 || of.silent_segments > 0;
    for condition in explanation.conditions.iter().filter(is_told) {
        text.push('\n');
        heading(&mut text, explanation, condition);
        if condition.late == 0 {
            continue;
        }
        causes(&mut text, condition);
        worst_cycles(&mut text, condition, worst);
    }
    text
}

fn of_condition(
    text: &mut String,
    explanation: &Explanation,
    of: &ConditionExplanation,
    worst: usize,
) {
    heading(text, explanation, of);
    if of.not_covered > 0 {
        let more = if of.cycles == 0 { "" } else { "more " };
        let _ = writeln!(
            text,
            "  {} no events: their windows were not kept, or were overwritten",
            counted(
                of.not_covered,
                &format!("{more}cycle has"),
                &format!("{more}cycles have")
            )
        );
    }
    if of.cycles == 0 {
        interference(text, of);
        return;
    }
    let woken: Vec<String> = of
        .woken
        .iter()
        .map(|(word, count)| format!("{} {count}", word.replace('-', " ")))
        .collect();
    let _ = writeln!(text, "  woken: {}", woken.join(", "));
    text.push('\n');
    causes(text, of);
    inflation(text, of);
    interference(text, of);
    worst_cycles(text, of, worst);
    waterfall(text, "median", of.median.as_ref());
    waterfall(text, "99.9th percentile", of.p999.as_ref());
}

/// Which thread, and how many of its cycles were late.
fn heading(text: &mut String, explanation: &Explanation, of: &ConditionExplanation) {
    let _ = writeln!(text, "{}", title(explanation, of));
    for why in &of.doubts {
        let _ = writeln!(text, "  INVALID: {}", one_line(why));
    }
    if of.silent_segments > 0 {
        let _ = writeln!(
            text,
            "  the loop did not run once in the judged time of {}: it never came round to a due time",
            counted(of.silent_segments, "traced segment", "traced segments")
        );
    }
    if of.cycles == 0 {
        let _ = writeln!(text, "  no cycle with events");
        return;
    }
    let share = |part: u64, whole: u64| match whole {
        0 => "–".into(),
        whole => percent(part as f64 / whole as f64),
    };
    let _ = write!(text, "  {}", late(of));
    let _ = match of.late {
        0 => writeln!(
            text,
            "; {} of the time lost is explained",
            share(of.all_explained_ns, of.all_ns)
        ),
        _ => writeln!(
            text,
            "; {} of the time they lost is explained",
            share(of.late_explained_ns, of.late_ns)
        ),
    };
}

fn worst_cycles(text: &mut String, of: &ConditionExplanation, worst: usize) {
    if worst == 0 {
        return;
    }
    let _ = writeln!(text, "\n  worst cycles");
    for cycle in of.worst.iter().take(worst) {
        let _ = writeln!(text, "    {}", line(cycle));
    }
    if of.longest.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n  longest cycles, by their own work");
    for cycle in of.longest.iter().take(worst) {
        let _ = writeln!(text, "    {}", long_line(cycle));
    }
}

/// The time that a condition lost, and how much of it a cause took: in late cycles, or in all if none was late.
fn parts(of: &ConditionExplanation) -> (u64, fn(&AlikeFigures) -> u64) {
    if of.late > 0 {
        (of.late_ns, |of| of.late_ns)
    } else {
        (of.all_ns, |of| of.total_ns)
    }
}

fn causes(text: &mut String, of: &ConditionExplanation) {
    ranked(text, of, MOST_CAUSES, usize::MAX);
}

/// Causes and fixes listed at most; causes that one fix cures are one, as in the answer about a run.
fn ranked(text: &mut String, of: &ConditionExplanation, most: usize, fixes: usize) {
    let late = of.late > 0;
    let (whole, part) = parts(of);
    // Of the same cycles as the total, and so never more than it.
    let worst = |of: &AlikeFigures| if late { of.late_worst_ns } else { of.worst_ns };
    let shown: Vec<&AlikeFigures> = of.alike.iter().filter(|of| part(of) > 0).collect();
    let shown = &shown[..shown.len().min(most)];
    let head = if late { "late cycles" } else { "cycles" };
    let _ = writeln!(
        text,
        "  {:>11}  {:>7}  {:>9}  {:>6}  cause",
        head, "total", "worst", "share"
    );
    for alike in shown {
        let cycles = if late {
            alike.late_cycles
        } else {
            alike.cycles
        };
        let least = if alike.are_least() { "≥ " } else { "" };
        let _ = writeln!(
            text,
            "  {:>11}  {:>7}  {:>9}  {:>4.1} %  {}",
            format!("{least}{cycles}"),
            time(part(alike)),
            format!("{least}{}", time(worst(alike))),
            100.0 * part(alike) as f64 / whole.max(1) as f64,
            alike.name(),
        );
    }
    let listed = of.causes.iter();
    let listed = listed.map(|of| if late { of.late_ns } else { of.total_ns });
    let (mut more, mut rest) = listed
        .filter(|ns| *ns > 0)
        .fold((0, 0), |(more, rest), ns| (more + 1, rest + ns));
    if let Some(unlisted) = &of.causes_rest {
        let ns = if late {
            unlisted.late_ns
        } else {
            unlisted.total_ns
        };
        rest += ns;
        // Those beyond the list may have no part in what is shown.
        more += if ns > 0 { unlisted.causes } else { 0 };
    }
    more = more.saturating_sub(shown.iter().map(|alike| alike.causes).sum());
    rest = rest.saturating_sub(shown.iter().map(|alike| part(alike)).sum());
    if more > 0 && rest > 0 {
        let share = 100.0 * rest as f64 / whole.max(1) as f64;
        let _ = writeln!(
            text,
            "  {:>11}  {:>7}  {:>9}  {share:>4.1} %  {more} more",
            "",
            time(rest),
            ""
        );
    }
    // A remedy is worth its line where the cause has a part that can be seen.
    let counts = |alike: &&&AlikeFigures| late && part(alike) * 20 >= whole;
    let cured = shown.iter().filter(counts);
    let cured = cured.filter_map(|alike| Some((&alike.cause, alike.remedy.as_deref()?)));
    // Two large waits may have one fix.
    let mut known = BTreeSet::new();
    let cured = cured.filter(|(_, remedy)| known.insert(*remedy));
    for (cause, remedy) in cured.take(fixes) {
        let _ = writeln!(text, "  → {cause}: {remedy}");
    }
}

/// Causes that stretched the work by more than a hundredth.
fn inflation(text: &mut String, of: &ConditionExplanation) {
    let counts = |cause: &&CauseFigures| cause.total_ns * 100 >= of.execution_ns.max(1);
    let shown: Vec<&CauseFigures> = of.inflation.iter().filter(counts).collect();
    if shown.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "\n  in the loop's own work, {} in all:",
        time(of.execution_ns)
    );
    for cause in shown.iter().take(MOST_CAUSES) {
        let _ = writeln!(
            text,
            "  {:>11}  {:>7}  {:>7}  {:>4.1} %  {}",
            cause.cycles,
            time(cause.total_ns),
            time(cause.worst_ns),
            100.0 * cause.total_ns as f64 / of.execution_ns.max(1) as f64,
            cause.cause,
        );
    }
}

/// What else ran on the loop's CPUs, in cycles and between them.
fn interference(text: &mut String, of: &ConditionExplanation) {
    let Some(found) = &of.interference else {
        return;
    };
    let cpus: Vec<String> = found.cpus.iter().map(u16::to_string).collect();
    let _ = writeln!(
        text,
        "\n  what else ran on CPU {}, in {}:",
        cpus.join(", "),
        time(found.observed_ns)
    );
    for all in &found.kinds {
        let _ = writeln!(
            text,
            "  {:>11}  {:>7}  {}: {}",
            all.count,
            time(all.total_ns),
            all.kind.words(),
            found.names(all, MOST_NAMES)
        );
    }
    if found.kinds.is_empty() {
        let _ = writeln!(text, "  nothing");
    }
}

fn waterfall(text: &mut String, name: &str, figures: Option<&WaterfallFigures>) {
    let Some(figures) = figures else { return };
    let _ = writeln!(
        text,
        "\n  where the cycles around the {name} spend their time: {}, averaged over {}",
        mean(figures.mean_ns),
        counted(figures.cycles, "cycle", "cycles")
    );
    let whole = figures.mean_ns.max(1.0);
    let mut rest = 0.0;
    let mut before = 0.0;
    for part in &figures.parts {
        let share = part.mean_ns / whole;
        // Parts too small for a bar of forty columns are put together.
        if share < 0.01 {
            rest += part.mean_ns;
            before += part.mean_ns;
            continue;
        }
        let at = (40.0 * before / whole).round() as usize;
        let width = ((40.0 * share).round() as usize).max(1);
        let _ = writeln!(
            text,
            "    {:>10}  {:<40}  {}: {}",
            mean(part.mean_ns),
            format!(
                "{}{}",
                " ".repeat(at),
                "█".repeat(width.min(40 - at.min(39)))
            ),
            part.stretch,
            part.cause
        );
        before += part.mean_ns;
    }
    if rest > 0.0 {
        let _ = writeln!(text, "    {:>10}  {:<40}  the rest", mean(rest), "");
    }
}

/// Nanoseconds in the unit that fits.
pub(super) fn time(ns: u64) -> String {
    three_digits(i64::try_from(ns).unwrap_or(i64::MAX))
}

fn mean(ns: f64) -> String {
    three_digits(ns.round() as i64)
}

#[cfg(test)]
mod tests;
