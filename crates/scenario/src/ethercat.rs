//! The EtherCAT bus that a load or a loop exchanges process data with. Finding it is theirs.

use serde::Serialize;

/// The devices.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum EthercatBus {
    /// At a network interface.
    Interface(String),
    /// In a process of wakepath's own.
    Simulated(SimulatedRing),
}

/// A ring of simulated devices.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct SimulatedRing {
    /// Their number.
    pub devices: u16,
    /// Longest random delay of an answer, in nanoseconds.
    pub jitter_ns: u64,
    /// Share of frames lost at random.
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
