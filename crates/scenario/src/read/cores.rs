//! Settings that a loop under a real-time core's policy can't have.
//!
//! They would make it leave the core for Linux in each cycle.

use crate::document::Section;
use crate::error::Findings;
use crate::model::Accounting;
use wakepath_timeline::{Policy, WakeUp};

/// Refuses kinds of wake-ups and accounting that only Linux has, for a loop on a core.
pub(super) fn refuse_what_is_linuxs(
    root: &Section<'_>,
    mut policies: impl Iterator<Item = Policy>,
    wake_up: Option<WakeUp>,
    accounting: Option<Accounting>,
    findings: &mut Findings,
) {
    let Some(policy) = policies.find(Policy::is_of_a_co_kernel) else {
        return;
    };
    if wake_up == Some(WakeUp::Futex) {
        let problem = format!("is Linux's, and a loop under {policy} leaves its core for it");
        let remedy = "give \"clock-nanosleep\" or \"timerfd\", which are the core's own there";
        findings.push(root.refuse_key("wake-up", problem, remedy));
    }
    let asked = accounting.unwrap_or_default();
    let words = [("cpu-time", asked.cpu_time), ("switches", asked.switches)];
    let words: Vec<&str> = words.into_iter().filter(|of| of.1).map(|of| of.0).collect();
    if !words.is_empty() {
        let words = words.join(" and ");
        let problem = format!(
            "asks Linux for {words} in every cycle, and a loop under {policy} leaves its core for it"
        );
        let remedy = format!("take {words} out, or measure {}", policy.in_linux());
        findings.push(root.refuse_key("accounting", problem, remedy));
    }
}
