//! Label of a condition: its policy, its task, or both.
//!
//! The policy's own name is its [`Display`](std::fmt::Display).

use crate::{Policy, one_line};

/// `FIFO 80`; with its task if tasks are judged individually, `FIFO 80, control`; `task set` if
/// every task has its own policy and all are judged together.
pub fn condition_label(policy: Option<&Policy>, task: Option<&str>) -> String {
    let policy = policy.map(Policy::to_string);
    match (policy, task.map(one_line)) {
        (Some(policy), Some(task)) => format!("{policy}, {task}"),
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => "task set".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_called_after_its_policy_and_its_task() {
        let policy = Policy::Fifo { priority: 80 };
        let label = |policy, task| condition_label(policy, task);
        assert_eq!(label(Some(&policy), None), "FIFO 80");
        assert_eq!(label(Some(&policy), Some("control")), "FIFO 80, control");
        assert_eq!(label(None, Some("cpu1")), "cpu1");
        assert_eq!(label(None, None), "task set");
        assert_eq!(label(None, Some("a\nb")), "a\u{fffd}b");
    }
}
