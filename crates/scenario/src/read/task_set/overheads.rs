//! Reads the costs of the kernel's own work from a task set's file.

use super::TIME;
use crate::document::Node;
use crate::error::Findings;
use crate::keys;
use crate::task_set::SetOverheads;
use crate::units::{parse_duration, parse_size};

/// The costs; each is `None` if the file does not give it.
pub(super) fn read_overheads(node: &Node<'_>, findings: &mut Findings) -> Option<SetOverheads> {
    let section = findings.keep(node.table("give a table such as { event = \"10 us\" }"))?;
    keys::check(&section, &keys::SET_OVERHEADS, findings);
    let mut complete = true;
    let mut cost = |key: &str| {
        let node = section.get(key)?;
        let read = findings.keep(node.quantity(TIME, parse_duration));
        complete &= read.is_some();
        read
    };
    let overheads = SetOverheads {
        event_ns: cost("event"),
        release_ns: cost("release"),
        scheduling_ns: cost("scheduling"),
        switch_ns: cost("switch"),
        ipi_ns: cost("ipi"),
        tick_ns: cost("tick"),
        tick_period_ns: cost("tick-period"),
        section_ns: cost("section"),
        cache_delay_ns: cost("cache-delay"),
        cache_delays: Vec::new(),
    };
    let cache_delays = match section.get("cache-delays") {
        None => Vec::new(),
        Some(node) => read_cache_delays(&node, findings)?,
    };
    let overheads = SetOverheads {
        cache_delays,
        ..overheads
    };
    complete.then_some(overheads)
}

/// Working sets in bytes and the time lost by each in nanoseconds, by size.
fn read_cache_delays(node: &Node<'_>, findings: &mut Findings) -> Option<Vec<(u64, u64)>> {
    let remedy = "give [{ working-set = \"64 KiB\", delay = \"20 us\" }]";
    let items = findings.keep(node.items(64, remedy))?;
    let mut found: Vec<(u64, u64)> = Vec::with_capacity(items.len());
    for item in &items {
        let section = findings.keep(item.table(remedy))?;
        keys::check(&section, &keys::SET_CACHE_DELAY, findings);
        let size = section.need("working-set", remedy);
        let size = findings.keep(size.and_then(|node| node.quantity(remedy, parse_size)))?;
        let delay = section.need("delay", TIME);
        let delay = findings.keep(delay.and_then(|node| node.quantity(TIME, parse_duration)))?;
        if let Some((bytes, ns)) = found.last()
            && (size <= *bytes || delay < *ns)
        {
            let problem = "does not go up from the one before it";
            let remedy = "give working sets that grow, with delays that don't fall";
            findings.push(item.refuse(problem, remedy));
            return None;
        }
        found.push((size, delay));
    }
    Some(found)
}
