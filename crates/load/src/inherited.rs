//! Resets settings that a load would inherit from the measuring process.
//!
//! Its policy, nice value, affinity, timer slack and signals. Memory locks do not survive exec.

use crate::kernel;
use wakepath_rt::affinity;

/// The kernel's default timer slack.
const DEFAULT_TIMER_SLACK_NS: u64 = 50_000;

/// Makes the calling process an ordinary one; its children inherit that. Returns the settings that
/// could not be reset, as notes for the proof.
pub(crate) fn make_ordinary() -> Vec<String> {
    let mut notes = Vec::new();
    kernel::reset_signals();
    if let Err(error) = kernel::set_ordinary_policy() {
        notes.push(format!(
            "the loads keep the inherited scheduling policy: {error}"
        ));
    }
    // Going from a positive nice value back to 0 needs a privilege.
    if let Err(error) = rustix::process::setpriority_process(None, 0) {
        let nice = rustix::process::getpriority_process(None).unwrap_or_default();
        if nice != 0 {
            notes.push(format!("the loads run at nice {nice}, not 0: {error}"));
        }
    }
    let slack = std::num::NonZeroU64::new(DEFAULT_TIMER_SLACK_NS);
    if let Err(error) = rustix::thread::set_current_timer_slack(slack) {
        notes.push(format!("the loads keep the inherited timer slack: {error}"));
    }
    if let Err(error) = affinity::widen() {
        notes.push(format!("the loads keep the inherited affinity: {error}"));
    }
    // Raising the score needs no privilege: short of memory, the kernel shall take a load first.
    if let Err(error) = std::fs::write("/proc/self/oom_score_adj", "1000") {
        notes.push(format!(
            "the kernel might not kill the loads first when memory runs out: {error}"
        ));
    }
    notes
}
