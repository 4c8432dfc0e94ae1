//! Who wakes threads: the interrupts and calls that a CPU has open, and so the wake-up's origin. Timers'
//! callbacks are handled before.

use crate::tcp_timers::TcpTimers;
use foldhash::{HashMap, HashSet};
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
    /// The network's SoftIRQ, with data that had waited at their sender until a timer of TCP's.
    TcpTimer,
    /// The code of a thread that no event names.
    Unnamed,
}

/// As a waker is counted: a thread by its number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Thread(u32),
    Interrupt(Interrupt),
    SoftIrq(SoftIrq),
    TcpTimer,
}

/// Each CPU's stack of open handlers.
#[derive(Debug, Default)]
pub(crate) struct Open {
    cpus: HashMap<u16, Vec<Key>>,
    threads: HashMap<u32, Thread>,
    tcp_timers: TcpTimers,
    /// Threads that data of TCP's timer woke last.
    by_tcp_timers: HashSet<u32>,
}

impl Open {
    pub(crate) fn event(&mut self, event: &KernelEvent) {
        self.tcp_timers.event(event);
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
            What::Waking { thread, .. } => {
                let is_timers = self.by(event) == Key::TcpTimer;
                match is_timers {
                    true => self.by_tcp_timers.insert(thread.id),
                    false => self.by_tcp_timers.remove(&thread.id),
                };
            }
            _ => {}
        }
    }

    /// Whether the network delivers what a thread sends that data woke which had waited for a timer of TCP's.
    pub(crate) fn answers_late_data(&self, waker: &Key, sender: u32) -> bool {
        *waker == Key::SoftIrq(SoftIrq::NET_RX) && self.by_tcp_timers.contains(&sender)
    }

    /// In whose name a CPU does what it does at this event.
    pub(crate) fn by(&self, event: &KernelEvent) -> Key {
        match self.cpus.get(&event.cpu).and_then(|open| open.last()) {
            Some(Key::SoftIrq(SoftIrq::NET_RX))
                if self.tcp_timers.sent_what_comes_in(event.cpu) =>
            {
                Key::TcpTimer
            }
            Some(key) => key.clone(),
            None => Key::Thread(event.current),
        }
    }

    /// A waker with its name.
    pub(crate) fn named(&self, key: Key) -> Waker {
        match key {
            Key::Interrupt(interrupt) => Waker::Interrupt(interrupt),
            Key::SoftIrq(vector) => Waker::SoftIrq(vector),
            Key::TcpTimer => Waker::TcpTimer,
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
