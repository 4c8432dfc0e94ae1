//! An EtherCAT bus, of a load's or of a loop's.

use super::form::{Share, Text, time, whole};
use super::shape::Shape;
use super::visitor::Keys;
use crate::units::Complaint;
use crate::{EthercatBus, SimulatedRing};
use wakepath_timeline::is_unprintable;

/// Most devices of one ring.
const MOST_DEVICES: i64 = 64;
const LONGEST_JITTER_NS: u64 = 1_000_000_000;

pub(crate) fn declare(keys: &mut Keys<'_>, bus: &mut EthercatBus) {
    let default = SimulatedRing::default();
    let (mut interface, ring) = match &*bus {
        EthercatBus::Interface(name) => (Some(name.clone()), None),
        EthercatBus::Simulated(ring) => (None, Some(ring)),
    };
    let mut devices = ring.map(|ring| ring.devices);
    let mut jitter_ns = ring.map(|ring| ring.jitter_ns);
    let mut loss = ring.map(|ring| ring.loss);
    let mut stops_after_ns = ring.and_then(|ring| ring.stops_after_ns);
    keys.optional(
        "interface",
        Text {
            shape: || Shape::Fitting(r"^[^/\s]{1,15}$", "name of an interface"),
            remedy: INTERFACE,
            parse: interface_name,
        },
        "simulated devices",
        "Network interface with EtherCAT devices on it. They are brought into operation with all outputs \
         zero. Not together with the keys of simulated devices.",
        &mut interface,
    );
    keys.or_nothing(
        "devices",
        whole(1, MOST_DEVICES),
        default.devices,
        "Number of simulated devices.",
        &mut devices,
    );
    keys.or_nothing(
        "jitter",
        time("200 us").within(0, LONGEST_JITTER_NS),
        default.jitter_ns,
        "Maximum random delay of each answer in the simulated ring, up to 1 s.",
        &mut jitter_ns,
    );
    keys.or_nothing(
        "loss",
        Share { above_0: false },
        default.loss,
        "Share of frames that the simulated ring loses at random, such as \"0.1 %\".",
        &mut loss,
    );
    keys.optional(
        "stops-after",
        time("10 s"),
        "never",
        "Time in operation after which the last simulated device stops processing frames.",
        &mut stops_after_ns,
    );
    keys.not_both(&SIMULATED.map(|key| ("interface", key)));
    let Some(name) = interface else {
        *bus = EthercatBus::Simulated(SimulatedRing {
            devices: devices.unwrap_or(default.devices),
            jitter_ns: jitter_ns.unwrap_or(default.jitter_ns),
            loss: loss.unwrap_or(default.loss),
            stops_after_ns,
        });
        return;
    };
    if let Some(key) = SIMULATED.iter().find(|key| keys.given(key).is_some()) {
        let remedy = "leave it out, or `interface`";
        keys.refuse_key(key, "belongs to simulated devices", remedy);
    }
    *bus = EthercatBus::Interface(name);
}

const SIMULATED: [&str; 4] = ["devices", "jitter", "loss", "stops-after"];

const INTERFACE: &str = "give a network interface such as \"eth1\"";

fn interface_name(text: &str) -> Result<String, Complaint> {
    // The kernel's limit.
    let is_one = (1..=15).contains(&text.len())
        && !text.contains(|one: char| one == '/' || one.is_whitespace() || is_unprintable(one));
    let refused = || Complaint::new("is not a name of an interface", INTERFACE);
    is_one.then(|| text.to_owned()).ok_or_else(refused)
}
