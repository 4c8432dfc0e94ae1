//! What conditions and counts are called on the page.

use wakepath_verdict::ConditionName;

/// The policy, and the task where tasks are judged one by one.
pub(crate) fn policy(name: &ConditionName) -> String {
    let policy = name.policy.map(|policy| policy.to_string());
    let parts: Vec<String> = policy.into_iter().chain(name.task.clone()).collect();
    match parts.is_empty() {
        true => "task set".into(),
        false => parts.join(", "),
    }
}
