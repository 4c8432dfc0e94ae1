//! Who wakes threads: the interrupts and calls that a CPU has open, and so the wake-up's origin. Timers'
//! callbacks are handled before.

use foldhash::HashMap;
use wakepath_timeline::{Interrupt, KernelEvent, SoftIrq, Thread, What};

/// Who woke a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waker {
    /// Another thread, with the name that it last had.
    Thread(Thread),
    /// An interrupt's handler.
    Interrupt(Interrupt),
    /// A SoftIRQ's.
    SoftIrq(SoftIrq),
    /// The code of a thread that no event names.
    Unnamed,
}

/// As a waker is counted: a thread by its number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Thread(u32),
    Interrupt(Interrupt),
    SoftIrq(SoftIrq),
}

/// Each CPU's stack of open handlers.
#[derive(Debug, Default)]
pub(crate) struct Open {
    cpus: HashMap<u16, Vec<Key>>,
    threads: HashMap<u32, Thread>,
}

impl Open {
    pub(crate) fn event(&mut self, event: &KernelEvent) {
        let open = self.cpus.entry(event.cpu).or_default();
        match &event.what {
            What::InterruptEntry(interrupt) => open.push(Key::Interrupt(interrupt.clone())),
            What::InterruptExit(interrupt) => close(open, &Key::Interrupt(interrupt.clone())),
            What::SoftIrqEntry(vector) => open.push(Key::SoftIrq(*vector)),
            What::SoftIrqExit(vector) => close(open, &Key::SoftIrq(*vector)),
            What::Switch { previous, next, .. } => {
                // No handler is left by a switch: its exit was lost, or it runs in a thread.
                open.clear();
                for thread in [previous, next] {
                    self.threads.insert(thread.id, thread.clone());
                }
            }
            What::Lost { .. } => open.clear(),
            _ => {}
        }
    }

    /// In whose name a CPU does what it does at this event.
    pub(crate) fn by(&self, event: &KernelEvent) -> Key {
        let open = self.cpus.get(&event.cpu).and_then(|open| open.last());
        open.cloned().unwrap_or(Key::Thread(event.current))
    }

    /// A waker with its name.
    pub(crate) fn named(&self, key: Key) -> Waker {
        match key {
            Key::Interrupt(interrupt) => Waker::Interrupt(interrupt),
            Key::SoftIrq(vector) => Waker::SoftIrq(vector),
            Key::Thread(id) => {
                let thread = self.threads.get(&id).cloned();
                thread.map_or(Waker::Unnamed, Waker::Thread)
            }
        }
    }
}

/// Handlers above it on the stack have lost their exits.
fn close(open: &mut Vec<Key>, key: &Key) {
    if let Some(at) = open.iter().rposition(|of| of == key) {
        open.truncate(at);
    }
}
