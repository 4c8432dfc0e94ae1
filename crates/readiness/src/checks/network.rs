//! What network cards do with packets: held back for fewer interrupts, steered to CPUs.

use super::interrupts::{alone, listed};
use crate::{Finding, Inspection};
use wakepath_machine::Reading;
use wakepath_timeline::CpuSet;

pub(super) fn coalescing(seen: &Inspection) -> Finding {
    let folder = "/sys/class/net";
    let names = seen.root.names(folder);
    let Some(names) = names.known() else {
        return Finding::unread(&names);
    };
    let cards: Vec<String> = names
        .iter()
        .filter(|name| seen.root.exists(&format!("{folder}/{name}/device")))
        .cloned()
        .collect();
    if cards.is_empty() {
        Finding::does_not_apply("no network card", folder)
    } else {
        Finding::unknown(
            format!("ask: ethtool -c {}", cards.join("; ethtool -c ")),
            folder,
        )
    }
}

pub(super) fn steering(seen: &Inspection) -> Finding {
    if let Some(finding) = alone(seen) {
        return finding;
    }
    let folder = "/sys/class/net";
    let names = seen.root.names(folder);
    if names.known().is_none() {
        return Finding::unread(&names);
    }
    let mut here = Vec::new();
    for queue in packet_queues(seen) {
        match &queue.cpus {
            Reading::Known { value, .. } if !seen.on_loop(value).is_empty() => {
                here.push(queue.name);
            }
            Reading::Known { .. } | Reading::Absent { .. } => {}
            // A card with one queue answers ENOENT on reading xps_cpus.
            Reading::Unreadable { .. } if queue.name.contains("/tx-") => {}
            other => return Finding::unread(other),
        }
    }
    if here.is_empty() {
        Finding::good("none to the loop's CPU", folder)
    } else {
        Finding::bad(format!("to the loop's CPU: {}", listed(&here)), folder)
    }
}

/// A queue of a network card, and the CPUs that its packets are steered to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PacketQueue {
    /// Card and queue: `eth0/rx-0`.
    pub name: String,
    /// As read from `rps_cpus` or `xps_cpus`.
    pub cpus: Reading<CpuSet>,
}

/// The queues of all network cards.
pub fn packet_queues(seen: &Inspection) -> Vec<PacketQueue> {
    let folder = "/sys/class/net";
    let cards = seen.root.names(folder);
    let mut found = Vec::new();
    for card in cards.known().into_iter().flatten() {
        let queues = seen.root.names(&format!("{folder}/{card}/queues"));
        for queue in queues.known().into_iter().flatten() {
            let file = if queue.starts_with("rx-") {
                "rps_cpus"
            } else {
                "xps_cpus"
            };
            let path = format!("{folder}/{card}/queues/{queue}/{file}");
            found.push(PacketQueue {
                name: format!("{card}/{queue}"),
                cpus: seen.root.parsed(&path, |text| Ok(CpuSet::of_mask(text)?)),
            });
        }
    }
    found
}
