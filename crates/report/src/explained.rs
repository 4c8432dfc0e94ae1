//! Names of the conditions that an explanation lists, and how many of their cycles were late.

use wakepath_explain::{ConditionExplanation, Explanation};
use wakepath_timeline::duration::three_digits;

/// A condition's policy or program, its phase if the explanation has several, and its thread. A loop that is alone has its
/// policy and phase for a name, a program that is named as its only thread just that.
pub(crate) fn title(explanation: &Explanation, of: &ConditionExplanation) -> String {
    let thread = match of.thread.as_str() {
        "loop" => "",
        name => name,
    };
    let mut all = explanation.conditions.iter();
    let has_phases = thread.is_empty() || all.any(|other| other.phase != of.phase);
    let phase = has_phases.then_some(of.phase.as_str());
    let names = [Some(of.condition.as_str()), phase, Some(thread)];
    let names = names.into_iter().flatten().filter(|name| !name.is_empty());
    let mut names: Vec<&str> = names.collect();
    names.dedup();
    names.join(", ")
}

/// How many cycles were late, and by which limits: `9 of 999 cycles later than 16.1 ms (the criterion), or done later than
/// 10.0 ms (7)`.
pub(crate) fn late(of: &ConditionExplanation) -> String {
    let time = |ns: u64| three_digits(ns.cast_signed());
    let overran = match of.overran {
        0 => String::new(),
        overran => format!(
            ", or done later than {} ({overran})",
            time(of.response_limit_ns)
        ),
    };
    format!(
        "{} of {} cycles later than {} ({}){overran}",
        of.late,
        of.cycles,
        time(of.threshold_ns),
        of.threshold_from,
    )
}
