//! Whose data the network's SoftIRQ delivers: sockets of one machine reach each other within the sender's own call.

use crate::call::sends;
use std::collections::HashSet;
use wakepath_timeline::{KernelEvent, SoftIrq, What};

/// The watched threads that are in a call to send.
#[derive(Debug, Default)]
pub(crate) struct Senders {
    sending: HashSet<u32>,
}

impl Senders {
    /// Takes the next event.
    pub fn event(&mut self, event: &KernelEvent) {
        match &event.what {
            What::SystemCallEntry { name, .. } if sends(name) => {
                self.sending.insert(event.current);
            }
            What::SystemCallEntry { .. } | What::SystemCallExit => {
                self.sending.remove(&event.current);
            }
            What::Lost { .. } => self.sending.clear(),
            _ => {}
        }
    }

    /// Whether what this SoftIRQ does on a CPU is for the thread that is current there.
    pub fn is_for(&self, vector: SoftIrq, current: u32) -> bool {
        vector == SoftIrq::NET_RX && self.sending.contains(&current)
    }
}
