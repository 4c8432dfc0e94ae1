//! Names of the conditions that an explanation lists.

use wakepath_explain::{ConditionExplanation, Explanation};

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
