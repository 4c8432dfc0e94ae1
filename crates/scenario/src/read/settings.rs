//! Reads how the loop runs: repetitions, warm-up, waiting, slack, accounting.

use super::choice;
use crate::document::{Node, Section};
use crate::error::{Finding, Findings};
use crate::units::parse_duration;
use crate::{Accounting, PluginSwitch, TimerSlack, keys};
use wakepath_timeline::{Overrun, WakeUp};

const SECOND_NS: u64 = 1_000_000_000;

/// Default duration of a core's own measurement: the shortest possible, in nanoseconds.
pub(super) const CORE_LATENCY_NS: u64 = SECOND_NS;

pub(super) fn read_timer_slack(node: &Node<'_>) -> Result<TimerSlack, Finding> {
    let remedy = "give \"leave\" or a time such as \"1 ns\"";
    if node.as_text() == Some("leave") {
        return Ok(TimerSlack::Leave);
    }
    match node.quantity(remedy, parse_duration)? {
        0 => Err(node.refuse("would restore the default slack", "give at least \"1 ns\"")),
        // The system call takes a C long, which has 32 bits on small boards.
        ns if ns > u64::from(u32::MAX) => Err(node.refuse(
            "is longer than the kernel takes everywhere",
            "give at most \"4 s\"",
        )),
        ns => Ok(TimerSlack::Set(ns)),
    }
}

pub(super) fn read_cpu_dma_latency(node: &Node<'_>) -> Result<Option<u32>, Finding> {
    let remedy = "give \"leave\" or whole microseconds such as \"0 us\"";
    if node.as_text() == Some("leave") {
        return Ok(None);
    }
    let ns = node.quantity(remedy, parse_duration)?;
    if ns % 1_000 != 0 {
        return Err(node.refuse("is not a whole number of microseconds", remedy));
    }
    // The kernel's own "no bound" is 2000 s.
    match u32::try_from(ns / 1_000) {
        Ok(us @ ..2_000_000_000) => Ok(Some(us)),
        _ => Err(node.refuse("is not a bound", "give less than \"2000 s\" or \"leave\"")),
    }
}

pub(super) fn read_accounting(root: &Section<'_>, findings: &mut Findings) -> Option<Accounting> {
    let Some(node) = root.get("accounting") else {
        return Some(Accounting::default());
    };
    let remedy = "give a table such as { cpu-time = true }";
    let section = findings.keep(node.table(remedy))?;
    keys::check(&section, &keys::ACCOUNTING, findings);
    let cpu_time = findings.optional(section.get("cpu-time"), false, Node::boolean);
    let switches = findings.optional(section.get("switches"), false, Node::boolean);
    let counters = findings.optional(section.get("counters"), false, Node::boolean);
    Some(Accounting {
        cpu_time: cpu_time?,
        switches: switches?,
        counters: counters?,
    })
}

pub(super) fn read_warm_up(node: &Node<'_>) -> Result<u64, Finding> {
    match node.quantity("give a time such as \"500 ms\"", parse_duration)? {
        ns @ 0..=keys::LONGEST_WARM_UP_NS => Ok(ns),
        _ => Err(node.refuse("is longer than an hour", "give at most \"1 h\"")),
    }
}

pub(super) fn read_wake_up(node: &Node<'_>) -> Result<WakeUp, Finding> {
    choice(
        node,
        &[
            ("clock-nanosleep", WakeUp::ClockNanosleep),
            ("timerfd", WakeUp::Timerfd),
            ("futex", WakeUp::Futex),
        ],
    )
}

pub(super) fn read_litmus_plugin(node: &Node<'_>) -> Result<PluginSwitch, Finding> {
    let kinds = [
        ("leave", PluginSwitch::Leave),
        ("switch", PluginSwitch::Switch),
    ];
    choice(node, &kinds)
}

pub(super) fn read_core_latency(node: &Node<'_>) -> Result<Option<u64>, Finding> {
    let remedy = "give \"none\" or whole seconds from \"1 s\" to \"60 s\"";
    if node.as_text() == Some("none") {
        return Ok(None);
    }
    match node.quantity(remedy, parse_duration)? {
        ns if ns % SECOND_NS != 0 => Err(node.refuse("is not a whole number of seconds", remedy)),
        ns if !(keys::CORE_LATENCY_NS.0..=keys::CORE_LATENCY_NS.1).contains(&ns) => {
            Err(node.refuse("is out of range", remedy))
        }
        ns => Ok(Some(ns)),
    }
}

pub(super) fn read_overrun(node: &Node<'_>) -> Result<Overrun, Finding> {
    choice(
        node,
        &[
            ("skip", Overrun::Skip),
            ("catch-up", Overrun::CatchUp),
            ("stop", Overrun::Stop),
        ],
    )
}
