//! Services of lifecycle nodes. rcl makes them within its state machine, and rclcpp then calls back from a copy of each
//! handle, in the order in which the state machine has them.

use crate::graph::Handle;
use std::collections::{BTreeMap, VecDeque};

/// Bound of the size of a `rcl_lifecycle_state_machine_t` (`rcl_lifecycle/data_types.h`).
const STATE_MACHINE_BYTES: u64 = 4096;

/// Services that no callback was added to yet, by the thread that made them.
#[derive(Debug, Default)]
pub(crate) struct Uncalled(BTreeMap<u32, VecDeque<Handle>>);

impl Uncalled {
    /// A thread made a state machine; `services` are those of its node, by address.
    pub(crate) fn state_machine(
        &mut self,
        thread: u32,
        machine: Handle,
        services: impl Iterator<Item = Handle>,
    ) {
        let (process, from) = machine;
        let within = from..from.saturating_add(STATE_MACHINE_BYTES);
        let own = services.filter(|(of, at)| *of == process && within.contains(at));
        self.0.insert(thread, own.collect());
    }

    /// A thread makes another service: its node's constructor was left early.
    pub(crate) fn service(&mut self, thread: u32) {
        self.0.remove(&thread);
    }

    /// The service of rcl's that a thread adds a callback to.
    pub(crate) fn take(&mut self, thread: u32) -> Option<Handle> {
        self.0.get_mut(&thread)?.pop_front()
    }
}
