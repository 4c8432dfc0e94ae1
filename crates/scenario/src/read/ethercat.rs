//! An EtherCAT bus, of a load's or of a loop's.

use super::criterion::share;
use crate::document::{Node, Section};
use crate::error::{Finding, Findings};
use crate::keys::MOST_DEVICES;
use crate::units::parse_duration;
use crate::{EthercatBus, SimulatedRing};
use wakepath_timeline::is_unprintable;

const OF_SIMULATED: [&str; 4] = ["devices", "jitter", "loss", "stops-after"];
/// The kernel's limit for an interface's name.
const LONGEST_NAME: usize = 15;
const LONGEST_JITTER_NS: u64 = 1_000_000_000;

pub(super) fn read_bus(section: &Section<'_>, findings: &mut Findings) -> Option<EthercatBus> {
    if let Some(node) = section.get("interface") {
        let simulated = OF_SIMULATED.iter().find(|key| section.get(key).is_some());
        if let Some(key) = simulated {
            let remedy = "leave it out, or `interface`";
            findings.push(section.refuse_key(key, "belongs to simulated devices", remedy));
            return None;
        }
        return findings
            .keep(read_interface(&node))
            .map(EthercatBus::Interface);
    }
    let default = SimulatedRing::default();
    let devices = findings.optional(section.get("devices"), default.devices, |node| {
        Ok(node.integer(1..=MOST_DEVICES)? as u16)
    });
    let jitter_ns = findings.optional(section.get("jitter"), default.jitter_ns, |node| {
        let remedy = "give a time up to 1 s, such as \"200 us\"";
        match node.quantity(remedy, parse_duration)? {
            ns @ ..=LONGEST_JITTER_NS => Ok(ns),
            _ => Err(node.refuse("is too long", remedy)),
        }
    });
    let loss = findings.optional(section.get("loss"), default.loss, |node| {
        share(node, "is not a share of frames to lose")
    });
    let stops_after_ns = findings.optional(section.get("stops-after"), None, |node| {
        let remedy = "give a time such as \"10 s\"";
        node.quantity(remedy, parse_duration).map(Some)
    });
    Some(EthercatBus::Simulated(SimulatedRing {
        devices: devices?,
        jitter_ns: jitter_ns?,
        loss: loss?,
        stops_after_ns: stops_after_ns?,
    }))
}

fn read_interface(node: &Node<'_>) -> Result<String, Finding> {
    let remedy = "give a network interface such as \"eth1\"";
    let name = node.text(remedy)?;
    let is_one = (1..=LONGEST_NAME).contains(&name.len())
        && !name.contains(|one: char| one == '/' || one.is_whitespace() || is_unprintable(one));
    match is_one {
        true => Ok(name.to_owned()),
        false => Err(node.refuse("is not a name of an interface", remedy)),
    }
}
