//! Names of the conditions that an explanation lists.

use wakepath_explain::{ConditionExplanation, Explanation};

/// What distinguishes a condition from the explanation's others: its thread, and its policy or program and its phase
/// where these differ. A loop that is alone has its policy and phase for a name.
pub(crate) fn title(explanation: &Explanation, of: &ConditionExplanation) -> String {
    let thread = match of.thread.as_str() {
        "loop" => "",
        name => name,
    };
    let shown = |name: fn(&ConditionExplanation) -> &str| {
        let mut all = explanation.conditions.iter();
        let is_shown = thread.is_empty() || all.any(|other| name(other) != name(of));
        is_shown.then(|| name(of))
    };
    let names = [shown(|of| &of.condition), shown(|of| &of.phase)];
    let names = names.into_iter().flatten().chain([thread]);
    let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    names.join(", ")
}
