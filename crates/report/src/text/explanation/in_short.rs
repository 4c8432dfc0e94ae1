//! An explanation on one screen: the condition that matters most, its causes and one fix.

use super::super::cycle_lane::lane;
use super::super::cycle_text::long_line;
use super::{MOST_CAUSES, heading, interference, parts, ranked, title};
use std::collections::BTreeSet;
use std::fmt::Write;
use wakepath_explain::{AlikeFigures, ConditionExplanation, Explanation};
use wakepath_verdict::counted;

/// Causes shown in short if there is room.
const CAUSES_IN_SHORT: usize = 5;
/// Share of the lost time for which causes are shown in short, room or not, in percent.
const ACCOUNTED_PERCENT: u64 = 80;
/// A cause with this share of it is shown, too, in percent.
const SHOWN_PERCENT: u64 = 10;
/// Causes in the lane of the worst cycle.
const MOST_IN_LANE: usize = 3;
/// Another condition that overran so often is named with its first cause.
const OFTEN: u64 = 5;
/// Other conditions that are named in short.
const MOST_OTHERS: usize = 8;

/// One screen: the condition that matters most, or that of the policy that is wanted: its causes, its worst cycle and
/// one fix.
pub fn explanation_in_short(explanation: &Explanation, wanted: Option<&str>) -> String {
    let mut text = String::new();
    let conditions = &explanation.conditions;
    let fitting = conditions
        .iter()
        .filter(|of| wanted.is_none_or(|policy| policy == of.condition));
    let fitting: Vec<_> = fitting.collect();
    if explanation.events_lost > 0 {
        let _ = writeln!(
            text,
            "{} of the kernel's events were lost; the cycles they touch are unexplained",
            explanation.events_lost
        );
    }
    if !explanation.not_in_trace.is_empty() {
        let _ = writeln!(
            text,
            "not in the trace, so such causes can't be seen: {}",
            explanation.not_in_trace.join(", ")
        );
    }
    let Some((&first, others)) = fitting.split_first() else {
        let names = conditions.iter().map(|of| of.condition.as_str());
        let names: BTreeSet<&str> = names.collect();
        let names: Vec<&str> = names.into_iter().collect();
        let _ = writeln!(text, "nothing to explain; traced: {}", names.join(", "));
        return text;
    };
    heading(&mut text, explanation, first);
    if first.not_covered > 0 {
        let _ = writeln!(
            text,
            "  {} no events",
            counted(first.not_covered, "cycle has", "cycles have")
        );
    }
    if first.cycles == 0 {
        interference(&mut text, first);
    } else {
        text.push('\n');
        causes_in_short(&mut text, first, CAUSES_IN_SHORT);
    }
    text + &also_late(explanation, others, MOST_OTHERS)
}

/// Causes, one fix and the worst cycle of a condition: `most` causes, or more until most of its lost time is accounted
/// for. If `most` is 1, room is short and the worst cycle is left out.
fn causes_in_short(text: &mut String, of: &ConditionExplanation, most: usize) {
    let causes = most.min(CAUSES_IN_SHORT).max(accounting(of));
    ranked(text, of, causes.min(MOST_CAUSES), 1);
    if most <= 1 {
        return;
    }
    if let Some(cycle) = of.worst.first() {
        text.push_str(&lane(cycle, of.response_limit_ns, most.min(MOST_IN_LANE)));
    }
    if let Some(cycle) = of.longest.first().filter(|_| of.overran > 0) {
        let _ = writeln!(text, "\n  longest by its own work: {}", long_line(cycle));
    }
}

/// How many of its largest causes account for most of the time that a condition lost, with all that took much of it.
fn accounting(of: &ConditionExplanation) -> usize {
    let (whole, part) = parts(of);
    let are_large = |alike: &&AlikeFigures| part(alike) * 100 >= whole * SHOWN_PERCENT;
    let large = of.alike.iter().take_while(are_large).count();
    let mut accounted = 0;
    let needed = of.alike.iter().position(|alike| {
        accounted += part(alike);
        accounted * 100 >= whole * ACCOUNTED_PERCENT
    });
    needed.map_or(of.alike.len(), |last| large.max(last + 1))
}

/// The late threads of a watch, in short: the one that matters most, with at most `most` causes.
pub fn late_in_short(explanation: &Explanation, most: usize) -> String {
    let is_late = |of: &&ConditionExplanation| of.late > 0 || of.silent_segments > 0;
    let late: Vec<_> = explanation.conditions.iter().filter(is_late).collect();
    let Some((&first, others)) = late.split_first() else {
        return String::new();
    };
    let mut text = "\n".to_owned();
    heading(&mut text, explanation, first);
    if first.late > 0 {
        causes_in_short(&mut text, first, most);
    }
    text + &also_late(explanation, others, most)
}

/// The first cause of one that passed a limit or its period often enough to show one.
fn mostly(of: &ConditionExplanation) -> String {
    let (whole, part) = parts(of);
    let first = of.alike.first().filter(|_| of.overran >= OFTEN);
    first.map_or_else(String::new, |first| {
        let percent = part(first) * 100 / whole.max(1);
        format!(", {percent} % of their time by {}", first.name())
    })
}

/// Names the conditions with late cycles, at most so many.
fn also_late(explanation: &Explanation, others: &[&ConditionExplanation], most: usize) -> String {
    let late: Vec<String> = others
        .iter()
        .filter(|of| of.late > 0 || of.silent_segments > 0)
        .map(|of| format!("{} ({}{})", title(explanation, of), of.late, mostly(of)))
        .collect();
    if late.is_empty() {
        return String::new();
    }
    let shown = late.iter().take(most).cloned().collect::<Vec<_>>();
    let more = match late.len().saturating_sub(most) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("\nalso late (cycles): {}{more}\n", shown.join("; "))
}
