//! Faults that only show when several keys are held against each other.

use super::visitor::Keys;
use crate::document::Section;
use crate::error::Findings;
use crate::{Scenario, bandwidth, litmus};
use wakepath_timeline::duration::exact;
use wakepath_timeline::{Policy, WakeUp};

pub(super) fn declare(keys: &mut Keys<'_>, scenario: &Scenario) {
    let known = keys.context.known;
    let (Some(known), Some((root, findings))) = (known, keys.reading()) else {
        return;
    };
    refuse_slow_flights(root, scenario, findings);
    refuse_what_is_linuxs(root, scenario, findings);
    let (policies, tasks) = (&scenario.policies, &scenario.tasks);
    bandwidth::check(root, policies, tasks, known, findings);
    litmus::check_partitions(root, policies, tasks, known, findings);
}

/// A vehicle that has no command for longer than this, in nanoseconds, is lost: no loop as slow
/// flies one.
const LONGEST_FLIGHT_PERIOD_NS: u64 = 1_000_000_000;

/// A loop that flies, in its cycles or afterwards, must be able to.
fn refuse_slow_flights(root: &Section<'_>, scenario: &Scenario, findings: &mut Findings) {
    let slow = || {
        let tasks = scenario.tasks.iter();
        tasks.filter(|task| task.period_ns > LONGEST_FLIGHT_PERIOD_NS)
    };
    let Some(slowest) = slow().max_by_key(|task| task.period_ns) else {
        return;
    };
    let own = scenario
        .phases
        .iter()
        .filter_map(|phase| phase.work.as_ref());
    let mut works = slow().map(|task| &task.work).chain(own);
    let flies = works.any(|work| work.flight().is_some());
    let key = match (flies, root.get("flight")) {
        (true, _) => ["work", "phases", "tasks"]
            .into_iter()
            .find(|key| root.get(key).is_some()),
        (false, Some(_)) => Some("flight"),
        (false, None) => None,
    };
    if let Some(key) = key {
        let problem = format!(
            "flies a vehicle, at a period of {}: without a command for 1 s it is lost",
            exact(slowest.period_ns)
        );
        findings.push(root.refuse_key(key, problem, "give a period of at most 1 s"));
    }
}

/// Refuses kinds of wake-ups and accounting that only Linux has, for a loop on a core.
fn refuse_what_is_linuxs(root: &Section<'_>, scenario: &Scenario, findings: &mut Findings) {
    let own = scenario.tasks.iter().filter_map(|task| task.policy);
    let mut policies = scenario.policies.iter().copied().chain(own);
    let Some(policy) = policies.find(Policy::is_of_a_co_kernel) else {
        return;
    };
    if scenario.wake_up == WakeUp::Futex {
        let problem = format!("is Linux's, and a loop under {policy} leaves its core for it");
        let remedy = "give \"clock-nanosleep\" or \"timerfd\", which are the core's own there";
        findings.push(root.refuse_key("wake-up", problem, remedy));
    }
    let accounting = scenario.accounting;
    let words = [
        ("cpu-time", accounting.cpu_time),
        ("switches", accounting.switches),
    ];
    let words: Vec<&str> = words
        .into_iter()
        .filter(|(_, on)| *on)
        .map(|(word, _)| word)
        .collect();
    if !words.is_empty() {
        let words = words.join(" and ");
        let problem = format!(
            "asks Linux for {words} in every cycle, and a loop under {policy} leaves its core for it"
        );
        let remedy = format!("take {words} out, or measure {}", policy.in_linux());
        findings.push(root.refuse_key("accounting", problem, remedy));
    }
}
