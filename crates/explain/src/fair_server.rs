//! The fair server: from Linux 6.12 on it gives ordinary threads a share of a CPU before FIFO and RR threads. The
//! callback of its own timer comes right before the switch with which that begins, and the timer is started again when it
//! ends.

use crate::budgets::RESERVATION_TIMER;
use crate::cause::is_stopper;
use crate::holds::Given;
use foldhash::HashMap;
use wakepath_timeline::{KernelEvent, Thread, What};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Server {
    /// A reservation's timer expired, and nothing else has happened to its CPU since.
    Expired,
    /// Ordinary threads run by the server's right.
    Serves,
}

/// Fair servers by CPU.
#[derive(Debug, Default)]
pub(crate) struct FairServers(HashMap<u16, Server>);

impl FairServers {
    /// Takes any event but a switch.
    pub fn event(&mut self, event: &KernelEvent) {
        match &event.what {
            What::TimerExpiryEntry { function, .. } if &**function == RESERVATION_TIMER => {
                self.0.entry(event.cpu).or_insert(Server::Expired);
            }
            // The server waits until its threads must run, or has used up its share.
            What::TimerStart { function, .. } if &**function == RESERVATION_TIMER => {
                self.0.remove(&event.cpu);
            }
            What::Lost { .. } => {
                self.0.remove(&event.cpu);
            }
            _ => {}
        }
    }

    /// How a switch to a thread gives a CPU away. `is_over_another`: whether a more urgent FIFO or RR thread stays ready.
    pub fn given(&mut self, cpu: u16, next: &Thread, is_over_another: bool) -> Given {
        let is_ordinary = next.priority >= 100 && next.id != 0;
        match (self.0.get(&cpu).copied(), is_over_another) {
            (Some(Server::Expired), true) | (Some(Server::Serves), _) if is_ordinary => {
                self.0.insert(cpu, Server::Serves);
                return Given::ByFairServer;
            }
            // Those run before the server's threads, which continue after them.
            (Some(Server::Serves), _) if next.priority < 0 || is_stopper(next) => {}
            _ => {
                self.0.remove(&cpu);
            }
        }
        if is_over_another {
            Given::OverAnother
        } else {
            Given::Rightly
        }
    }
}
