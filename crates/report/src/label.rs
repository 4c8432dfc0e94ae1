//! Names of conditions.

use wakepath_timeline::condition_label;
use wakepath_verdict::ConditionName;

/// The policy, and the task where tasks are judged one by one.
pub(crate) fn policy(name: &ConditionName) -> String {
    condition_label(name.policy.as_ref(), name.task.as_deref())
}
