//! The keys of an EtherCAT bus, of a load's and of a loop's.

use super::{Form, Key, optional};

/// Most devices of one ring.
pub(crate) const MOST_DEVICES: i64 = 64;

pub(super) const INTERFACE: Key = optional(
    "interface",
    Form::Fitting(r"^[^/\s]{1,15}$", "name of an interface"),
    "simulated devices",
    "Network interface with EtherCAT devices on it. They are brought into operation with all outputs \
     zero. Not together with the keys of simulated devices.",
);
pub(super) const DEVICES: Key = optional(
    "devices",
    Form::Integer(1, MOST_DEVICES),
    "3",
    "How many devices are simulated.",
);
pub(super) const JITTER: Key = optional(
    "jitter",
    Form::Duration,
    "\"0 s\"",
    "The longest that the simulated ring holds an answer back, each time less, at random; up to 1 s.",
);
pub(super) const LOSS: Key = optional(
    "loss",
    Form::Share,
    "0",
    "The share of frames that the simulated ring loses, at random, such as \"0.1 %\".",
);
pub(super) const STOPS_AFTER: Key = optional(
    "stops-after",
    Form::Duration,
    "never",
    "Time in operation after which the last simulated device stops taking part.",
);
