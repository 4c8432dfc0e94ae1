//! Writes an EtherCAT bus of a resolved scenario.

use super::{Entries, time};
use crate::EthercatBus;

pub(super) fn bus(bus: &EthercatBus) -> Entries {
    match bus {
        EthercatBus::Interface(name) => Entries::new().with("interface", name.as_str()),
        EthercatBus::Simulated(ring) => Entries::new()
            .with("devices", i64::from(ring.devices))
            .with("jitter", time(ring.jitter_ns))
            .with("loss", ring.loss)
            .maybe("stops-after", ring.stops_after_ns.map(time)),
    }
}
