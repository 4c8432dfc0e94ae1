//! The loads, one file each: their work, and what they count.
//!
//! Other modules start and evaluate them. A load that a name and at most one number determine is a row
//! of [`LOADS`] and its file; those with more have their own job in `plan.rs`.

pub(crate) mod address_spaces;
pub(crate) mod bonnie;
pub(crate) mod chase;
pub(crate) mod command;
pub(crate) mod cpu;
pub(crate) mod ethercat;
pub(crate) mod files;
pub(crate) mod fio;
pub(crate) mod glmark2;
pub(crate) mod gpu;
pub(crate) mod hackbench;
pub(crate) mod http_server;
pub(crate) mod iperf3;
pub(crate) mod memory;
pub(crate) mod messages;
pub(crate) mod network;
pub(crate) mod processes;
pub(crate) mod rcu_storm;
pub(crate) mod storm;
pub(crate) mod stress_ng;
pub(crate) mod timer_storm;
pub(crate) mod timers;
pub(crate) mod wget;

use crate::resolve::Room;
use crate::worker::Worker;
use crate::{LoadError, ended::Ended};
use std::convert::Infallible;
use wakepath_timeline::Disturbance;

/// A built-in load.
pub(crate) struct Load {
    /// As scenario files call it.
    pub(crate) name: &'static str,
    pub(crate) disturbs: &'static [Disturbance],
    /// Unit that it counts, and the counter's steps in one.
    pub(crate) unit: (&'static str, u64),
    /// The number that its work takes, from the number of workers and the room for all loads.
    pub(crate) amount: fn(u32, &Room) -> Result<u64, LoadError>,
    /// Whether that is each worker's memory in bytes.
    pub(crate) is_memory: bool,
    /// Works until it is killed.
    pub(crate) run: fn(&Worker<'_>, u64) -> Result<Infallible, Ended>,
}

/// A load that takes no number.
const PLAIN: Load = Load {
    name: "",
    disturbs: &[],
    unit: ("rounds", 1),
    amount: |_, _| Ok(0),
    is_memory: false,
    run: |_, _| Err(Ended::NoSlot),
};

pub(crate) static LOADS: &[Load] = &[
    Load {
        name: "cpu",
        disturbs: cpu::DISTURBS,
        run: |worker, _| cpu::run(worker.counter()),
        ..PLAIN
    },
    Load {
        name: "messages",
        disturbs: messages::DISTURBS,
        unit: ("messages", 1),
        run: |worker, _| messages::run(worker),
        ..PLAIN
    },
    Load {
        name: "processes",
        disturbs: processes::DISTURBS,
        run: |worker, _| processes::run(worker.counter()),
        ..PLAIN
    },
    Load {
        name: "network",
        disturbs: network::DISTURBS,
        unit: ("MiB", 1 << 20),
        run: |worker, _| network::run(worker.counter()),
        ..PLAIN
    },
    Load {
        name: "timers",
        disturbs: timers::DISTURBS,
        unit: ("timers and signals", 1),
        run: |worker, _| timers::run(worker.counter()),
        ..PLAIN
    },
    Load {
        name: "timer-storm",
        disturbs: timer_storm::DISTURBS,
        unit: ("timers", 1),
        // Those beyond one process's limit are in other processes.
        amount: |workers, _| Ok(storm::at_once(workers, timer_storm::ALONE).into()),
        run: |worker, timers| timer_storm::run(worker, timers as u32),
        ..PLAIN
    },
    Load {
        name: "rcu-storm",
        disturbs: rcu_storm::DISTURBS,
        unit: ("packets", 1),
        amount: |workers, room| Ok(rcu_storm::sockets(workers, room.memory_bytes)?.into()),
        run: |worker, sockets| rcu_storm::run(worker.counter(), sockets as u32),
        ..PLAIN
    },
    Load {
        name: "address-spaces",
        disturbs: address_spaces::DISTURBS,
        amount: |workers, room| address_spaces::bytes(workers, room.memory_bytes),
        is_memory: true,
        run: |worker, bytes| address_spaces::run(worker.counter(), bytes),
        ..PLAIN
    },
];

/// The row of a load.
pub(crate) fn named(name: &str) -> Option<&'static Load> {
    LOADS.iter().find(|load| load.name == name)
}
