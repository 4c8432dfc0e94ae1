//! The EtherCAT bus that a load or a loop exchanges process data with. Finding it is theirs.

use serde::Serialize;

/// Where the devices are.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum EthercatBus {
    /// Behind a network interface.
    Interface(String),
    /// In a process of wakepath's own.
    Simulated(SimulatedRing),
}

/// A ring of devices that are not there.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct SimulatedRing {
    /// How many.
    pub devices: u16,
    /// The longest that an answer is held back, at random, in nanoseconds.
    pub jitter_ns: u64,
    /// The share of frames that are lost, at random.
    pub loss: f64,
    /// Time in operation after which the last device stops taking part, in nanoseconds.
    pub stops_after_ns: Option<u64>,
}

impl Default for SimulatedRing {
    fn default() -> Self {
        Self {
            devices: 3,
            jitter_ns: 0,
            loss: 0.0,
            stops_after_ns: None,
        }
    }
}

impl Default for EthercatBus {
    fn default() -> Self {
        Self::Simulated(SimulatedRing::default())
    }
}
